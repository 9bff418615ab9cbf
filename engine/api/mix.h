// Which type each tensor is stored in, so that a model has a given size: chosen from sweeps that measured
// every tensor alone in one type after another. What a mix costs is predicted as the sum of what its edits
// cost alone, until it is measured.
#pragma once

#include <span>

#include "engine/api/sweep.h"

namespace orrery::api {

/// A tensor with what it can be stored as: the smaller, the further from what it gave. Choices that others
/// beat in both are left out, and those that cost more for each byte saved than a mix of their neighbours
/// would.
struct MixTensor {
  struct Choice {
    std::string type;  // "q4_0"; empty: as it is
    uint64_t bytes = 0;
    double distance = 0;  // KL, or what the cosine lacks to 1
  };
  std::string scope;  // as the edit quantise names it
  double elements = 0;
  std::vector<Choice> choices;  // from the smallest to the nearest, which has distance 0
};

struct MixTable {
  std::vector<MixTensor> tensors;  // in the order of the graph
  uint64_t other_bytes = 0;        // weights that keep their type

  uint64_t least_bytes() const;  // of the whole model
  uint64_t most_bytes() const;
  /// What of the whole model's bytes an element of the tensors takes on average, and the other way round.
  double bits_of(uint64_t bytes) const;
  uint64_t bytes_of(double bits) const;
};
/// Of sweeps quantise_tensors of one model over one text, in several types. Refused: sweeps under different
/// conditions, none, and one that was saved without the sizes.
Result<MixTable> mix_table(std::span<const Sweep> sweeps);

struct Mix {
  std::vector<size_t> choices;  // by tensor, of its choices
  uint64_t bytes = 0;           // of the whole model
  double distance = 0;          // predicted
};
/// The mix of at most so many bytes: from the smallest of all, one better choice after another, always the
/// one that brings the most for its bytes. Refused where the smallest is too large.
Result<Mix> mix_for(const MixTable& table, uint64_t most_bytes);
/// All that such a choice goes through, from the smallest to the largest.
std::vector<Mix> mix_curve(const MixTable& table);

/// What makes it: the edits quantise, those of one type together.
std::vector<edit::Edit> edits_of(const MixTable& table, const Mix& mix);

}  // namespace orrery::api
