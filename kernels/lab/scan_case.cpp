#include "kernels/lab/scan_case.h"

#include <cmath>
#include <numeric>
#include <random>

namespace orrery::kernels::lab {
namespace {

// Of the largest element. An exponential of float32 is off by 2e-7, once for each token that a state fades
// over.
constexpr double kConvolutionTolerance = 1e-6;
constexpr double kScanTolerance = 1e-5;

/// The step's rows of `cols` numbers, each sequence's from a text of its own.
std::vector<float> rows_of_step(const ScanShape& shape, int64_t cols, uint32_t which) {
  std::vector<float> rows;
  for (size_t s = 0; s < shape.parts.size(); ++s) {
    const std::vector<float> text = random_floats(static_cast<size_t>(shape.positions() * cols),
                                                  shape.seed + 97 * which + static_cast<uint32_t>(s));
    const auto [tokens, end] = shape.parts[s];
    rows.insert(rows.end(), text.begin() + (end - tokens) * cols, text.begin() + end * cols);
  }
  return rows;
}

std::vector<Output> outputs(Place& from, const float* dst, int64_t tokens, int64_t channels,
                            const RecordPages& pages, const float* memory) {
  return {{.name = "dst", .values = from.get(dst, static_cast<size_t>(tokens * channels)), .cols = channels},
          pages.read(from, memory)};
}

template <class Case>
std::vector<Expected> expected_of(const Case& c, std::span<const Row<typename Case::Op>> rows,
                                  double tolerance) {
  std::vector<Expected> expected;
  for (Output& output : run_reference(c, rows))
    expected.push_back({.output = std::move(output), .tolerance = tolerance});
  return expected;
}

}  // namespace

int64_t ScanShape::tokens() const {
  int64_t sum = 0;
  for (const Part& part : parts) sum += part.tokens;
  return sum;
}

int64_t ScanShape::positions() const {
  int64_t most = text;
  for (const Part& part : parts) most = std::max(most, part.end);
  return most;
}

int64_t ScanShape::pages() const { return (positions() + page_tokens - 1) / page_tokens; }

RecordPages::RecordPages(const ScanShape& shape, int64_t floats, std::vector<float> held)
    : page_tokens_(shape.page_tokens), pages_(shape.pages()), floats_(floats), held_(std::move(held)) {
  for (const auto& [tokens, end] : shape.parts) {
    starts_.push_back(starts_.back() + static_cast<int32_t>(tokens));
    lengths_.push_back(static_cast<int32_t>(end));
  }
  table_.resize(shape.parts.size() * static_cast<size_t>(pages_));
  std::iota(table_.begin(), table_.end(), 0);
  std::shuffle(table_.begin(), table_.end(), std::mt19937(shape.seed));
  if (held_.empty()) held_ = random_floats(table_.size() * static_cast<size_t>(floats_), shape.seed + 5);
}

RecordPages::Placed RecordPages::place(Place& place) const {
  float* memory = place.put(held_);
  return {{.sequence_starts = place.put(starts_),
           .kv_lengths = place.put(lengths_),
           .page_table = place.put(table_),
           .sequences = static_cast<int64_t>(lengths_.size()),
           .max_pages = pages_,
           .max_length = pages_ * page_tokens_},
          {reinterpret_cast<std::byte*>(memory), static_cast<size_t>(floats_) * sizeof(float), page_tokens_},
          memory};
}

Output RecordPages::read(Place& from, const float* memory) const {
  return {.name = "records", .values = from.get(memory, held_.size()), .cols = std::max<int64_t>(floats_, 1)};
}

ConvolutionCase::ConvolutionCase(const ScanShape& shape, std::vector<float> held)
    : problem{shape.channels, shape.kernel},
      shape_(shape),
      pages_(shape, (shape.kernel - 1) * shape.channels, std::move(held)),
      src_(rows_of_step(shape, shape.channels, 1)),
      weight_(random_floats(static_cast<size_t>(shape.kernel * shape.channels), shape.seed + 2)),
      bias_(random_floats(static_cast<size_t>(shape.channels), shape.seed + 3)) {}

Call<CausalConvolution> ConvolutionCase::place(const Row<CausalConvolution>&, Place& place) const {
  const RecordPages::Placed pages = pages_.place(place);
  float* dst = place.put(std::vector<float>(src_.size(), -7.0F));
  Call<CausalConvolution> call;
  call.args = {.problem = problem,
               .src = place.put(src_),
               .dst = dst,
               .weight = place.put(weight_),
               .bias = shape_.bias ? place.put(bias_) : nullptr,
               .ragged = pages.ragged,
               .record = pages.record};
  call.read = [this, dst, memory = pages.memory](Place& from) {
    return outputs(from, dst, shape_.tokens(), shape_.channels, pages_, memory);
  };
  return call;
}

std::vector<Expected> ConvolutionCase::expected(const Roundings&) const {
  return expected_of(*this, causal_convolution_rows(), kConvolutionTolerance);
}

Work ConvolutionCase::work() const {
  const auto elements = static_cast<double>(src_.size());
  const auto records = static_cast<double>(shape_.parts.size()) * static_cast<double>(pages_.floats());
  return {.bytes = 8 * elements + 8 * records + 4.0 * static_cast<double>(weight_.size()),
          .flops = 2 * elements * static_cast<double>(shape_.kernel)};
}

ScanCase::ScanCase(const ScanShape& shape, std::vector<float> held)
    : problem{shape.channels, shape.states},
      shape_(shape),
      pages_(shape, shape.states * shape.channels, std::move(held)),
      src_(rows_of_step(shape, shape.channels, 1)),
      delta_(rows_of_step(shape, shape.channels, 2)),
      b_(rows_of_step(shape, shape.states, 3)),
      c_(rows_of_step(shape, shape.states, 4)),
      a_(random_floats(static_cast<size_t>(shape.states * shape.channels), shape.seed + 2)),
      d_(random_floats(static_cast<size_t>(shape.channels), shape.seed + 3)) {
  for (float& delta : delta_) delta = 3.0F * delta - 3.0F;  // steps of 1e-5 to 6: long and short memory
  for (float& a : a_) a = -std::exp(a);
}

Call<SelectiveScan> ScanCase::place(const Row<SelectiveScan>&, Place& place) const {
  const RecordPages::Placed pages = pages_.place(place);
  float* dst = place.put(std::vector<float>(src_.size(), -7.0F));
  Call<SelectiveScan> call;
  call.args = {.problem = problem,
               .src = place.put(src_),
               .delta = place.put(delta_),
               .b = place.put(b_),
               .c = place.put(c_),
               .a = place.put(a_),
               .d = place.put(d_),
               .dst = dst,
               .ragged = pages.ragged,
               .record = pages.record};
  call.read = [this, dst, memory = pages.memory](Place& from) {
    return outputs(from, dst, shape_.tokens(), shape_.channels, pages_, memory);
  };
  return call;
}

std::vector<Expected> ScanCase::expected(const Roundings&) const {
  return expected_of(*this, selective_scan_rows(), kScanTolerance);
}

/// A state's step is an exponential, two multiply-adds and two products.
Work ScanCase::work() const {
  const auto elements = static_cast<double>(src_.size());
  const auto records = static_cast<double>(shape_.parts.size()) * static_cast<double>(pages_.floats());
  return {.bytes = 12 * elements + 8.0 * static_cast<double>(b_.size()) + 8 * records +
                   4.0 * static_cast<double>(a_.size()),
          .flops = elements * (7 * static_cast<double>(shape_.states) + 5)};
}

}  // namespace orrery::kernels::lab
