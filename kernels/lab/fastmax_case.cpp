#include "kernels/lab/fastmax_case.h"

#include <algorithm>
#include <cmath>

#include "kernels/lab/stored.h"

namespace orrery::kernels::lab {
namespace {

std::vector<std::byte> fastmax_elements(const FastmaxShape& shape, int64_t rows, uint32_t number, float scale,
                                        Distribution distribution = Distribution::normal) {
  return stored(shape.dtype, random_floats(static_cast<size_t>(rows * shape.dim), shape.seed + number, scale,
                                           distribution));
}

std::byte* room(DType dtype, int64_t count, Place& place) {
  return place.put(nullptr, row_bytes(dtype, count).value_or(0), 16);
}
std::byte* put_rows(const std::vector<std::byte>& rows, Place& place) {
  return rows.empty() ? nullptr : place.put(rows.data(), rows.size(), 16);
}

/// Pairs of tokens of which every weight is compared.
constexpr double kFewPairs = 6e7;

/// The length of the longest row, as float64 has it.
double longest(const std::vector<float>& rows, int64_t dim) {
  double most = 0;
  for (size_t first = 0; first < rows.size(); first += static_cast<size_t>(dim)) {
    double squares = 0;
    for (size_t i = first; i < first + static_cast<size_t>(dim); ++i) squares += double{rows[i]} * rows[i];
    most = std::max(most, squares);
  }
  return std::sqrt(most);
}

/// 16-bit rows may round weights and operands of products to their type; float32 ones are off by the order of
/// their sums. Terms have some size where all of an output cancels: a single key leaves no gradients of
/// scores.
Expected near(Output output, DType dtype, double of_f32, double least) {
  return off_by(std::move(output), dtype == DType::f32 ? of_f32 : dtype == DType::f16 ? 5e-3 : 2.5e-2, least);
}

double fastmax_pairs(const FastmaxShape& shape) {
  return static_cast<double>(shape.batch * shape.heads * shape.queries * shape.keys) *
         (shape.causal ? 0.5 : 1.0);
}

/// The fewer of the multiply-adds of the two forms, for what gives 2 dim numbers a pair of tokens.
double fewest_products(const FastmaxShape& shape) {
  const auto dim = static_cast<double>(shape.dim);
  const double features = 1 + dim + (shape.p == 2 ? dim * (dim + 1) / 2 : 0.0);
  const double tokens = static_cast<double>(shape.batch) *
                        static_cast<double>(shape.heads * shape.queries + shape.kv_heads * shape.keys);
  return std::min(2 * fastmax_pairs(shape) * dim, tokens * features * (dim + 1));
}

double tensor_elements(const FastmaxShape& shape) {
  return static_cast<double>(shape.batch * shape.dim) *
         static_cast<double>(2 * shape.heads * shape.queries + 2 * shape.kv_heads * shape.keys);
}

}  // namespace

FastmaxOperands::FastmaxOperands(const FastmaxShape& of, Distribution distribution) : shape(of) {
  problem = {.dtype = of.dtype,
             .heads = of.heads,
             .kv_heads = of.kv_heads,
             .head_dim = of.dim,
             .p = of.p,
             .causal = of.causal,
             .normalise = of.normalise,
             .has_rpe = of.rpe,
             .dropping = of.dropping,
             .aligned = static_cast<int64_t>(row_bytes(of.dtype, of.dim).value_or(0)) % 16 == 0,
             .batch = of.batch,
             .queries = of.queries,
             .keys = of.keys};
  const int64_t queries = of.batch * of.heads * of.queries, keys = of.batch * of.kv_heads * of.keys;
  query = fastmax_elements(of, queries, 0, of.size, distribution);
  key = fastmax_elements(of, keys, 1, of.size, distribution);
  value = fastmax_elements(of, keys, 2, 1.0F);
  grad_out = fastmax_elements(of, queries, 3, 1.0F);
  if (of.rpe) rpe = fastmax_elements(of, 2 * std::max(of.queries, of.keys) - 1, 4, 0.1F);
  if (of.noise) noise = fastmax_elements(of, queries, 5, 1.0F);
}

HeadStrides FastmaxOperands::strides(int64_t heads, int64_t tokens) const {
  if (shape.interleaved) return {tokens * heads * shape.dim, shape.dim, heads * shape.dim};
  return {heads * tokens * shape.dim, tokens * shape.dim, shape.dim};
}

Fastmax::Args FastmaxOperands::place(Place& place) const {
  Fastmax::Args args;
  args.problem = problem;
  args.batch = shape.batch;
  args.queries = shape.queries;
  args.keys = shape.keys;
  args.query = put_rows(query, place);
  args.key = put_rows(key, place);
  args.value = put_rows(value, place);
  args.rpe = put_rows(rpe, place);
  args.noise = put_rows(noise, place);
  args.query_strides = args.out_strides = strides(shape.heads, shape.queries);
  args.key_strides = args.value_strides = strides(shape.kv_heads, shape.keys);
  args.a0 = shape.a0;
  args.a1 = shape.a1;
  args.a2 = shape.a2;
  args.limit = shape.limit;
  args.temperature = shape.temperature;
  args.rate = shape.rate;
  args.seed = shape.seed;
  return args;
}

FastmaxCase::FastmaxCase(const FastmaxShape& shape, Distribution distribution)
    : operands_(shape, distribution) {
  problem = operands_.problem;
  if (fastmax_pairs(shape) <= kFewPairs || shape.interleaved || shape.rpe ||
      shape.dropping != Fastmax::Dropping::none)
    return;
  constexpr int64_t kHeads = 4, kQueries = 9;
  const int64_t heads = shape.batch * shape.heads;
  for (int64_t head = 0; head < std::min(kHeads, heads); ++head)
    for (int64_t i = 0; i < kQueries; ++i)
      checked_.push_back(head * (heads - 1) / std::max<int64_t>(std::min(kHeads, heads) - 1, 1) *
                             shape.queries +
                         i * (shape.queries - 1) / (kQueries - 1));
}

Call<Fastmax> FastmaxCase::place(const Row<Fastmax>&, Place& place) const {
  const FastmaxShape& shape = operands_.shape;
  const int64_t rows = shape.batch * shape.heads * shape.queries;
  Call<Fastmax> call;
  call.args = operands_.place(place);
  call.args.out = room(shape.dtype, rows * shape.dim, place);
  call.read = [args = call.args, rows, shape, checked = checked_](Place& from) {
    if (checked.empty())
      return std::vector<Output>{
          read_result("out", shape.dtype, args.out, rows * shape.dim, shape.dim, from)};
    Output out{.name = "out", .cols = shape.dim, .rows = checked};
    const size_t bytes = row_bytes(shape.dtype, shape.dim).value_or(0);
    for (const int64_t row : checked) {
      const auto* memory = static_cast<const std::byte*>(args.out) + static_cast<size_t>(row) * bytes;
      const Output one = read_result("out", shape.dtype, memory, shape.dim, shape.dim, from);
      out.values.insert(out.values.end(), one.values.begin(), one.values.end());
    }
    return std::vector<Output>{std::move(out)};
  };
  return call;
}

/// The reference of one query, whose text's lengths are in its temperature.
std::vector<float> FastmaxCase::row_of(int64_t row) const {
  const FastmaxShape& shape = operands_.shape;
  const int64_t head = row / shape.queries, i = row % shape.queries;
  const int64_t of_keys =
      head / shape.heads * shape.kv_heads + head % shape.heads * shape.kv_heads / shape.heads;
  const auto bytes = static_cast<int64_t>(row_bytes(shape.dtype, shape.dim).value_or(0));
  const auto rows = [&](const std::vector<std::byte>& tensor, int64_t first, int64_t count) {
    return as_floats(shape.dtype, {tensor.begin() + first * bytes, tensor.begin() + (first + count) * bytes});
  };
  double factor = 1;
  if (shape.normalise)
    factor = double{shape.limit} * shape.limit /
             (longest(rows(operands_.query, head * shape.queries, shape.queries), shape.dim) *
              longest(rows(operands_.key, of_keys * shape.keys, shape.keys), shape.dim));
  Fastmax::Args args;
  args.problem = {.head_dim = shape.dim, .p = shape.p, .normalise = false};
  args.problem.dtype = shape.dtype;
  args.batch = args.queries = 1;
  args.keys =
      shape.causal ? std::clamp<int64_t>(i + 1 + shape.keys - shape.queries, 0, shape.keys) : shape.keys;
  args.query = operands_.query.data() + row * bytes;
  args.key = operands_.key.data() + of_keys * shape.keys * bytes;
  args.value = operands_.value.data() + of_keys * shape.keys * bytes;
  args.key_strides.token = args.value_strides.token = shape.dim;
  args.a0 = shape.a0;
  args.a1 = shape.a1;
  args.a2 = shape.a2;
  args.temperature = static_cast<float>(shape.temperature / factor);
  std::vector<std::byte> out(static_cast<size_t>(bytes));
  args.out = out.data();
  ref::fastmax(args, {});
  return as_floats(shape.dtype, out);
}

std::vector<Expected> FastmaxCase::expected(const Roundings&) const {
  Output out{.name = "out", .cols = problem.head_dim, .rows = checked_};
  for (const int64_t row : checked_) {
    const std::vector<float> values = row_of(row);
    out.values.insert(out.values.end(), values.begin(), values.end());
  }
  if (checked_.empty()) out = run_reference<FastmaxCase>(*this, fastmax_rows())[0];
  // Means of many values are small beside the values.
  const float least = checked_.empty() ? 0.1F : 0.02F;
  return {near(std::move(out), problem.dtype, 2e-5, least)};
}

Work FastmaxCase::work() const {
  const FastmaxShape& shape = operands_.shape;
  return {.bytes = tensor_elements(shape) * dtype_info(shape.dtype).block_bytes,
          .flops = 2 * fewest_products(shape)};
}

FastmaxBackwardCase::FastmaxBackwardCase(const FastmaxShape& shape, Distribution distribution)
    : operands_(shape, distribution) {
  problem.forward = operands_.problem;
}

Call<FastmaxBackward> FastmaxBackwardCase::place(const Row<FastmaxBackward>&, Place& place) const {
  const FastmaxShape& shape = operands_.shape;
  const int64_t dim = shape.dim, queries = shape.batch * shape.heads * shape.queries,
                keys = shape.batch * shape.kv_heads * shape.keys;
  Call<FastmaxBackward> call;
  call.args.problem = problem;
  call.args.forward = operands_.place(place);
  call.args.grad_out = put_rows(operands_.grad_out, place);
  call.args.grad_out_strides = call.args.forward.query_strides;
  call.args.grad_query = room(shape.dtype, queries * dim, place);
  call.args.grad_key = room(shape.dtype, keys * dim, place);
  call.args.grad_value = room(shape.dtype, keys * dim, place);
  if (shape.rpe) {
    call.args.rpe_rows = 2 * std::max(shape.queries, shape.keys) - 1;
    call.args.grad_rpe = room(shape.dtype, call.args.rpe_rows * dim, place);
  }
  call.read = [args = call.args, queries, keys, shape](Place& from) {
    const auto read = [&](std::string_view name, const void* memory, int64_t rows) {
      return read_result(name, shape.dtype, memory, rows * shape.dim, shape.dim, from);
    };
    std::vector<Output> outputs{read("grad_query", args.grad_query, queries),
                                read("grad_key", args.grad_key, keys),
                                read("grad_value", args.grad_value, keys)};
    if (args.grad_rpe != nullptr) outputs.push_back(read("grad_rpe", args.grad_rpe, args.rpe_rows));
    return outputs;
  };
  return call;
}

std::vector<Expected> FastmaxBackwardCase::expected(const Roundings&) const {
  std::vector<Expected> expected;
  for (Output& output : run_reference<FastmaxBackwardCase>(*this, fastmax_backward_rows()))
    expected.push_back(near(std::move(output), problem.forward.dtype, 1e-4, 0.02));
  return expected;
}

/// The forward call, and two more of its size for each of queries and keys.
Work FastmaxBackwardCase::work() const {
  const FastmaxShape& shape = operands_.shape;
  return {.bytes = 2 * tensor_elements(shape) * dtype_info(shape.dtype).block_bytes,
          .flops = 5 * fewest_products(shape)};
}

}  // namespace orrery::kernels::lab
