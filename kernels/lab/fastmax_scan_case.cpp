#include "kernels/lab/fastmax_scan_case.h"

#include <algorithm>
#include <limits>

namespace orrery::kernels::lab {
namespace {

// Of the largest element: sums of some thousand products, which partly cancel.
constexpr double kTolerance = 3e-5;
constexpr int64_t kNow = 0, kNext = 1, kMiddle = 2;

/// Positions [begin, end) of a sequence's text.
std::vector<float> text_rows(const FastmaxScanShape& shape, size_t sequence, int64_t cols, uint32_t which,
                             int64_t begin, int64_t end) {
  const std::vector<float> text = random_floats(static_cast<size_t>(shape.positions() * cols),
                                                shape.seed + 97 * which + static_cast<uint32_t>(sequence));
  return {text.begin() + begin * cols, text.begin() + end * cols};
}

/// The step's rows.
std::vector<float> rows_of(const FastmaxScanShape& shape, int64_t cols, uint32_t which, float size) {
  std::vector<float> rows;
  for (size_t s = 0; s < shape.parts.size(); ++s) {
    const FastmaxScanShape::Part& part = shape.parts[s];
    const auto own = text_rows(shape, s, cols, which, part.end - part.tokens, part.end);
    std::transform(own.begin(), own.end(), std::back_inserter(rows), [size](float x) { return size * x; });
  }
  return rows;
}

}  // namespace

int64_t FastmaxScanShape::tokens() const {
  int64_t sum = 0;
  for (const Part& part : parts) sum += part.tokens;
  return sum;
}

int64_t FastmaxScanShape::positions() const {
  int64_t most = text;
  for (const Part& part : parts) most = std::max(most, part.end);
  return most;
}

FastmaxScanCase::FastmaxScanCase(const FastmaxScanShape& shape, std::vector<float> held)
    : problem{shape.heads, shape.kv_heads, shape.dim, shape.fastmax, std::max<int64_t>(shape.tokens(), 1)},
      shape_(shape),
      query_(rows_of(shape, shape.heads * shape.dim, 1, shape.size)),
      key_(rows_of(shape, shape.kv_heads * shape.dim, 2, shape.size)),
      value_(rows_of(shape, shape.kv_heads * shape.dim, 3, 1.0F)),
      held_(std::move(held)) {
  for (size_t s = 0; s < shape.parts.size(); ++s) {
    const FastmaxScanShape::Part& part = shape.parts[s];
    starts_.push_back(starts_.back() + static_cast<int32_t>(part.tokens));
    lengths_.push_back(static_cast<int32_t>(part.end));
    RecordUse use;
    use.before = part.end > part.tokens ? record(s, kNow) : -1;
    use.after = record(s, part.in_place ? kNow : kNext);
    use.middle = part.middle < 0 ? -1 : record(s, kMiddle);
    use.middle_tokens = static_cast<int32_t>(std::max<int64_t>(part.middle, 0));
    uses_.push_back(use);
  }
  if (held_.empty()) held_ = held_before();
}

/// In another order than that of the sequences.
int32_t FastmaxScanCase::record(size_t sequence, int64_t which) const {
  const auto count = static_cast<int64_t>(shape_.parts.size());
  return static_cast<int32_t>((which + 1) * count - 1 - static_cast<int64_t>(sequence));
}

std::vector<float> FastmaxScanCase::held_before() const {
  std::vector<float> held(shape_.parts.size() * kRecords * static_cast<size_t>(floats()),
                          std::numeric_limits<float>::quiet_NaN());
  for (size_t s = 0; s < shape_.parts.size(); ++s) {
    const int64_t tokens = shape_.parts[s].end - shape_.parts[s].tokens;
    if (tokens == 0) continue;
    FastmaxScanShape before = shape_;
    before.text = shape_.positions();
    before.parts.assign(s + 1, {0, 0});
    before.parts[s] = {tokens, tokens};
    const auto made = run_reference(FastmaxScanCase(before), fastmax_scan_rows());
    const auto from = made[1].values.begin();  // record 0 is that of the last sequence
    std::copy_n(from, floats(), held.begin() + record(s, kNow) * floats());
  }
  return held;
}

Call<FastmaxScan> FastmaxScanCase::place(const Row<FastmaxScan>&, Place& place) const {
  float* dst = place.put(std::vector<float>(query_.size(), -7.0F));
  float* memory = place.put(held_);
  Call<FastmaxScan> call;
  call.args = {
      .problem = problem,
      .query = place.put(query_),
      .key = place.put(key_),
      .value = place.put(value_),
      .dst = dst,
      .scale = 0.25F,
      .ragged = {.sequence_starts = place.put(starts_),
                 .kv_lengths = place.put(lengths_),
                 .sequences = static_cast<int64_t>(lengths_.size()),
                 .max_length = shape_.positions()},
      .uses = place.put(uses_),
      .records = {reinterpret_cast<std::byte*>(memory), static_cast<size_t>(floats()) * sizeof(float)}};
  call.read = [this, dst, memory](Place& from) -> std::vector<Output> {
    return {{.name = "dst", .values = from.get(dst, query_.size()), .cols = shape_.heads * shape_.dim},
            {.name = "records", .values = from.get(memory, held_.size()), .cols = floats()}};
  };
  return call;
}

std::vector<Expected> FastmaxScanCase::expected(const Roundings&) const {
  std::vector<Expected> expected;
  for (Output& output : run_reference(*this, fastmax_scan_rows()))
    expected.push_back({.output = std::move(output), .tolerance = kTolerance});
  return expected;
}

/// Of each token a multiply-add for each number of the state and each query that reads it; the state twice.
Work FastmaxScanCase::work() const {
  const auto tokens = static_cast<double>(shape_.tokens()), state = static_cast<double>(floats());
  const auto rows = static_cast<double>(2 * query_.size() + key_.size() + value_.size());
  return {.bytes = 4 * rows + 8 * state * static_cast<double>(shape_.parts.size()),
          .flops = 2 * tokens * state * (1 + static_cast<double>(shape_.heads / shape_.kv_heads))};
}

}  // namespace orrery::kernels::lab
