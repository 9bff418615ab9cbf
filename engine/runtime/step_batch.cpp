#include "engine/runtime/step_batch.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery::runtime {
namespace {

Error misfit(const compile::GivenInput& input, std::string what) {
  return {ErrorCode::invalid_argument, std::move(what), fmt::format("input \"{}\"", input.name),
          "give other numbers"};
}

Result<void> check_rows(const compile::GivenInput& input, std::span<const int32_t> numbers, int64_t rows) {
  for (size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i] < 0 || numbers[i] >= rows)
      return misfit(input, fmt::format("Number {} is {}, but there are {} rows", i, numbers[i], rows));
  return {};
}

Result<void> check_starts(const compile::GivenInput& input, std::span<const int32_t> numbers, int64_t rows) {
  const bool ends = !numbers.empty() && numbers.front() == 0 && numbers.back() == rows;
  if (!ends || std::ranges::adjacent_find(numbers, std::greater_equal<>()) != numbers.end())
    return misfit(input, fmt::format("Starts of sequences rise from 0 to the {} rows", rows));
  return {};
}

Result<void> check_sequences(const compile::GivenInput& input, std::span<const int32_t> numbers,
                             const ops::StepContext& step) {
  const std::span own(step.sequence_starts, static_cast<size_t>(step.sequences) + 1);
  if (std::ranges::equal(numbers, own)) return {};
  return misfit(input, "They are other sequences than those of the step");
}

/// What the kernels will take for granted.
Result<void> check_uses(const compile::GivenInput& input, const ops::GivenBytes& given,
                        const ops::StepContext& step) {
  const std::span numbers(static_cast<const int32_t*>(given.data), given.bytes / sizeof(int32_t));
  for (const compile::GivenInput::Use& use : input.uses) {
    const int64_t rows = use.rows.at(step);
    if (use.finds == graph::Finds::rows) {
      ORRERY_TRY(check_rows(input, numbers, rows));
      continue;
    }
    ORRERY_TRY(check_starts(input, numbers, rows));
    if (use.finds == graph::Finds::sequences) ORRERY_TRY(check_sequences(input, numbers, step));
  }
  return {};
}

}  // namespace

void StepBatch::clear() {
  token_ids_.clear();
  positions_.clear();
  token_types_.clear();
  sequence_starts_.assign(1, 0);
  kv_lengths_.clear();
  output_rows_.clear();
  pages_.clear();
  records_.clear();
  requests_.clear();
  given_.clear();
  padding_ = 0;
}

int64_t StepBatch::add_sequence(std::span<const int32_t> tokens, int64_t position,
                                std::span<const int32_t> pages, std::span<const int32_t> types,
                                const kernels::RecordUse& record) {
  const int64_t row = this->tokens();
  token_ids_.insert(token_ids_.end(), tokens.begin(), tokens.end());
  for (size_t i = 0; i < tokens.size(); ++i)
    positions_.push_back(static_cast<int32_t>(position + static_cast<int64_t>(i)));
  token_types_.insert(token_types_.end(), types.begin(), types.end());
  token_types_.resize(token_ids_.size());
  sequence_starts_.push_back(static_cast<int32_t>(this->tokens()));
  kv_lengths_.push_back(static_cast<int32_t>(position + static_cast<int64_t>(tokens.size())));
  pages_.push_back(pages);
  records_.push_back(record);
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
  context.records = records_.data();
  context.max_length = 0;
  for (const int32_t length : kv_lengths_) context.max_length = std::max<int64_t>(context.max_length, length);
  context.sampling = requests_.data();
  context.choices = choices_.data();
}

Result<void> StepBatch::check_sizes(const compile::Plan& plan, const ops::StepContext& context) {
  for (const ops::LeastSize& needed : plan.least_sizes)
    if (const int64_t size = needed.size.at(context); size < needed.least)
      return Error{
          ErrorCode::shape_mismatch,
          fmt::format("{} has {} elements in this step, and {} are taken", needed.what, size, needed.least),
          needed.where, "take fewer, or give more"};
  return {};
}

Result<void> StepBatch::fill_given(const compile::Plan& plan, ops::StepContext& context) const {
  context.given.clear();
  for (const compile::GivenInput& input : plan.given) {
    const auto brought = std::ranges::find(given_, input.name, &Given::name);
    const std::string where = fmt::format("input \"{}\"", input.name);
    if (brought == given_.end())
      return Error{ErrorCode::invalid_argument, fmt::format("Nothing is given for {}", to_string(input.type)),
                   where, "give it, or connect another value"};
    const size_t bytes = compile::bytes_in(context, input.type);
    if (brought->bytes.size() != bytes)
      return Error{ErrorCode::shape_mismatch,
                   fmt::format("{} bytes are given for {}, which takes {}", brought->bytes.size(),
                               to_string(input.type), bytes),
                   where, "give all of its elements"};
    if (reinterpret_cast<uintptr_t>(brought->bytes.data()) % ops::kGivenAlignment != 0)
      return Error{ErrorCode::internal, "What is given is not aligned", where, ""};
    context.given.push_back({brought->bytes.data(), bytes});
    ORRERY_TRY(check_uses(input, context.given.back(), context));
  }
  return {};
}

}  // namespace orrery::runtime
