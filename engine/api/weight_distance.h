// How far the weights of two models are apart: the same model in other types, or two trainings of one.
#pragma once

#include "engine/api/session.h"

namespace orrery::api {

/// A weight that both have, by the path of its node.
struct WeightDistance {
  struct Stored {
    std::string dtype;
    Shape shape;
    uint64_t bytes = 0;
  };
  std::string path;
  Stored a, b;
  /// |A - B| / |A| (Frobenius); infinite where A is zero and B is not.
  double relative = 0;
  double cosine = 1, max_abs = 0;
  std::string refusal = {};               // why the two were not compared; empty: they were
  std::vector<std::string> readers = {};  // nodes of a that read it
};

struct WeightDistances {
  std::vector<WeightDistance> weights;  // in the order of a
  size_t only_a = 0, only_b = 0;        // weights that the other has not
};

/// Of the model graphs as they are now, edits and adapters included. Rows are decoded one at a time: no more
/// is in memory than each side's form of one weight. Weights that cannot be compared say why. Needs two
/// sessions of Session::open. Any thread; waits.
Result<WeightDistances> weight_distances(const Session& a, const Session& b, const ProgressCallback& progress,
                                         std::stop_token stop);

}  // namespace orrery::api
