// Attention over operands that a test makes, of each row under test, for several programs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "kernels/flash_attention.h"
#include "kernels/lab/stored.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels::testing {

struct FlashResults {
  std::vector<float> out, log_sum_exp;
};
struct FlashGradients {
  std::vector<float> query, key, value, bias;
};

/// Tensors without gaps, as float32 or rounded to the type of the problem.
struct FlashTensors {
  FlashAttention::Problem problem;
  std::vector<float> query, key, value, grad_out, bias;
  std::vector<uint8_t> mask;
  std::vector<int32_t> query_lengths, key_lengths;
  float scale = 0.25F;
  Dropout dropout = {};

  FlashTensors(int64_t heads, int64_t kv_heads, int64_t queries, int64_t keys, int64_t dim,
               DType dtype = DType::f32, int64_t batch = 1) {
    problem.dtype = problem.bias = dtype;
    problem.heads = heads;
    problem.kv_heads = kv_heads;
    problem.head_dim = dim;
    problem.batch = batch;
    problem.queries = queries;
    problem.keys = keys;
    const auto of_queries = static_cast<size_t>(batch * heads * queries * dim),
               of_keys = static_cast<size_t>(batch * kv_heads * keys * dim);
    query = random_floats(of_queries, 1);
    key = random_floats(of_keys, 2);
    value = random_floats(of_keys, 3);
    grad_out = random_floats(of_queries, 4);
  }
  void fill(std::vector<float>& tensor, int64_t row, float with) const {
    std::fill_n(tensor.begin() + row * problem.head_dim, problem.head_dim, with);
  }
  HeadStrides strides(int64_t heads, int64_t tokens) const {
    return {heads * tokens * problem.head_dim, tokens * problem.head_dim, problem.head_dim};
  }
  void* put(lab::Place& place, const std::vector<float>& values) const {
    const std::vector<std::byte> bytes = lab::stored(problem.dtype, values);
    return place.put(bytes.data(), bytes.size(), 16);
  }
  std::vector<float> get(lab::Place& place, const void* memory, size_t count) const {
    const size_t bytes = row_bytes(problem.dtype, static_cast<int64_t>(count)).value_or(0);
    return lab::as_floats(problem.dtype, place.get(static_cast<const std::byte*>(memory), bytes));
  }
  size_t rows() const { return static_cast<size_t>(problem.batch * problem.heads * problem.queries); }

  /// With what follows from the operands that there are.
  FlashAttention::Problem whole_problem() const {
    FlashAttention::Problem whole = problem;
    whole.has_bias = !bias.empty();
    whole.has_mask = !mask.empty();
    whole.drops = dropout.drops();
    whole.has_lengths = !query_lengths.empty() || !key_lengths.empty();
    return whole;
  }
  FlashAttention::Args args(lab::Place& place, const FlashResults& results) const {
    const int64_t keys = problem.keys, queries = problem.queries;
    FlashAttention::Args args;
    args.problem = whole_problem();
    args.batch = problem.batch;
    args.queries = queries;
    args.keys = keys;
    args.query = put(place, query);
    args.key = put(place, key);
    args.value = put(place, value);
    args.query_strides = args.out_strides = strides(problem.heads, queries);
    args.key_strides = args.value_strides = strides(problem.kv_heads, keys);
    args.bias = bias.empty() ? nullptr : put(place, bias);
    args.bias_strides = args.mask_strides = {problem.heads * queries * keys, queries * keys, keys, 1};
    args.mask = lab::put_or_null(mask, place);
    args.query_lengths = lab::put_or_null(query_lengths, place);
    args.key_lengths = lab::put_or_null(key_lengths, place);
    args.out = put(place, results.out);
    args.log_sum_exp = place.put(results.log_sum_exp);
    args.scale = scale;
    args.dropout = dropout;
    return args;
  }
  FlashResults forward(const Row<FlashAttention>& row, int threads = 2) const {
    ThreadTeam team(threads);
    GuardedPlace place(team, placed(row, Guard::after));
    const auto call = args(place, {std::vector<float>(query.size(), 7.0F), std::vector<float>(rows(), 7.0F)});
    row.run(call, place.launch(lab::put_workspace(row, call.problem, place)));
    place.wait();
    return {get(place, call.out, query.size()), place.get(call.log_sum_exp, rows())};
  }
  /// Of the reference.
  FlashResults forward() const {
    const auto call_of_host = flash_attention_rows().back();
    ThreadTeam team(1);
    lab::HostPlace place(team);
    const auto call = args(place, {std::vector<float>(query.size()), std::vector<float>(rows())});
    call_of_host.run(call, place.launch(nullptr));
    return {get(place, call.out, query.size()), place.get(call.log_sum_exp, rows())};
  }
  FlashGradients backward(const Row<FlashAttentionBackward>& row, const FlashResults& results,
                          int threads = 2) const {
    ThreadTeam team(threads);
    GuardedPlace place(team, placed(row, Guard::after));
    const size_t scores = rows() * static_cast<size_t>(problem.keys);
    FlashAttentionBackward::Args call;
    call.forward = args(place, results);
    call.problem = {call.forward.problem, true};
    call.grad_out = put(place, grad_out);
    call.grad_out_strides = call.forward.out_strides;
    call.grad_query = put(place, std::vector<float>(query.size(), 7.0F));
    call.grad_key = put(place, std::vector<float>(key.size(), 7.0F));
    call.grad_value = put(place, std::vector<float>(key.size(), 7.0F));
    call.grad_bias = place.put(std::vector<float>(scores, 7.0F));
    row.run(call, place.launch(lab::put_workspace(row, call.problem, place)));
    place.wait();
    return {get(place, call.grad_query, query.size()), get(place, call.grad_key, key.size()),
            get(place, call.grad_value, key.size()), place.get(call.grad_bias, scores)};
  }
};

template <class Body>
void each_forward(const FlashTensors& tensors, Body&& body) {
  for (const Row<FlashAttention>& row : rows_taking(tensors.whole_problem(), flash_attention_rows())) {
    SCOPED_TRACE(std::string(row.name));
    body(row);
  }
}
template <class Body>
void each_backward(const FlashTensors& tensors, Body&& body) {
  for (const Row<FlashAttentionBackward>& row :
       rows_taking({tensors.whole_problem(), true}, flash_attention_backward_rows())) {
    SCOPED_TRACE(std::string(row.name));
    body(row);
  }
}

inline void expect_close(const std::vector<float>& actual, const std::vector<float>& expected,
                         double tolerance, const char* what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (size_t i = 0; i < actual.size(); ++i) {
    if (actual[i] == expected[i] || (std::isnan(actual[i]) && std::isnan(expected[i]))) continue;
    ASSERT_NEAR(actual[i], expected[i], tolerance * std::max(1.0, std::abs(static_cast<double>(expected[i]))))
        << what << " " << i;
  }
}

}  // namespace orrery::kernels::testing
