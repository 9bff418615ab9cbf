#include "kernels/lab/flash_attention_case.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "kernels/lab/some_rows.h"
#include "kernels/lab/stored.h"

namespace orrery::kernels::lab {
namespace {

ScoreStrides score_strides(const FlashShape& shape, const ScoreDims& dims) {
  const int64_t heads = dims.head ? shape.heads : 1, queries = dims.query ? shape.queries : 1,
                keys = dims.key ? shape.keys : 1;
  ScoreStrides strides{heads * queries * keys, queries * keys, keys, 1};
  if (shape.turned) {
    strides.query = 1;
    strides.key = queries;
  }
  if (!dims.batch) strides.batch = 0;
  if (!dims.head) strides.head = 0;
  if (!dims.query) strides.query = 0;
  if (!dims.key) strides.key = 0;
  return strides;
}

size_t score_count(const FlashShape& shape, const ScoreDims& dims) {
  return static_cast<size_t>((dims.batch ? shape.batch : 1) * (dims.head ? shape.heads : 1) *
                             (dims.query ? shape.queries : 1) * (dims.key ? shape.keys : 1));
}

std::vector<int32_t> random_lengths(int64_t batch, int64_t most, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<int32_t> lengths;
  for (int64_t b = 0; b < batch; ++b)
    lengths.push_back(static_cast<int32_t>(random() % static_cast<uint32_t>(most + 1)));
  return lengths;
}

/// Rows of a tensor that lies by strides, as one without gaps.
Output read_heads(std::string_view name, DType dtype, const void* memory, const FlashShape& shape,
                  Place& from) {
  const HeadTensor tensor(shape, shape.heads, shape.queries);
  const Output stored = read_result(name, dtype, memory, tensor.elements, shape.head_dim, from);
  Output output{.name = name, .cols = shape.head_dim};
  for (int64_t row = 0; row < shape.batch * shape.heads * shape.queries; ++row) {
    const int64_t head = row / shape.queries;
    const int64_t at = head / shape.heads * tensor.strides.batch + head % shape.heads * tensor.strides.head +
                       row % shape.queries * tensor.strides.token;
    output.values.insert(output.values.end(), stored.values.begin() + at,
                         stored.values.begin() + at + shape.head_dim);
  }
  return output;
}

/// Results of 16 bits are off by a place or two of their type.
double rounding_of(DType dtype, double of_f32) {
  return dtype == DType::f16 ? 1.5e-3 : dtype == DType::bf16 ? 1.2e-2 : of_f32;
}

}  // namespace

HeadTensor::HeadTensor(const FlashShape& shape, int64_t heads, int64_t tokens) {
  const int64_t row = shape.head_dim + shape.gap;
  strides = shape.interleaved ? HeadStrides{tokens * heads * row, row, heads * row}
                              : HeadStrides{heads * tokens * row, tokens * row, row};
  elements = shape.batch * heads * tokens * row;
}

FlashCase::FlashCase(const FlashShape& shape, Distribution distribution)
    : problem{.dtype = shape.dtype,
              .heads = shape.heads,
              .kv_heads = shape.kv_heads,
              .head_dim = shape.head_dim,
              .causal = shape.causal,
              .window_left = shape.window_left,
              .window_right = shape.window_right,
              .softcap = shape.softcap,
              .has_bias = shape.bias,
              .bias = shape.bias_type,
              .has_mask = shape.mask,
              .drops = shape.p > 0,
              .has_lengths = shape.lengths,
              .precision = shape.precision,
              .aligned = (shape.head_dim + shape.gap) * dtype_info(shape.dtype).block_bytes % 16 == 0,
              .batch = shape.batch,
              .queries = shape.queries,
              .keys = shape.keys},
      shape_(shape) {
  query_ = tensor(shape.heads, shape.queries, 0, 1.0F, distribution);
  key_ = tensor(shape.kv_heads, shape.keys, 1, 1.0F, distribution);
  value_ = tensor(shape.kv_heads, shape.keys, 2, 1.0F, distribution);
  if (shape.bias) {
    std::vector<float> bias = random_floats(score_count(shape, shape.bias_dims), shape.seed + 3, 1.0F,
                                            shape.masking_bias ? Distribution::masked : Distribution::normal);
    bias_ = stored(shape.bias_type, bias);
  }
  if (shape.mask)
    for (const float value : random_floats(score_count(shape, shape.mask_dims), shape.seed + 4))
      mask_.push_back(value < 0.5F ? uint8_t{1} : uint8_t{0});
  if (shape.lengths) {
    query_lengths_ = random_lengths(shape.batch, shape.queries, shape.seed + 5);
    key_lengths_ = random_lengths(shape.batch, shape.keys, shape.seed + 6);
  }
}

std::vector<std::byte> FlashCase::tensor(int64_t heads, int64_t tokens, uint32_t number, float scale,
                                         Distribution distribution) const {
  const HeadTensor tensor(shape_, heads, tokens);
  return stored(shape_.dtype, random_floats(static_cast<size_t>(tensor.elements), shape_.seed + 10 * number,
                                            scale, distribution));
}

FlashAttention::Args FlashCase::put(Place& place, const std::vector<std::byte>& out,
                                    const std::vector<float>& log_sum_exp) const {
  const HeadTensor of_queries(shape_, shape_.heads, shape_.queries),
      of_keys(shape_, shape_.kv_heads, shape_.keys);
  const auto aligned = [&](const std::vector<std::byte>& elements) {
    return place.put(elements.data(), elements.size(), 16);
  };
  return {.problem = problem,
          .batch = shape_.batch,
          .queries = shape_.queries,
          .keys = shape_.keys,
          .query = aligned(query_),
          .key = aligned(key_),
          .value = aligned(value_),
          .query_strides = of_queries.strides,
          .key_strides = of_keys.strides,
          .value_strides = of_keys.strides,
          .bias = put_or_null(bias_, shape_.bias_type, place),
          .bias_strides = score_strides(shape_, shape_.bias_dims),
          .mask = put_or_null(mask_, place),
          .mask_strides = score_strides(shape_, shape_.mask_dims),
          .query_lengths = put_or_null(query_lengths_, place),
          .key_lengths = put_or_null(key_lengths_, place),
          .out = aligned(out),
          .out_strides = of_queries.strides,
          .log_sum_exp = place.put(log_sum_exp),
          .scale = shape_.scale != 0 ? shape_.scale : 1.0F / std::sqrt(static_cast<float>(shape_.head_dim)),
          .dropout = Dropout(shape_.p, shape_.seed, Dropout::kAttentionStream)};
}

Call<FlashAttention> FlashCase::place(const Row<FlashAttention>&, Place& place) const {
  const HeadTensor tensor(shape_, shape_.heads, shape_.queries);
  const int64_t rows = shape_.batch * shape_.heads * shape_.queries;
  Call<FlashAttention> call;
  call.args = put(place, std::vector<std::byte>(row_bytes(shape_.dtype, tensor.elements).value_or(0)),
                  std::vector<float>(static_cast<size_t>(rows)));
  call.read = [args = call.args, shape = shape_, rows, step = query_step()](Place& from) {
    return std::vector<Output>{
        rows_of_step(read_heads("out", shape.dtype, args.out, shape, from), step),
        rows_of_step(read_result("log_sum_exp", DType::f32, args.log_sum_exp, rows, 1, from), step)};
  };
  return call;
}

int64_t FlashCase::query_step() const {
  return row_step(static_cast<double>(shape_.batch * shape_.heads * shape_.queries),
                  2.0 * static_cast<double>(shape_.keys * shape_.head_dim), shape_.queries);
}

int64_t FlashCase::key_step() const {
  return row_step(
      static_cast<double>(shape_.batch * shape_.kv_heads * shape_.keys),
      4.0 * static_cast<double>(shape_.queries * shape_.heads / shape_.kv_heads * shape_.head_dim),
      shape_.keys);
}

std::vector<Expected> FlashCase::expected(const Roundings&) const {
  ThreadTeam team(1);
  HostPlace host(team);
  const auto call = place(flash_attention_rows().back(), host);
  ref::flash_attention_some(call.args, query_step());
  std::vector<Output> outputs = call.read(host);
  const double mean_of_keys = 1.0 / std::sqrt(static_cast<double>(shape_.keys));
  return {off_by(std::move(outputs[0]), rounding_of(shape_.dtype, 1e-5), mean_of_keys),
          off_by(std::move(outputs[1]), 1e-5, 1.0)};
}

double FlashCase::pairs() const {
  double pairs = 0;
  for (size_t b = 0; b < static_cast<size_t>(shape_.batch); ++b) {
    const int64_t queries = shape_.lengths ? query_lengths_[b] : shape_.queries,
                  keys = shape_.lengths ? key_lengths_[b] : shape_.keys;
    for (int64_t query = 0; query < queries; ++query) {
      const int64_t place = query + keys - queries;
      int64_t begin = 0, end = keys;
      if (shape_.causal) end = std::min(end, place + 1);
      if (shape_.window_right >= 0) end = std::min(end, place + shape_.window_right + 1);
      if (shape_.window_left >= 0) begin = std::max(begin, place - shape_.window_left);
      pairs += static_cast<double>(std::max<int64_t>(end - begin, 0));
    }
  }
  return pairs * static_cast<double>(shape_.heads);
}

/// Query and out, key and value, once each, log_sum_exp, and bias and mask.
Work FlashCase::work() const {
  const auto of_queries = static_cast<double>(shape_.batch * shape_.heads * shape_.queries),
             of_keys = static_cast<double>(shape_.batch * shape_.kv_heads * shape_.keys),
             dim = static_cast<double>(shape_.head_dim);
  const double kept = static_cast<double>(bias_.size() + mask_.size());
  return {.bytes = 2 * (of_queries + of_keys) * dim * bytes_of(shape_.dtype) + 4 * of_queries + kept,
          .flops = 4 * pairs() * dim};
}

FlashBackwardCase::FlashBackwardCase(const FlashShape& shape, Distribution distribution)
    : problem{}, forward_(shape, distribution) {
  problem = {.forward = forward_.problem, .wants_bias = shape.bias};
  const HeadTensor tensor(shape, shape.heads, shape.queries);
  grad_out_ = stored(shape.dtype,
                     random_floats(static_cast<size_t>(tensor.elements), shape.seed + 7, 1.0F, distribution));
  // What the forward pass gave: of the reference where that is no long call, else of a float32 row.
  FlashAttention::Problem exact = forward_.problem;
  exact.precision = Precision::exact;
  const std::span<const Row<FlashAttention>> rows = flash_attention_rows();
  const bool small = forward_.query_step() == 1;
  const Row<FlashAttention>& row =
      small ? rows.back() : *select(rows, exact, machine_of(DeviceKind::cpu)).row;
  ThreadTeam team(small ? 1 : available_cores());
  HostPlace place(team);
  const auto call = forward_.place(row, place);
  row.run(call.args, place.launch(put_workspace(row, exact, place)));
  out_ = place.get(static_cast<const std::byte*>(call.args.out),
                   row_bytes(shape.dtype, tensor.elements).value_or(0));
  log_sum_exp_ =
      place.get(call.args.log_sum_exp, static_cast<size_t>(shape.batch * shape.heads * shape.queries));
}

Call<FlashAttentionBackward> FlashBackwardCase::place(const Row<FlashAttentionBackward>&,
                                                      Place& place) const {
  const FlashShape& shape = forward_.shape();
  const DType dtype = shape.dtype;
  const int64_t dim = shape.head_dim, queries = shape.batch * shape.heads * shape.queries,
                keys = shape.batch * shape.kv_heads * shape.keys;
  const auto result = [&](int64_t elements) {
    const std::vector<std::byte> content(row_bytes(dtype, elements).value_or(0), std::byte{1});
    return place.put(content.data(), content.size(), 16);
  };
  Call<FlashAttentionBackward> call;
  call.args.problem = problem;
  call.args.forward = forward_.put(place, out_, log_sum_exp_);
  call.args.grad_out = place.put(grad_out_.data(), grad_out_.size(), 16);
  call.args.grad_out_strides = call.args.forward.out_strides;
  call.args.grad_query = result(queries * dim);
  call.args.grad_key = result(keys * dim);
  call.args.grad_value = result(keys * dim);
  if (shape.bias)
    call.args.grad_bias = place.put(std::vector<float>(static_cast<size_t>(queries * shape.keys), 1.0F));
  call.read = [args = call.args, dtype, dim, queries, keys, width = shape.keys,
               query_step = forward_.query_step(), key_step = forward_.key_step()](Place& from) {
    std::vector<Output> outputs{
        rows_of_step(read_result("grad_query", dtype, args.grad_query, queries * dim, dim, from), query_step),
        rows_of_step(read_result("grad_key", dtype, args.grad_key, keys * dim, dim, from), key_step),
        rows_of_step(read_result("grad_value", dtype, args.grad_value, keys * dim, dim, from), key_step)};
    if (args.grad_bias != nullptr)
      outputs.push_back(rows_of_step(
          read_result("grad_bias", DType::f32, args.grad_bias, queries * width, width, from), query_step));
    return outputs;
  };
  return call;
}

/// What cancels, as grad_out . value and grad_out . out of a query that sees one key, is as large as what is
/// added up: scores' gradients of sqrt(head_dim) where few keys are seen, and of that / keys where all are,
/// as random as the rows that they weigh.
std::vector<Expected> FlashBackwardCase::expected(const Roundings&) const {
  const FlashShape& shape = forward_.shape();
  ThreadTeam team(1);
  HostPlace host(team);
  const auto call = place(flash_attention_backward_rows().back(), host);
  ref::flash_attention_backward_some(call.args, forward_.query_step(), forward_.key_step());
  const auto root = [](int64_t count) { return std::sqrt(static_cast<double>(count)); };
  const auto keys = static_cast<double>(shape.keys);
  const double of_key = root(shape.queries * shape.heads / shape.kv_heads) / keys;
  const double least[] = {1.0 / root(shape.keys), of_key, of_key, root(shape.head_dim) / root(shape.keys)};
  const double tolerance = 2 * rounding_of(shape.dtype, 1e-5);
  std::vector<Expected> expected;
  for (Output& output : call.read(host)) {
    const double terms = least[expected.size()] / (1.0 - shape.p);
    expected.push_back(off_by(std::move(output), tolerance, terms));
  }
  return expected;
}

/// What the forward call moves, and grad_out and the gradients.
Work FlashBackwardCase::work() const {
  const FlashShape& shape = forward_.shape();
  const Work forward = forward_.work();
  const double elements =
      static_cast<double>(2 * shape.batch * (shape.heads * shape.queries + shape.kv_heads * shape.keys)) *
      static_cast<double>(shape.head_dim);
  return {.bytes = forward.bytes + elements * bytes_of(shape.dtype), .flops = 2.5 * forward.flops};
}

}  // namespace orrery::kernels::lab
