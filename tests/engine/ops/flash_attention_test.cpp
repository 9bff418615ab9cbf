// flash_attention and its gradients: types, refusals, costs, and results against plain loops. Three tokens.
#include "kernels/dropout.h"
#include "tests/engine/ops/tensor_fixture.h"

namespace orrery::ops::test {
namespace {

using testing::HasSubstr;
using Doubles = std::vector<double>;

/// Sizes of (batch, heads, tokens, head_dim), as the tensors of these tests have them.
struct Sizes {
  size_t batch = 1, heads = 1, kv_heads = 1, queries = 1, keys = 1, dim = 1;
};

/// What the op computes, from its definition.
struct FlashModel {
  Sizes size;
  double scale = 1, softcap = 0;
  bool causal = false;
  int64_t left = -1, right = -1;
  kernels::Dropout dropout = {};
  Doubles query, key, value, bias, mask;  // bias and mask of each score; empty: none
  std::vector<size_t> query_lengths, key_lengths;

  size_t rows() const { return size.batch * size.heads * size.queries; }
  bool sees(size_t row, size_t j) const {
    const size_t batch = row / (size.heads * size.queries);
    const auto queries = static_cast<int64_t>(query_lengths.empty() ? size.queries : query_lengths[batch]);
    const auto keys = static_cast<int64_t>(key_lengths.empty() ? size.keys : key_lengths[batch]);
    const auto i = static_cast<int64_t>(row % size.queries);
    const int64_t t = static_cast<int64_t>(j) - (i + keys - queries);
    return i < queries && static_cast<int64_t>(j) < keys && (!causal || t <= 0) && (left < 0 || t >= -left) &&
           (right < 0 || t <= right) && (mask.empty() || mask[row * size.keys + j] != 0);
  }
  size_t key_row(size_t row, size_t j) const {
    const size_t head = row / size.queries % size.heads, batch = row / (size.heads * size.queries);
    return (batch * size.kv_heads + head / (size.heads / size.kv_heads)) * size.keys + j;
  }
  double score(size_t row, size_t j) const {
    double sum = 0;
    for (size_t d = 0; d < size.dim; ++d)
      sum += scale * query[row * size.dim + d] * key[key_row(row, j) * size.dim + d];
    if (softcap > 0) sum = softcap * std::tanh(sum / softcap);
    return sum + (bias.empty() ? 0.0 : bias[row * size.keys + j]);
  }
  Doubles log_sum_exp() const {
    Doubles all;
    for (size_t row = 0; row < rows(); ++row) {
      double sum = 0;
      for (size_t j = 0; j < size.keys; ++j) sum += sees(row, j) ? std::exp(score(row, j)) : 0.0;
      all.push_back(std::log(sum));
    }
    return all;
  }
  Doubles out() const {
    const Doubles sums = log_sum_exp();
    Doubles all(rows() * size.dim);
    for (size_t row = 0; row < rows(); ++row)
      for (size_t j = 0; j < size.keys; ++j) {
        if (!sees(row, j) || !dropout.keeps(static_cast<int64_t>(row), static_cast<int64_t>(j))) continue;
        const double weight = std::exp(score(row, j) - sums[row]) / (1 - dropout.p);
        for (size_t d = 0; d < size.dim; ++d)
          all[row * size.dim + d] += weight * value[key_row(row, j) * size.dim + d];
      }
    return all;
  }
  /// By an operand, of the results weighed by `of_out`.
  Doubles differences(Doubles FlashModel::*operand, const Floats& of_out) const {
    Doubles gradient;
    FlashModel moved = *this;
    const auto loss = [&] {
      const Doubles results = moved.out();
      double sum = 0;
      for (size_t i = 0; i < results.size(); ++i) sum += of_out[i] * results[i];
      return sum;
    };
    for (double& number : moved.*operand) {
      const double before = number;
      number = before + 1e-5;
      const double above = loss();
      number = before - 1e-5;
      gradient.push_back((above - loss()) / 2e-5);
      number = before;
    }
    return gradient;
  }
};

Doubles doubles(const Floats& values) { return {values.begin(), values.end()}; }
Floats floats(const Doubles& values) { return {values.begin(), values.end()}; }

/// `values` of shape `dims` (batch, heads, queries, keys, each 1 or the size's) for every score.
Doubles spread(const Floats& values, const std::array<size_t, 4>& dims, const Sizes& size) {
  const std::array<size_t, 4> sizes = {size.batch, size.heads, size.queries, size.keys};
  Doubles all;
  for (size_t i = 0; i < sizes[0] * sizes[1] * sizes[2] * sizes[3]; ++i) {
    size_t rest = i, at = 0, stride = 1;
    for (size_t d = 4; d-- > 0; rest /= sizes[d]) {
      at += (dims[d] == 1 ? 0 : rest % sizes[d]) * stride;
      stride *= dims[d];
    }
    all.push_back(values[at]);
  }
  return all;
}
/// The sum of what `spread` took from each.
Doubles gathered(const Doubles& scores, const std::array<size_t, 4>& dims, const Sizes& size) {
  Floats places(dims[0] * dims[1] * dims[2] * dims[3]);
  for (size_t i = 0; i < places.size(); ++i) places[i] = static_cast<float>(i);
  const Doubles at = spread(places, dims, size);
  Doubles sums(places.size());
  for (size_t i = 0; i < scores.size(); ++i) sums[static_cast<size_t>(at[i])] += scores[i];
  return sums;
}

struct FlashTest : TensorTest {
  FlashModel model(const Sizes& size) const {
    const size_t of_queries = size.batch * size.heads * size.queries * size.dim,
                 of_keys = size.batch * size.kv_heads * size.keys * size.dim;
    FlashModel made{.size = size,
                    .query = doubles(noise(of_queries, 1)),
                    .key = doubles(noise(of_keys, 2)),
                    .value = doubles(noise(of_keys, 3)),
                    .bias = {},
                    .mask = {},
                    .query_lengths = {},
                    .key_lengths = {}};
    made.scale = 1.0 / std::sqrt(static_cast<double>(size.dim));
    return made;
  }
  /// query, key and value of four dims.
  std::vector<ValueId> operands(const FlashModel& of) {
    const auto dims = [&](size_t heads, size_t tokens) {
      return Shape{static_cast<int64_t>(of.size.batch), static_cast<int64_t>(heads),
                   static_cast<int64_t>(tokens), static_cast<int64_t>(of.size.dim)};
    };
    return {tensor(DType::f32, dims(of.size.heads, of.size.queries), floats(of.query)),
            tensor(DType::f32, dims(of.size.kv_heads, of.size.keys), floats(of.key)),
            tensor(DType::f32, dims(of.size.kv_heads, of.size.keys), floats(of.value))};
  }
  ValueId zeros(DType dtype, const Shape& shape) {
    return tensor(dtype, shape, Floats(static_cast<size_t>(*element_count(shape, {{kTokens, 3}}))));
  }
  /// The types of all outputs; the message of its refusal.
  std::string types(const std::string& op, std::vector<ValueId> inputs, Attributes attributes = {}) {
    const auto node = bench.add(op, std::move(inputs), std::move(attributes));
    if (!node.ok()) return node.error().to_string();
    std::string all;
    for (const ValueId output : bench.graph().node(*node).outputs)
      all += (all.empty() ? "" : " ") + graph::to_string(type(output));
    return all;
  }
};

TEST_F(FlashTest, TypesOfTensorsOfTwoToFourDims) {
  const std::string op = "flash_attention";
  const auto made = [&](const Shape& query, const Shape& key, DType dtype = DType::f32) {
    return types(op, {zeros(dtype, query), zeros(dtype, key), zeros(dtype, key)});
  };
  EXPECT_EQ(made({32, 32}, {32, 32}), "f32[32, 32] f32[32]");
  EXPECT_EQ(made({4, 5, 16}, {2, 7, 16}, DType::bf16), "bf16[4, 5, 16] f32[4, 5]");
  EXPECT_EQ(made({2, 4, 5, 16}, {2, 1, 7, 16}, DType::f16), "f16[2, 4, 5, 16] f32[2, 4, 5]");
  EXPECT_EQ(made({4, kTokens, 16}, {4, kTokens, 16}), "f32[4, tokens, 16] f32[4, tokens]");
  const ValueId query = zeros(DType::bf16, {2, 4, 5, 16}), key = zeros(DType::bf16, {2, 2, 7, 16}),
                sums = zeros(DType::f32, {2, 4, 5});
  EXPECT_EQ(types(op + "_backward", {query, query, key, key, query, sums}),
            "bf16[2, 4, 5, 16] bf16[2, 2, 7, 16] bf16[2, 2, 7, 16]");
  EXPECT_EQ(types(op + "_backward", {query, query, key, key, query, sums, zeros(DType::bf16, {4, 1, 7})}),
            "bf16[2, 4, 5, 16] bf16[2, 2, 7, 16] bf16[2, 2, 7, 16] f32[4, 1, 7]");
}

TEST_F(FlashTest, RefusesWhatDoesNotFit) {
  const ValueId query = zeros(DType::f32, {2, 4, 5, 16}), key = zeros(DType::f32, {2, 2, 7, 16});
  const auto refusal = [&](std::vector<ValueId> inputs, Attributes attributes = {}) {
    return types("flash_attention", std::move(inputs), std::move(attributes));
  };
  const auto with = [&](ValueId bias, ValueId mask = {}, ValueId lengths = {}) {
    return refusal({query, key, key, bias, mask, lengths});
  };
  EXPECT_THAT(refusal({query, key, key}, {{"dropout", 1.0}}),
              HasSubstr("dropout is 1; it must be at least 0 and less than 1"));
  EXPECT_THAT(refusal({query, key, key}, {{"softcap", -1.0}}), HasSubstr("softcap is -1"));
  EXPECT_THAT(refusal({query, key, key}, {{"scale", INFINITY}}), HasSubstr("scale is inf"));
  EXPECT_THAT(refusal({zeros(DType::i32, {3, 4}), key, key}), HasSubstr("it must be of f32, f16 or bf16"));
  EXPECT_THAT(refusal({zeros(DType::f32, {16}), key, key}),
              HasSubstr("it must be [batch, heads, tokens, head_dim]"));
  EXPECT_THAT(refusal({zeros(DType::f32, {kTokens, 4, 16}), key, key}), HasSubstr("with fixed heads"));
  EXPECT_THAT(refusal({query, zeros(DType::bf16, {2, 2, 7, 16}), zeros(DType::bf16, {2, 2, 7, 16})}),
              HasSubstr("they must have one type"));
  EXPECT_THAT(refusal({query, zeros(DType::f32, {2, 3, 7, 16}), zeros(DType::f32, {2, 3, 7, 16})}),
              HasSubstr("the heads of query must share those of key evenly"));
  EXPECT_THAT(refusal({query, zeros(DType::f32, {2, 2, 7, 8}), zeros(DType::f32, {2, 2, 7, 8})}),
              HasSubstr("they must have the same batch and head_dim"));
  EXPECT_THAT(refusal({query, key, zeros(DType::f32, {2, 2, 6, 16})}),
              HasSubstr("value is f32[2, 2, 6, 16], but key is f32[2, 2, 7, 16]"));
  EXPECT_THAT(
      refusal({zeros(DType::f32, {3, 300}), zeros(DType::f32, {3, 300}), zeros(DType::f32, {3, 300})}),
      HasSubstr("a head may have at most 256 dims, not 300"));
  EXPECT_THAT(with(zeros(DType::f32, {5, 6})),
              HasSubstr("bias is f32[5, 6]; its dims must be those of the scores, f32[2, 4, 5, 7], or 1"));
  EXPECT_THAT(with(zeros(DType::bf16, {5, 7})), HasSubstr("it must be of f32 or of that type"));
  EXPECT_THAT(with({}, zeros(DType::u8, {5, 7})), HasSubstr("mask is u8[5, 7]; it must be of bool"));
  EXPECT_THAT(with({}, {}, zeros(DType::i32, {3})),
              HasSubstr("query_lengths is i32[3]; it must be i32[2], a length for each batch"));
  EXPECT_THAT(types("flash_attention_backward", {query, query, key, key, query, zeros(DType::f32, {2, 4})}),
              HasSubstr("log_sum_exp is f32[2, 4], but query is f32[2, 4, 5, 16]; it must be f32[2, 4, 5]"));
}

TEST_F(FlashTest, Costs) {
  const ValueId query = zeros(DType::f32, {2, 4, 5, 16}), key = zeros(DType::f32, {2, 2, 7, 16}),
                sums = zeros(DType::f32, {2, 4, 5});
  const auto cost = [&](const std::string& op, std::vector<ValueId> inputs, Attributes attributes = {}) {
    const auto node = bench.add(op, std::move(inputs), std::move(attributes));
    EXPECT_TRUE(node.ok()) << node.error().to_string();
    bench.edit().set_outputs(bench.graph().node(*node).outputs);
    const graph::Cost of = bench.cost(*node);
    bench.edit().set_outputs({});
    return of;
  };
  // 8 heads; queries and out 640 elements each, keys and values 448, sums 40
  const graph::Cost all = cost("flash_attention", {query, key, key});
  EXPECT_EQ(all.flops, 4 * 16 * 8 * 5 * 7);
  EXPECT_EQ(all.bytes, 4 * (2 * 640 + 2 * 448 + 40));
  EXPECT_EQ(cost("flash_attention", {query, key, key}, {{"causal", true}}).flops,
            4 * 16 * 8 * (3 + 4 + 5 + 6 + 7));
  EXPECT_EQ(cost("flash_attention", {query, key, key}, {{"causal", true}, {"window_left", int64_t{3}}}).flops,
            4 * 16 * 8 * (3 + 4 + 4 + 4 + 4));
  EXPECT_EQ(cost("flash_attention", {query, key, key}, {{"window_right", int64_t{1}}}).flops,
            4 * 16 * 8 * (4 + 5 + 6 + 7 + 7));
  EXPECT_EQ(cost("flash_attention_backward", {query, query, key, key, query, sums}).flops,
            10 * 16 * 8 * 5 * 7);
}

/// One head of 32 queries, keys and dims, without a factor.
TEST_F(FlashTest, OneHeadOfTwoDims) {
  FlashModel model = this->model({.queries = 32, .keys = 32, .dim = 32});
  model.scale = 1;
  const std::vector<Floats> results = bench.run(
      "flash_attention",
      {tensor(DType::f32, {32, 32}, floats(model.query)), tensor(DType::f32, {32, 32}, floats(model.key)),
       tensor(DType::f32, {32, 32}, floats(model.value))},
      {{"scale", 1.0}});
  expect_near(results.at(0), model.out());
  expect_near(results.at(1), model.log_sum_exp());
}

TEST_F(FlashTest, EveryOption) {
  const Sizes size{.batch = 2, .heads = 4, .kv_heads = 2, .queries = 5, .keys = 7, .dim = 6};
  for (int options = 0; options < 64; ++options) {
    SCOPED_TRACE("options " + std::to_string(options));
    const auto has = [&](int option) { return (options >> option & 1) != 0; };
    FlashModel model = this->model(size);
    std::vector<ValueId> inputs = operands(model);
    inputs.resize(7);
    Attributes attributes;
    if (has(0)) {
      attributes["causal"] = model.causal = true;
    }
    if (has(1)) {
      attributes["window_left"] = model.left = 3;
      attributes["window_right"] = model.right = 2;
    }
    if (has(2)) attributes["softcap"] = model.softcap = 0.5;
    if (has(3)) {
      const Floats bias = noise(4 * 7, 5);
      inputs[3] = tensor(DType::f32, {4, 1, 7}, bias);
      model.bias = spread(bias, {1, 4, 1, 7}, size);
      Floats mask = noise(2 * 5 * 7, 6);
      for (size_t i = 0; i < mask.size(); ++i) mask[i] = mask[i] < 0.5F || i % 7 == 0 ? 1.0F : 0.0F;
      inputs[4] = tensor(DType::boolean, {2, 1, 5, 7}, mask);
      model.mask = spread(mask, {2, 1, 5, 7}, size);
    }
    if (has(4)) {
      inputs[5] = tensor(DType::i32, {2}, {5, 3});
      inputs[6] = tensor(DType::i32, {2}, {7, 4});
      model.query_lengths = {5, 3};
      model.key_lengths = {7, 4};
    }
    if (has(5)) {
      attributes["dropout"] = 0.25;
      attributes["seed"] = int64_t{-9};
      model.dropout = {0.25, static_cast<uint64_t>(int64_t{-9}), kernels::Dropout::kAttentionStream};
    }
    const std::vector<Floats> results = bench.run("flash_attention", inputs, attributes);
    Doubles sums = model.log_sum_exp();
    expect_near(results.at(0), model.out());
    for (size_t i = 0; i < sums.size(); ++i)
      if (std::isinf(sums[i])) {
        EXPECT_EQ(results.at(1).at(i), -INFINITY);
        sums[i] = -INFINITY;
      } else {
        EXPECT_NEAR(results.at(1).at(i), sums[i], 1e-5);
      }
  }
}

/// What a step brings: three tokens, of plans for up to 16.
TEST_F(FlashTest, SizesOfTheStep) {
  FlashModel model = this->model({.heads = 2, .kv_heads = 1, .queries = 3, .keys = 3, .dim = 8});
  model.causal = true;
  const std::vector<Floats> results = bench.run("flash_attention",
                                                {tensor(DType::f32, {2, kTokens, 8}, floats(model.query)),
                                                 tensor(DType::f32, {1, kTokens, 8}, floats(model.key)),
                                                 tensor(DType::f32, {1, kTokens, 8}, floats(model.value))},
                                                {{"causal", true}});
  expect_near(results.at(0), model.out());
}

TEST_F(FlashTest, GradientsAgainstDifferences) {
  const Sizes size{.batch = 2, .heads = 4, .kv_heads = 2, .queries = 3, .keys = 5, .dim = 4};
  const std::pair<Shape, std::array<size_t, 4>> biases[] = {
      {{2, 4, 3, 5}, {2, 4, 3, 5}}, {{4, 1, 5}, {1, 4, 1, 5}},    {{5}, {1, 1, 1, 5}},
      {{2, 1, 3, 1}, {2, 1, 3, 1}}, {{1, 1, 1, 1}, {1, 1, 1, 1}}, {{4, 3, 5}, {1, 4, 3, 5}},
      {{2, 4, 1, 1}, {2, 4, 1, 1}}};
  for (const auto& [shape, dims] : biases) {
    SCOPED_TRACE("bias " + graph::to_string({DType::f32, shape}));
    FlashModel model = this->model(size);
    model.softcap = 0.75;
    model.causal = true;
    model.dropout = {0.25, 7, kernels::Dropout::kAttentionStream};
    const Floats bias = noise(dims[0] * dims[1] * dims[2] * dims[3], 5),
                 of_out = noise(model.rows() * size.dim, 8);
    model.bias = spread(bias, dims, size);
    const std::vector<ValueId> of = operands(model);
    const ValueId grad_out = tensor(DType::f32, type(of[0]).shape, of_out),
                  out = tensor(DType::f32, type(of[0]).shape, floats(model.out())),
                  sums = tensor(DType::f32, {2, 4, 3}, floats(model.log_sum_exp()));
    const std::vector<Floats> gradients =
        bench.run("flash_attention_backward",
                  {grad_out, of[0], of[1], of[2], out, sums, tensor(DType::f32, shape, bias)},
                  {{"causal", true}, {"softcap", 0.75}, {"dropout", 0.25}, {"seed", int64_t{7}}});
    ASSERT_EQ(gradients.size(), 4U);
    expect_near(gradients[0], model.differences(&FlashModel::query, of_out), 2e-5);
    expect_near(gradients[1], model.differences(&FlashModel::key, of_out), 2e-5);
    expect_near(gradients[2], model.differences(&FlashModel::value, of_out), 2e-5);
    expect_near(gradients[3], gathered(model.differences(&FlashModel::bias, of_out), dims, size), 2e-5);
  }
}

TEST_F(FlashTest, OnlyWhatIsReadIsComputed) {
  const FlashModel model = this->model({.heads = 2, .kv_heads = 2, .queries = 4, .keys = 6, .dim = 8});
  const std::vector<ValueId> of = operands(model);
  const ValueId out = tensor(DType::f32, type(of[0]).shape, floats(model.out())),
                sums = tensor(DType::f32, {1, 2, 4}, floats(model.log_sum_exp()));
  const std::vector<ValueId> inputs = {
      of[0], of[0], of[1], of[2], out, sums, tensor(DType::f32, {6}, noise(6, 3))};
  const std::vector<Floats> all = bench.run("flash_attention_backward", inputs);
  const auto node = bench.add("flash_attention_backward", inputs);
  ASSERT_TRUE(node.ok()) << node.error().to_string();
  bench.edit().set_outputs({bench.graph().node(*node).outputs[1]});
  const std::vector<Floats> gradients = bench.run(*node);
  EXPECT_EQ(gradients.at(1), all.at(1));
  EXPECT_NE(gradients.at(0), all.at(0));
  EXPECT_NE(gradients.at(3), all.at(3));
}

}  // namespace
}  // namespace orrery::ops::test
