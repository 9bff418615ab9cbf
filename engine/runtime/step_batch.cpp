#include "engine/runtime/step_batch.h"

#include <algorithm>

namespace orrery::runtime {

void StepBatch::clear() {
  token_ids_.clear();
  positions_.clear();
  token_types_.clear();
  sequence_starts_.assign(1, 0);
  kv_lengths_.clear();
  output_rows_.clear();
  pages_.clear();
  requests_.clear();
  padding_ = 0;
}

int64_t StepBatch::add_sequence(std::span<const int32_t> tokens, int64_t position,
                                std::span<const int32_t> pages, std::span<const int32_t> types) {
  const int64_t row = this->tokens();
  token_ids_.insert(token_ids_.end(), tokens.begin(), tokens.end());
  for (size_t i = 0; i < tokens.size(); ++i)
    positions_.push_back(static_cast<int32_t>(position + static_cast<int64_t>(i)));
  token_types_.insert(token_types_.end(), types.begin(), types.end());
  token_types_.resize(token_ids_.size());
  sequence_starts_.push_back(static_cast<int32_t>(this->tokens()));
  kv_lengths_.push_back(static_cast<int32_t>(position + static_cast<int64_t>(tokens.size())));
  pages_.push_back(pages);
  return row;
}

int64_t StepBatch::add_output(int64_t row, const kernels::Sample::Request& request) {
  output_rows_.push_back(static_cast<int32_t>(row));
  requests_.push_back(request);
  return outputs() - 1;
}

bool StepBatch::can_be_padded() const {
  return phase() == Phase::decode && outputs() == sequences() && padded(sequences()) > sequences();
}

/// Texts of one token, of which only what they write themselves is read: the page may hold anything before.
void StepBatch::pad(int32_t page) {
  spare_page_ = page;
  padding_ = padded(sequences()) - sequences();
  kernels::Sample::Request request;
  request.params.temperature = 0;
  const int32_t token = 0;
  for (int64_t i = 0; i < padding_; ++i) add_output(add_sequence({&token, 1}, 0, {&spare_page_, 1}), request);
}

ops::StepContext StepBatch::without_padding(const ops::StepContext& context) const {
  ops::StepContext told = context;
  told.tokens -= padding_;
  told.sequences -= padding_;
  told.outputs -= padding_;
  return told;
}

void StepBatch::fill(ops::StepContext& context) {
  size_t width = 0;
  for (const auto& pages : pages_) width = std::max(width, pages.size());
  page_table_.assign(width * pages_.size(), 0);
  for (size_t s = 0; s < pages_.size(); ++s)
    std::copy(pages_[s].begin(), pages_[s].end(),
              page_table_.begin() + static_cast<std::ptrdiff_t>(s * width));
  choices_.assign(requests_.size(), {});
  context.tokens = tokens();
  context.sequences = sequences();
  context.outputs = outputs();
  context.token_ids = token_ids_.data();
  context.positions = positions_.data();
  context.token_types = token_types_.data();
  context.sequence_starts = sequence_starts_.data();
  context.kv_lengths = kv_lengths_.data();
  context.output_rows = output_rows_.data();
  context.page_table = width > 0 ? page_table_.data() : nullptr;
  context.max_pages = static_cast<int64_t>(width);
  context.max_length = 0;
  for (const int32_t length : kv_lengths_) context.max_length = std::max<int64_t>(context.max_length, length);
  context.sampling = requests_.data();
  context.choices = choices_.data();
}

}  // namespace orrery::runtime
