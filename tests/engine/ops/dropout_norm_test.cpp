// dropout_add_layer_norm and its gradients: types, refusals, costs, and results against plain loops. Three
// tokens of 40 columns.
#include "kernels/dropout_norm.h"
#include "tests/engine/ops/bench.h"

namespace orrery::ops::test {
namespace {

using testing::HasSubstr;

constexpr int64_t kHidden = 40;
constexpr size_t kElements = 3 * kHidden;

struct DropoutNorms : testing::Test {
  Bench bench{3, 1, 1};
  const Floats src_data = noise(kElements, 1), residual_data = noise(kElements, 2),
               weight_data = noise(kHidden, 3), bias_data = noise(kHidden, 4), row_data = noise(3, 5),
               column_data = noise(kHidden, 6);
  ValueId src = bench.rows("src", kTokens, src_data),
          residual = bench.rows("residual", kTokens, residual_data);
  ValueId weight = bench.weight("weight", DType::f32, {kHidden}, weight_data),
          bias = bench.weight("bias", DType::bf16, {kHidden}, bias_data),
          colscale = bench.weight("colscale", DType::f32, {kHidden}, column_data);
  ValueId rowscale = bench.tensor("rowscale", DType::f32, {kTokens}, row_data);

  ValueId rows(DType dtype, const Shape& shape = {kTokens, kHidden}) {
    return bench.tensor("t" + std::to_string(count++), dtype, shape, src_data);
  }
  /// The types of the outputs; the message of its refusal.
  std::string made(const std::string& op, std::vector<ValueId> inputs, Attributes attributes = {}) {
    const auto node = bench.add(op, std::move(inputs), std::move(attributes));
    if (!node.ok()) return node.error().to_string();
    std::string types;
    for (const ValueId output : bench.graph().node(*node).outputs)
      types += (types.empty() ? "" : " ") + graph::to_string(bench.graph().value(output).type);
    return types;
  }
  std::string forward(ValueId of, ValueId added, Attributes attributes = {}) {
    return made("dropout_add_layer_norm", {of, added, weight, bias, rowscale, colscale},
                std::move(attributes));
  }
  graph::Cost cost(const std::string& op, std::vector<ValueId> inputs, Attributes attributes,
                   std::vector<size_t> read) {
    const auto node = bench.add(op, std::move(inputs), std::move(attributes));
    EXPECT_TRUE(node.ok());
    std::vector<ValueId> outputs;
    for (const size_t output : read) outputs.push_back(bench.graph().node(*node).outputs[output]);
    bench.edit().set_outputs(outputs);
    const graph::Cost cost = bench.cost(*node);
    bench.edit().set_outputs({});
    return cost;
  }
  std::vector<double> sums(double p, uint64_t seed) const {
    const kernels::Dropout dropout(p, seed);
    std::vector<double> x(kElements);
    for (size_t i = 0; i < kElements; ++i) {
      const size_t r = i / kHidden, c = i % kHidden;
      const bool stays = dropout.keeps(static_cast<int64_t>(r), static_cast<int64_t>(c));
      x[i] = (stays ? src_data[i] * row_data[r] / (1 - p) : 0.0) * column_data[c] + residual_data[i];
    }
    return x;
  }
  std::vector<double> normed(const std::vector<double>& x, bool rms, double eps) const {
    const Floats biases = bench.weight_values(bias);
    std::vector<double> out(kElements);
    for (size_t r = 0; r < 3; ++r) {
      double mean = 0, squares = 0;
      for (size_t c = 0; c < kHidden && !rms; ++c) mean += x[r * kHidden + c] / kHidden;
      for (size_t c = 0; c < kHidden; ++c) squares += std::pow(x[r * kHidden + c] - mean, 2) / kHidden;
      for (size_t c = 0; c < kHidden; ++c)
        out[r * kHidden + c] =
            (x[r * kHidden + c] - mean) / std::sqrt(squares + eps) * weight_data[c] + biases[c];
    }
    return out;
  }

