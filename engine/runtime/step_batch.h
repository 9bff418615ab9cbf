// The inputs of one token-packed step: the rows of all sequences, one after the other. A card's step with
// many replies ends with rows that nobody reads, so that few counts of replies are captured (pad()).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/compile/plan.h"
#include "engine/runtime/phase.h"

namespace orrery::runtime {

/// Bytes for an input of the plan that is none of the step's own, at a multiple of ops::kGivenAlignment. They
/// stay valid while the step runs.
struct Given {
  std::string name;
  std::span<const std::byte> bytes;
};

class StepBatch {
 public:
  /// Up to so many replies a step is not padded (measured on a card: it cost 11 %), more come in multiples of
  /// it.
  static constexpr int64_t kPaddedTo = 8;
  /// As many replies as a step of so many brings to a card.
  static int64_t padded(int64_t replies) {
    return replies <= kPaddedTo ? replies : (replies + kPaddedTo - 1) / kPaddedTo * kPaddedTo;
  }

  void clear();
  /// Appends a sequence's tokens, the first at `position`; after the step it is position + tokens long.
  /// `pages` is empty for encoders; `types` has the type of each token, or is empty: all are 0; `record` is
  /// where its summaries lie (KvCache::writing). Returns the row of the first token.
  int64_t add_sequence(std::span<const int32_t> tokens, int64_t position, std::span<const int32_t> pages,
                       std::span<const int32_t> types = {}, const kernels::RecordUse& record = {});
  /// Asks for the logits of a row. The request's `recent` must stay valid during the step. Returns the
  /// output's index.
  int64_t add_output(int64_t row, const kernels::Sample::Request& request);
  /// What the step brings by name; a plan takes of it what it asks for.
  void give(std::vector<Given> given) { given_ = std::move(given); }
  /// Whether it would grow by pad(): more than kPaddedTo sequences that bring one token and want one output
  /// each.
  bool can_be_padded() const;
  /// Appends texts of one token, each with an output, until their number is padded(). All of them write to
  /// the `page`, and read nothing else. The bucket stays the same.
  void pad(int32_t page);
  /// Sequences, tokens and outputs that pad() added; they are the last of each.
  int64_t padding() const { return padding_; }
  /// The step's extents as they were before pad(): what traces, profiles and costs count.
  ops::StepContext without_padding(const ops::StepContext& context) const;

  // With the padding:
  int64_t tokens() const { return static_cast<int64_t>(token_ids_.size()); }
  /// Of a sequence's tokens.
  int64_t first_row(int64_t sequence) const { return sequence_starts_[static_cast<size_t>(sequence)]; }
  int64_t sequences() const { return static_cast<int64_t>(kv_lengths_.size()); }
  int64_t outputs() const { return static_cast<int64_t>(requests_.size()); }
  bool empty() const { return token_ids_.empty(); }
  compile::Bucket bucket() const { return compile::bucket_for(tokens(), outputs(), sequences()); }
  /// Decode brings one token a sequence; encoders, whose sequences have no pages, only prefill.
  Phase phase() const {
    return tokens() == sequences() && !pages_.empty() && !pages_.front().empty() ? Phase::decode
                                                                                 : Phase::prefill;
  }

  /// Points the context at this batch; the page table is laid out here. Valid until the batch changes.
  void fill(ops::StepContext& context);
  /// Refused where the context, which is filled, is of a step that some kernel of the plan cannot take.
  static Result<void> check_sizes(const compile::Plan& plan, const ops::StepContext& context);
  /// Points the context, which is filled, at what the plan asks for by name. Refused where that is missing,
  /// has another size, or would let a kernel read rows that are not there.
  Result<void> fill_given(const compile::Plan& plan, ops::StepContext& context) const;
  const kernels::Sample::Choice& choice(int64_t output) const {
    return choices_[static_cast<size_t>(output)];
  }

 private:
  std::vector<int32_t> token_ids_, positions_, token_types_, sequence_starts_{0}, kv_lengths_, output_rows_,
      page_table_;
  std::vector<std::span<const int32_t>> pages_;
  std::vector<kernels::RecordUse> records_;
  std::vector<kernels::Sample::Request> requests_;
  std::vector<kernels::Sample::Choice> choices_;
  std::vector<Given> given_;
  int64_t padding_ = 0;
  int32_t spare_page_ = 0;  // of the padding
};

}  // namespace orrery::runtime
