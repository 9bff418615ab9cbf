// The inputs of one token-packed step: rows of all sequences behind each other, no padding.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/compile/plan.h"
#include "engine/runtime/phase.h"

namespace orrery::runtime {

class StepBatch {
 public:
  void clear();
  /// Appends a sequence's tokens, the first at `position`; after the step it is position + tokens long.
  /// `pages` is empty for encoders; `types` has the type of each token, or is empty: all are 0. Returns the
  /// row of the first token.
  int64_t add_sequence(std::span<const int32_t> tokens, int64_t position, std::span<const int32_t> pages,
                       std::span<const int32_t> types = {});
  /// Asks for the logits of a row. The request's `recent` must stay valid during the step. Returns the
  /// output's index.
  int64_t add_output(int64_t row, const kernels::Sample::Request& request);

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
  const kernels::Sample::Choice& choice(int64_t output) const {
    return choices_[static_cast<size_t>(output)];
  }

 private:
  std::vector<int32_t> token_ids_, positions_, token_types_, sequence_starts_{0}, kv_lengths_, output_rows_,
      page_table_;
  std::vector<std::span<const int32_t>> pages_;
  std::vector<kernels::Sample::Request> requests_;
  std::vector<kernels::Sample::Choice> choices_;
};

}  // namespace orrery::runtime