  int count = 0;
};

TEST_F(DropoutNorms, TheSumHasTheTypeOfTheResidual) {
  const ValueId half = rows(DType::bf16);
  EXPECT_EQ(forward(src, residual), "f32[tokens, 40] f32[tokens, 40]");
  EXPECT_EQ(forward(half, {}), "bf16[tokens, 40] bf16[tokens, 40]");
  EXPECT_EQ(forward(half, rows(DType::bf16)), "bf16[tokens, 40] bf16[tokens, 40]");
  EXPECT_EQ(forward(half, residual), "bf16[tokens, 40] f32[tokens, 40]");
  EXPECT_EQ(forward(half, {}, {{"residual_f32", true}}), "bf16[tokens, 40] f32[tokens, 40]");
  EXPECT_EQ(made("dropout_add_layer_norm_backward", {half, {}, residual, {}, weight}),
            "bf16[tokens, 40] f32[tokens, 40] f32[40] f32[40]");
  EXPECT_EQ(
      made("dropout_add_layer_norm_backward", {src, residual, residual, src, weight, rowscale, colscale}),
      "f32[tokens, 40] f32[tokens, 40] f32[40] f32[40] f32[40]");
  EXPECT_EQ(
      made("dropout_add_layer_norm", {rows(DType::f16, {2, 3, 20}), {}, bench.vector("short", noise(20, 1))}),
      "f16[2, 3, 20] f16[2, 3, 20]");
}

TEST_F(DropoutNorms, RefusesWhatDoesNotFit) {
  EXPECT_THAT(forward(src, residual, {{"p", 1.0}}),
              HasSubstr("p is 1; it must be at least 0 and less than 1"));
  EXPECT_THAT(forward(src, residual, {{"epsilon", -1.0}}), HasSubstr("epsilon is -1"));
  EXPECT_THAT(forward(rows(DType::i32), {}), HasSubstr("it must be of f32, f16 or bf16"));
  EXPECT_THAT(
      forward(src, rows(DType::bf16)),
      HasSubstr("residual is bf16[tokens, 40], but src is f32[tokens, 40]; it must be of that shape"));
  EXPECT_THAT(forward(src, rows(DType::f32, {kTokens, 20})), HasSubstr("residual is f32[tokens, 20]"));
  EXPECT_THAT(forward(rows(DType::f32, {kElements, kTokens}), {}),
              HasSubstr("its last dim must be a fixed size of at least 1"));
  EXPECT_THAT(made("dropout_add_layer_norm", {src, {}, bench.vector("short", noise(39, 1))}),
              HasSubstr("weight is f32[39], but a norm of src f32[tokens, 40] needs [40]"));
  EXPECT_THAT(made("dropout_add_layer_norm", {src, {}, weight, {}, bench.vector("fixed", noise(3, 1))}),
              HasSubstr("rowscale is f32[3], but a norm of src f32[tokens, 40] needs f32[tokens]"));
  EXPECT_THAT(made("dropout_add_layer_norm_backward", {src, {}, rows(DType::f16), {}, weight}),
              HasSubstr("residual_out is f16[tokens, 40], but grad_out is f32[tokens, 40]"));
  EXPECT_THAT(made("dropout_add_layer_norm_backward", {src, rows(DType::bf16), residual, {}, weight}),
              HasSubstr("grad_residual_out is bf16[tokens, 40], but residual_out is f32[tokens, 40]"));
  EXPECT_THAT(made("dropout_add_layer_norm_backward", {src, {}, residual, rows(DType::bf16), weight}),
              HasSubstr("src is bf16[tokens, 40], but grad_out is f32[tokens, 40]"));
}

TEST_F(DropoutNorms, Costs) {
  const std::string op = "dropout_add_layer_norm", back = op + "_backward";
  // 120 elements: 480 bytes; a vector over columns 160 bytes, the bias 80, that over rows 12
  graph::Cost of = cost(op, {src, residual, weight, bias}, {}, {0, 1});
  EXPECT_EQ(of.flops, 8 * 120);
  EXPECT_EQ(of.bytes, 4 * 480 + 160 + 80);
  of = cost(op, {src, {}, weight}, {{"rms", true}}, {0});
  EXPECT_EQ(of.flops, 4 * 120);
  EXPECT_EQ(of.bytes, 2 * 480 + 160);
  of = cost(op, {rows(DType::bf16), residual, weight, {}, rowscale, colscale}, {{"p", 0.1}}, {0, 1});
  EXPECT_EQ(of.flops, 10 * 120);
  EXPECT_EQ(of.bytes, 2 * 240 + 2 * 480 + 2 * 160 + 12);
  of = cost(back, {src, residual, residual, src, weight, rowscale, colscale}, {{"p", 0.1}}, {0, 1, 2, 3, 4});
  EXPECT_EQ(of.flops, (13 + 1 + 2 + 1 + 5) * 120);
  EXPECT_EQ(of.bytes, 6 * 480 + 2 * 160 + 12 + 3 * 160);
  of = cost(back, {src, {}, residual, src, weight, rowscale, colscale}, {{"p", 0.1}, {"rms", true}}, {1});
  EXPECT_EQ(of.flops, 9 * 120);
  EXPECT_EQ(of.bytes, 3 * 480 + 2 * 160 + 12);
}

TEST_F(DropoutNorms, ForwardAgainstPlainLoops) {
  for (const bool rms : {false, true})
    for (const double p : {0.0, 0.4}) {
      const auto out = bench.run("dropout_add_layer_norm", {src, residual, weight, bias, rowscale, colscale},
                                 {{"p", p}, {"seed", int64_t{-9}}, {"epsilon", 0.25}, {"rms", rms}});
      const std::vector<double> x = sums(p, static_cast<uint64_t>(int64_t{-9}));
      expect_near(out.at(0), normed(x, rms, 0.25));
      expect_near(out.at(1), x);
    }
}

TEST_F(DropoutNorms, GradientsAgainstDifferences) {
  const Attributes attributes = {{"p", 0.4}, {"seed", int64_t{7}}, {"epsilon", 0.25}};
  const std::vector<double> x = sums(0.4, 7);
  const ValueId sum = bench.rows("sum", kTokens, Floats(x.begin(), x.end()));
  const Floats of_out = noise(kElements, 8), of_x = noise(kElements, 9);
  const auto grads = bench.run("dropout_add_layer_norm_backward",
                               {bench.rows("g", kTokens, of_out), bench.rows("h", kTokens, of_x), sum, src,
                                weight, rowscale, colscale},
                               attributes);
  ASSERT_EQ(grads.size(), 5U);
  const auto loss = [&](const std::vector<double>& at) {
    const std::vector<double> out = normed(at, false, 0.25);
    double total = 0;
    for (size_t i = 0; i < kElements; ++i) total += of_out[i] * out[i] + of_x[i] * at[i];
    return total;
  };
  const kernels::Dropout dropout(0.4, 7);
  std::vector<double> of_residual, of_src, of_bias(kHidden), of_colscale(kHidden);
  for (size_t i = 0; i < kElements; ++i) {
    std::vector<double> above = x, below = x;
    above[i] += 1e-5;
    below[i] -= 1e-5;
    const double d = (loss(above) - loss(below)) / 2e-5;
    const size_t r = i / kHidden, c = i % kHidden;
    const bool stays = dropout.keeps(static_cast<int64_t>(r), static_cast<int64_t>(c));
    const double of_t = stays ? d * row_data[r] / 0.6 : 0.0;
    of_residual.push_back(d);
    of_src.push_back(of_t * column_data[c]);
    of_bias[c] += of_out[i];
    of_colscale[c] += of_t * src_data[i];
  }
  expect_near(grads[0], of_src);
  expect_near(grads[1], of_residual);
  expect_near(grads[3], of_bias);
  expect_near(grads[4], of_colscale);
}

// Both sources with masks of their own, both norms of their sum, and all gradients of both.
TEST_F(DropoutNorms, ParallelResidual) {
  const Floats second_data = noise(kElements, 30), weight2_data = noise(kHidden, 31),
               bias2_data = noise(kHidden, 32);
  const ValueId second = bench.rows("second", kTokens, second_data),
                weight2 = bench.vector("weight2", weight2_data), bias2 = bench.vector("bias2", bias2_data);
  const Attributes attributes = {{"p", 0.4}, {"seed", int64_t{7}}, {"epsilon", 0.25}};
  const std::vector<ValueId> inputs = {src, residual, weight, bias,    rowscale, colscale,
                                       {},  {},       second, weight2, bias2};
  EXPECT_EQ(made("dropout_add_layer_norm", inputs, attributes),
            "f32[tokens, 40] f32[tokens, 40] i8[tokens, 40] f32[tokens] f32[tokens, 40]");
  const kernels::Dropout mask = kernels::Dropout(0.4, 7).of(kernels::Dropout::kSecondNormStream);
  const auto stays = [&](size_t i) {
    return mask.keeps(static_cast<int64_t>(i / kHidden), static_cast<int64_t>(i % kHidden));
  };
  std::vector<double> x = sums(0.4, 7);
  for (size_t i = 0; i < kElements; ++i) x[i] += stays(i) ? second_data[i] / 0.6 : 0.0;
  const auto out = bench.run("dropout_add_layer_norm", inputs, attributes);
  ASSERT_EQ(out.size(), 5U);
  expect_near(out[0], normed(x, false, 0.25));
  expect_near(out[1], x);
  // The norm that it is of, with the first one's weight and bias taken away.
  const std::vector<double> first = normed(x, false, 0.25);
  const Floats biases = bench.weight_values(bias);
  std::vector<double> y(kElements), second_out(kElements);
  for (size_t i = 0; i < kElements; ++i) {
    y[i] = (first[i] - biases[i % kHidden]) / weight_data[i % kHidden];
    second_out[i] = y[i] * weight2_data[i % kHidden] + bias2_data[i % kHidden];
  }
  expect_near(out[4], second_out);
  const auto alone = bench.add("dropout_add_layer_norm", inputs, attributes);
  ASSERT_TRUE(alone.ok()) << alone.error().to_string();
  bench.edit().set_outputs({bench.graph().node(*alone).outputs[4]});
  EXPECT_EQ(bench.run(*alone).at(4), out[4]) << "without out";
  bench.edit().set_outputs({});

  // Gradients of a norm are linear in weight * grad_out: that of both is that of one with their sum.
  const Floats of_out = noise(kElements, 33), of_out2 = noise(kElements, 34);
  Floats of_both(kElements);
  for (size_t i = 0; i < kElements; ++i)
    of_both[i] = of_out[i] * weight_data[i % kHidden] + of_out2[i] * weight2_data[i % kHidden];
  const ValueId sum = bench.rows("sum", kTokens, Floats(x.begin(), x.end())),
                of_x = bench.rows("of_x", kTokens, noise(kElements, 35));
  const auto grads = bench.run("dropout_add_layer_norm_backward",
                               {bench.rows("of_out", kTokens, of_out),
                                of_x,
                                sum,
                                src,
                                weight,
                                rowscale,
                                colscale,
                                {},
                                {},
                                bench.rows("of_out2", kTokens, of_out2),
                                weight2},
                               attributes);
  ASSERT_EQ(grads.size(), 8U);
  const auto one = bench.run("dropout_add_layer_norm_backward",
                             {bench.rows("of_both", kTokens, of_both), of_x, sum, src,
                              bench.vector("ones", Floats(kHidden, 1.0F)), rowscale, colscale},
                             attributes);
  const auto doubles = [](const Floats& values) { return std::vector<double>(values.begin(), values.end()); };
  expect_near(grads[0], doubles(one[0]));
  expect_near(grads[1], doubles(one[1]));
  expect_near(grads[4], doubles(one[4]));
  std::vector<double> of_second(kElements), of_weight2(kHidden), of_bias2(kHidden);
  for (size_t i = 0; i < kElements; ++i) {
    of_second[i] = stays(i) ? one[1][i] / 0.6 : 0.0;
    of_weight2[i % kHidden] += of_out2[i] * y[i];
    of_bias2[i % kHidden] += of_out2[i];
  }
  expect_near(grads[5], of_second);
  expect_near(grads[6], of_weight2);
  expect_near(grads[7], of_bias2);

  // 120 elements: 480 bytes; a vector over columns 160 bytes.
  graph::Cost of =
      cost("dropout_add_layer_norm", {src, residual, weight, {}, {}, {}, {}, {}, second, weight2},
           {{"p", 0.1}}, {0, 1, 4});
  EXPECT_EQ(of.flops, (6 + 1 + 1 + 2 + 1) * 120);
  EXPECT_EQ(of.bytes, 6 * 480 + 2 * 160);
  of = cost("dropout_add_layer_norm_backward", {src, {}, residual, {}, weight, {}, {}, {}, {}, src, weight2},
            {{"p", 0.1}}, {1, 5, 6, 7});
  EXPECT_EQ(of.flops, (13 + 1 + 2 + 2 + 1) * 120);
  EXPECT_EQ(of.bytes, 5 * 480 + 4 * 160);

  EXPECT_THAT(made("dropout_add_layer_norm", {src, {}, weight, {}, {}, {}, {}, {}, rows(DType::bf16)}),
              HasSubstr("src2 is bf16[tokens, 40], but a norm of src f32[tokens, 40] needs f32[tokens, 40]"));
  EXPECT_THAT(made("dropout_add_layer_norm", {src, {}, weight, {}, {}, {}, {}, {}, {}, {}, bias2}),
              HasSubstr("bias2 is there, but weight2 is not"));
  EXPECT_THAT(made("dropout_add_layer_norm_backward", {src, {}, residual, {}, weight, {}, {}, {}, {}, src}),
              HasSubstr("grad_out2 is there, but weight2 is not"));
  EXPECT_EQ(made("dropout_add_layer_norm_backward", {src, {}, residual, {}, weight}, {{"parallel", true}}),
            "f32[tokens, 40] f32[tokens, 40] f32[40] f32[40] f32[40] f32[tokens, 40] f32[40] f32[40]");
}

TEST_F(DropoutNorms, RowsOf8BitsHaveAFactorEach) {
  const Attributes attributes = {{"quantised", true}, {"epsilon", 0.25}};
  EXPECT_EQ(forward(src, residual, attributes), "f32[tokens, 40] f32[tokens, 40] i8[tokens, 40] f32[tokens]");
  const std::vector<ValueId> inputs = {src, residual, weight, bias, rowscale, colscale};
  const auto out = bench.run("dropout_add_layer_norm", inputs, attributes);
  ASSERT_EQ(out.size(), 4U);
  for (size_t r = 0; r < 3; ++r) {
    double largest = 0;
    for (size_t c = 0; c < kHidden; ++c)
      largest = std::max(largest, std::abs(static_cast<double>(out[0][r * kHidden + c])));
    EXPECT_NEAR(out[3][r], largest / 127, 1e-6);
    for (size_t c = 0; c < kHidden; ++c)
      EXPECT_NEAR(out[2][r * kHidden + c] * out[3][r], out[0][r * kHidden + c], largest / 250);
  }
  const auto node = bench.add("dropout_add_layer_norm", inputs, attributes);
  ASSERT_TRUE(node.ok()) << node.error().to_string();
  bench.edit().set_outputs({bench.graph().node(*node).outputs[2]});
  EXPECT_EQ(bench.run(*node).at(2), out[2]) << "without out";
  const graph::Cost of = cost("dropout_add_layer_norm", {src, {}, weight}, attributes, {2, 3});
  EXPECT_EQ(of.flops, 8 * 120);
  EXPECT_EQ(of.bytes, 480 + 160 + 120 + 12);
}

// Rows 0 and 2 of three have rows of src, rows 1 and 2 rows of out; the others are as if they were not there.
TEST_F(DropoutNorms, SomeRowsOnly) {
  const Floats src_numbers = {1, -1, 3}, out_numbers = {-1, 3, 0};
  const ValueId some = bench.tensor("some", DType::f32, {4, kHidden}, noise(4 * kHidden, 20)),
                src_rows = bench.tensor("src_rows", DType::i32, {kTokens}, src_numbers),
                out_rows = bench.tensor("out_rows", DType::i32, {kTokens}, out_numbers);
  const Floats some_data = noise(4 * kHidden, 20);
  const Attributes attributes = {
      {"p", 0.4}, {"seed", int64_t{3}}, {"epsilon", 0.25}, {"rowscale_const", 1.5}};
  Attributes counted = attributes;
  counted["out_count"] = int64_t{5};
  const auto out = bench.run("dropout_add_layer_norm",
                             {some, residual, weight, bias, rowscale, colscale, src_rows, out_rows}, counted);
  const kernels::Dropout dropout(0.4, 3);
  const auto factor = [&](size_t r, size_t c) {
    const bool stays = dropout.keeps(static_cast<int64_t>(r), static_cast<int64_t>(c));
    return stays && src_numbers[r] >= 0 ? row_data[r] * 1.5 / 0.6 * column_data[c] : 0.0;
  };
  const auto source = [&](size_t r, size_t c) {
    return static_cast<size_t>(src_numbers[r] < 0 ? 0 : src_numbers[r]) * kHidden + c;
  };
  std::vector<double> x(kElements), expected(5 * kHidden);
  for (size_t r = 0; r < 3; ++r)
    for (size_t c = 0; c < kHidden; ++c)
      x[r * kHidden + c] = residual_data[r * kHidden + c] + factor(r, c) * some_data[source(r, c)];
  const std::vector<double> all = normed(x, false, 0.25);
  for (size_t r = 1; r < 3; ++r)
    for (size_t c = 0; c < kHidden; ++c)
      expected[static_cast<size_t>(out_numbers[r]) * kHidden + c] = all[r * kHidden + c];
  expect_near(out[0], expected);
  expect_near(out[1], x);

  const auto grads = [&](std::vector<ValueId> inputs, const Attributes& with) {
    return bench.run("dropout_add_layer_norm_backward", std::move(inputs), with);
  };
  const ValueId sum = bench.rows("sum", kTokens, Floats(x.begin(), x.end())),
                of_out = bench.tensor("of_out", DType::f32, {5, kHidden}, noise(5 * kHidden, 21)),
                of_x = bench.rows("of_x", kTokens, noise(kElements, 22));
  const auto of_some =
      grads({of_out, of_x, sum, some, weight, rowscale, colscale, src_rows, out_rows}, attributes);
  // The same with whole tensors: rows without out have no gradient of it, and grad_src is spread afterwards.
  Floats whole(kElements);
  for (size_t r = 1; r < 3; ++r)
    for (size_t c = 0; c < kHidden; ++c)
      whole[r * kHidden + c] = noise(5 * kHidden, 21)[static_cast<size_t>(out_numbers[r]) * kHidden + c];
  const auto of_all =
      grads({bench.rows("whole", kTokens, whole), of_x, sum, {}, weight}, {{"epsilon", 0.25}});
  std::vector<double> of_src(4 * kHidden), of_residual(of_all[1].begin(), of_all[1].end());
  for (const size_t r : {size_t{0}, size_t{2}})
    for (size_t c = 0; c < kHidden; ++c) of_src[source(r, c)] = of_residual[r * kHidden + c] * factor(r, c);
  expect_near(of_some[0], of_src);
  expect_near(of_some[1], of_residual);
  expect_near(of_some[2], {of_all[2].begin(), of_all[2].end()});
  expect_near(of_some[3], {of_all[3].begin(), of_all[3].end()});

  EXPECT_EQ(made("dropout_add_layer_norm", {some, {}, weight, {}, {}, {}, src_rows}),
            "f32[tokens, 40] f32[tokens, 40]");
  EXPECT_EQ(made("dropout_add_layer_norm_backward", {src, {}, residual, {}, weight, {}, {}, src_rows},
                 {{"src_count", int64_t{9}}}),
            "f32[9, 40] f32[tokens, 40] f32[40] f32[40]");
  EXPECT_THAT(made("dropout_add_layer_norm", {src, {}, weight, {}, {}, {}, {}, out_rows}),
              HasSubstr("out_count is 0"));
  EXPECT_THAT(made("dropout_add_layer_norm_backward", {src, {}, residual, {}, weight, {}, {}, src_rows}),
              HasSubstr("src_count is 0"));
  EXPECT_THAT(made("dropout_add_layer_norm", {some, src, weight, {}, {}, {}, out_rows, rowscale}, counted),
              HasSubstr("out_rows is f32[tokens]"));
  EXPECT_THAT(made("dropout_add_layer_norm", {some, residual, weight}),
              HasSubstr("residual is f32[tokens, 40]"));
}

TEST_F(DropoutNorms, OnlyWhatIsReadIsComputed) {
  const std::vector<ValueId> inputs = {src, {}, residual, src, weight, {}, colscale};
  const auto all = bench.run("dropout_add_layer_norm_backward", inputs);
  const auto node = bench.add("dropout_add_layer_norm_backward", inputs);
  ASSERT_TRUE(node.ok()) << node.error().to_string();
  bench.edit().set_outputs({bench.graph().node(*node).outputs[3]});
  const auto grads = bench.run(*node);
  EXPECT_EQ(grads.at(3), all.at(3));
  EXPECT_NE(grads.at(2), all.at(2));
}

}  // namespace
}  // namespace orrery::ops::test
