// The rules of the ops on tensors beside differences, and what the pass does with whole graphs.
#include "engine/passes/differentiate.h"

#include "tests/engine/passes/gradients.h"

namespace orrery::passes::test {
namespace {

using graph::Attributes;
using testing::ElementsAre;
using testing::HasSubstr;
using List = std::vector<int64_t>;

/// One op on given operands, and a tolerance.
struct Rule {
  std::string name, op;
  std::vector<Given> givens;
  Attributes attributes = {};
  int64_t tokens = 0;  // of the step, where shapes have them
  double tolerance = 2e-4;
};

void PrintTo(const Rule& rule, std::ostream* stream) { *stream << rule.name; }

class Rules : public testing::TestWithParam<Rule> {};

TEST_P(Rules, AreWhatDifferencesGive) {
  const Rule& rule = GetParam();
  Gradient gradient(rule.givens,
                    [&](Maker& make, const std::vector<ValueId>& inputs) {
                      const ValueId made = make.op(rule.op, "made", inputs, rule.attributes);
                      std::vector<ValueId> outputs;
                      for (const ValueId output : make.graph.node(make.graph.value(made).producer).outputs)
                        if (is_float(make.graph.value(output).type.dtype)) outputs.push_back(output);
                      return outputs;
                    },
                    {{kTokens, rule.tokens}});
  gradient.expect_differences(rule.tolerance);
}

Given open(Given given) { return rows_of(std::move(given), kTokens); }

Rule unary(const std::string& op, float low = -1, float high = 1) {
  return {op, op, {floats("x", {2, 3}, low, high)}};
}

/// Of shapes that are broadcast both ways.
Rule binary(const std::string& op, float low = -1, float high = 1, float b_low = -1, float b_high = 1) {
  return {op, op, {floats("a", {2, 1, 3}, low, high), floats("b", {4, 1}, b_low, b_high)}};
}

std::vector<Rule> functions() {
  std::vector<Rule> rules;
  for (const char* op : {"negate", "exp", "sigmoid", "sin", "cos", "erf"}) rules.push_back(unary(op, -2, 2));
  for (const char* op : {"log", "sqrt", "rsqrt"}) rules.push_back(unary(op, 1, 3));
  rules.push_back(unary("abs", -1.5F, 1.5F));
  rules.push_back(unary("log1p", 0, 2));
  rules.push_back(unary("acos", -0.5F, 0.5F));
  rules.push_back(unary("atanh", -0.5F, 0.5F));
  for (const char* op : {"add", "sub", "mul"}) rules.push_back(binary(op));
  rules.push_back(binary("div", -1, 1, 1.5F, 3));
  rules.push_back(binary("mod", 4.3F, 4.7F, 3.1F, 3.9F));
  rules.push_back(binary("pow", 1, 2, -1, 2));
  rules.push_back({"pow_of_zero", "pow", {{"a", "f32", {3}, {0, 0, 2}}, {"b", "f32", {3}, {2, 1, 0}}}});
  rules.push_back({"maximum", "maximum", {floats("a", {2, 4}), floats("b", {4}, 1.2F, 2)}});
  rules.push_back({"minimum", "minimum", {floats("a", {2, 1}, -3, -2), floats("b", {1, 3}, -1, 0)}});
  rules.push_back(
      {"where", "where", {{"c", "bool", {3, 1}, {1, 0, 1}}, floats("a", {2, 1, 4}), floats("b", {4})}});
  return rules;
}

std::vector<Rule> reductions() {
  std::vector<Rule> rules;
  for (const char* op : {"sum", "mean", "prod", "max", "min"}) {
    const Given x = floats("x", {2, 3, 4}, -2, 2);
    rules.push_back({fmt::format("{}_all", op), op, {x}});
    rules.push_back({fmt::format("{}_last", op), op, {x}, {{"axis", List{-1}}, {"keepdims", false}}});
    rules.push_back({fmt::format("{}_middle", op), op, {x}, {{"axis", List{1}}}});
    rules.push_back({fmt::format("{}_two", op), op, {x}, {{"axis", List{0, 1}}, {"keepdims", false}}});
    rules.push_back({fmt::format("{}_open", op), op, {open(x)}, {{"axis", List{0}}}, 2});
  }
  rules.push_back(
      {"prod_of_a_zero", "prod", {{"x", "f32", {2, 3}, {1, 0, 2, 0, 3, 0}}}, {{"axis", List{1}}}});
  for (const bool exclusive : {false, true})
    for (const bool reverse : {false, true})
      rules.push_back({fmt::format("cumsum_{}{}", exclusive ? "exclusive" : "", reverse ? "reverse" : ""),
                       "cumsum",
                       {floats("x", {2, 5, 2})},
                       {{"axis", int64_t{1}}, {"exclusive", exclusive}, {"reverse", reverse}}});
  for (const bool reverse : {false, true}) {
    const std::string name = reverse ? "recurrence_reverse" : "recurrence";
    const Given factor = floats("factor", {2, 4, 3}), x = floats("x", {2, 4, 3});
    rules.push_back({name, "recurrence", {factor, x}, {{"axis", int64_t{1}}, {"reverse", reverse}}});
    rules.push_back({name + "_open",
                     "recurrence",
                     {open(factor), open(x)},
                     {{"axis", int64_t{0}}, {"reverse", reverse}},
                     2});
  }
  rules.push_back({"recurrence_of_a_line", "recurrence", {floats("factor", {5}), floats("x", {5})}});
  rules.push_back({"softmax", "softmax", {floats("x", {2, 5}, -2, 2)}});
  rules.push_back({"logsoftmax", "logsoftmax", {floats("x", {2, 5}, -2, 2)}});
  rules.push_back({"softmax_first", "softmax", {floats("x", {3, 2}, -2, 2)}, {{"axis", int64_t{0}}}});
  return rules;
}

std::vector<Rule> products() {
  std::vector<Rule> rules;
  for (const bool a : {false, true})
    for (const bool b : {false, true})
      rules.push_back({fmt::format("matmul_{}{}", a ? "a" : "", b ? "b" : ""),
                       "matmul",
                       {floats("x", a ? List{3, 2} : List{2, 3}), floats("y", b ? List{4, 3} : List{3, 4})},
                       {{"transpose_a", a}, {"transpose_b", b}}});
  rules.push_back({"matmul_ladder", "matmul_ladder", {floats("x", {2, 3}), floats("y", {3, 4})}});
  rules.push_back({"matmul_batched", "matmul", {floats("x", {2, 1, 3, 2}), floats("y", {3, 2, 2})}});
  rules.push_back({"matmul_of_one_matrix", "matmul", {floats("x", {2, 3, 2}), floats("y", {2, 4})}});
  rules.push_back(
      {"matmul_open", "matmul", {floats("x", {3, 2}), floats("y", {3, 2})}, {{"transpose_a", true}}, true});
  return rules;
}

std::vector<Rule> moves() {
  const Given x = floats("x", {2, 3, 4}), y = floats("y", {2, 3, 4});
  const Given places{"places", "i64", {2, 2}, {0, 2, -1, 2}};
  return {
      {"reshape", "reshape", {x}, {{"shape", List{4, -1}}}},
      {"reshape_open", "reshape", {open(x)}, {{"shape", List{0, 12}}}, 2},
      {"squeeze", "squeeze", {floats("x", {2, 1, 3})}, {{"axis", int64_t{1}}}},
      {"unsqueeze", "unsqueeze", {x}, {{"axis", int64_t{-1}}}},
      {"flatten", "flatten", {x}, {{"start_dim", int64_t{1}}}},
      {"flatten_open", "flatten", {open(x)}, {}, 2},
      {"transpose", "transpose", {x}, {{"permutation", List{2, 0, 1}}}},
      {"transpose_last", "transpose", {x}},
      {"broadcast_to", "broadcast_to", {floats("x", {3, 1})}, {{"shape", List{2, -1, 4}}}},
      {"concat", "concat", {x, floats("z", {2, 1, 4}), y}, {{"axis", int64_t{1}}}},
      {"stack", "stack", {x, y}, {{"axis", int64_t{-1}}}},
      {"tile", "tile", {floats("x", {2, 3})}, {{"repeats", List{2, 3}}}},
      {"tile_open", "tile", {open(floats("x", {2, 3}))}, {{"repeats", List{2, 1}}}, 2},
      {"repeat_interleave", "repeat_interleave", {x}, {{"repeats", int64_t{3}}, {"axis", int64_t{1}}}},
      {"slice",
       "slice",
       {x},
       {{"axes", List{2, 1}}, {"starts", List{0, 1}}, {"stops", List{4, 3}}, {"steps", List{3, 1}}}},
      {"slice_open", "slice", {open(x)}, {{"axes", List{-1}}, {"starts", List{-2}}, {"stops", List{4}}}, 2},
      {"split",
       "split",
       {floats("x", {2, 6})},
       {{"axis", int64_t{1}}, {"begin", int64_t{1}}, {"count", int64_t{3}}}},
      {"gather", "gather", {x, places}, {{"axis", int64_t{1}}}},
      {"gather_first", "gather", {floats("x", {3, 2}), places}},
      {"gather_last", "gather", {x, {"places", "i32", {3}, {3, 3, 0}}}, {{"axis", int64_t{-1}}}},
      {"gather_outside", "gather", {floats("x", {3, 2}), {"places", "i32", {2}, {7, 1}}}},
      {"gather_nd", "gather_nd", {x, {"places", "i64", {2, 2}, {1, 2, 1, 2}}}},
      {"scatter",
       "scatter",
       {floats("x", {3, 4}), floats("updates", {2, 3}), {"places", "i64", {2, 3}, {0, 2, 0, 1, 3, 3}}}},
      {"scatter_add",
       "scatter_add",
       {floats("x", {3, 4}), floats("updates", {2, 3}), {"places", "i32", {2, 3}, {0, 2, 0, 1, 9, -1}}},
       {{"axis", int64_t{0}}}},
      {"scatter_nd_add",
       "scatter_nd_add",
       {x, floats("updates", {3, 4}), {"places", "i64", {3, 2}, {0, 1, 1, 2, 0, 1}}}},
      {"scatter_nd",
       "scatter_nd",
       {x, floats("updates", {2, 2, 4}), {"places", "i64", {2, 2, 2}, {0, 1, 1, 2, 0, 1, 1, 0}}}},
      {"scatter_nd_of_one", "scatter_nd", {x, floats("updates", {3, 4}), {"places", "i64", {1}, {1}}}},
      {"top_k", "top_k", {floats("x", {2, 5})}, {{"k", int64_t{2}}}},
      {"bottom_k", "bottom_k", {floats("x", {5, 2})}, {{"k", int64_t{3}}, {"axis", int64_t{0}}}},
      {"cast", "cast", {x}, {{"dtype", std::string("f32")}}},
  };
}

/// Two updates at one place, one that leaves src as it is, and one outside.
std::vector<Rule> scatters() {
  const Given x{"x", "f32", {2, 3}, {1, 5, -2, 4, 0.5F, 3}};
  const Given places{"places", "i64", {2, 4}, {0, 2, 2, 1, -1, 1, 1, 7}};
  const Given updates{"updates", "f32", {2, 4}, {2, -3, -1, 4, 3.5F, 6, 7, 1}};
  const Given apart{"updates", "f32", {2, 2, 3}, {2, 7, -3, 2.5F, 3, 4, 5, 6, 2, -1, -2, -3.5F}};
  const Given rows{"rows", "i32", {2, 2, 1}, {0, 1, 1, 0}};
  const Given zeros{"updates", "f32", {2, 4}, {0, -3, 0, 4, 0, 2, 0, 1}};
  std::vector<Rule> rules;
  for (const char* function : {"max", "min", "mul"}) {
    const std::string op = fmt::format("scatter_{}", function), nd = fmt::format("scatter_nd_{}", function);
    rules.push_back({op, op, {x, updates, places}});
    rules.push_back({nd, nd, {x, apart, rows}});
  }
  rules.push_back({"scatter_mul_by_zeros", "scatter_mul", {x, zeros, places}});
  rules.push_back({"fused_sampling",
                   "fused_sampling",
                   {floats("x", {2, 6}, -3, 3)},
                   {{"temperature", 0.0}, {"logprobs", int64_t{3}}}});
  for (Rule& rule : rules) rule.tolerance = 1e-3;
  return rules;
}

std::vector<Rule> shares() {
  const Given x = floats("x", {3, 4});
  return {
      {"dropout", "dropout", {x}, {{"p", 0.4}, {"seed", int64_t{3}}}},
      {"dropout_open", "dropout", {open(x)}, {{"p", 0.4}, {"seed", int64_t{3}}}, 3},
      {"band_part", "band_part", {x}, {{"num_lower", int64_t{1}}, {"num_upper", int64_t{0}}}},
      {"band_part_outside", "band_part", {x}, {{"num_lower", int64_t{0}}, {"exclude", true}}},
      {"outer", "outer", {floats("a", {3}), floats("b", {5})}},
      {"chunk", "chunk", {floats("x", {2, 6})}, {{"chunks", int64_t{3}}, {"axis", int64_t{-1}}}},
      {"split_into", "split_into", {floats("x", {2, 6})}, {{"sizes", List{1, 5}}, {"axis", int64_t{1}}}},
      {"split_into_one", "split_into", {x}, {{"sizes", List{3}}}},
      {"pad", "pad", {x}, {{"paddings", List{1, 2, 0, 3}}, {"value", 7.0}}},
      {"pad_open", "pad", {open(x)}, {{"paddings", List{0, 0, 2, 0}}}, 3},
      {"pad_by_nothing", "pad", {x}, {{"paddings", List{0, 0, 0, 0}}}},
      {"pad_reflect", "pad", {x}, {{"paddings", List{1, 0, 5, 4}}, {"mode", std::string("reflect")}}},
      {"pad_edge", "pad", {x}, {{"paddings", List{0, 2, 3, 1}}, {"mode", std::string("edge")}}},
      {"pad_wrap", "pad", {open(x)}, {{"paddings", List{0, 0, 2, 9}}, {"mode", std::string("wrap")}}, 3},
  };
}

std::vector<Rule> signals() {
  const Given spectrum = floats("x", {2, 4, 2});
  std::vector<Rule> rules{
      {"irfft", "irfft", {spectrum}},
      {"irfft_odd", "irfft", {spectrum}, {{"n", int64_t{7}}, {"normalization", std::string("ortho")}}},
      {"irfft_of_fewer_bins",
       "irfft",
       {spectrum},
       {{"n", int64_t{4}}, {"normalization", std::string("forward")}}},
      {"irfft_of_missing_bins", "irfft", {spectrum}, {{"n", int64_t{11}}}},
      {"irfft_open", "irfft", {open(spectrum)}, {}, 2},
      {"irfft_backward", "irfft_backward", {floats("x", {2, 6})}, {{"bins", int64_t{4}}}},
      {"irfft_backward_of_more_bins",
       "irfft_backward",
       {floats("x", {2, 5})},
       {{"bins", int64_t{4}}, {"normalization", std::string("ortho")}}}};
  return rules;
}

std::vector<Rule> images() {
  const Given line = floats("x", {2, 4, 7}), image = floats("x", {2, 2, 5, 6}),
              volume = floats("x", {1, 1, 3, 4, 3});
  const Given boxes = {
      "boxes", "constant", {3, 5}, {1, 1, 2, 8, 9, 0, -3, 0.5F, 11, 6, 0, 3.1F, 2, 4.5F, 2.9F}};
  const auto groups = [](int64_t many) { return graph::Attribute(many); };
  std::vector<Rule> rules{
      {"conv1d", "conv1d", {line, floats("w", {3, 4, 3}), floats("bias", {3})}},
      {"conv1d_strided",
       "conv1d",
       {line, floats("w", {2, 4, 2})},
       {{"stride", List{2}}, {"padding", List{1, 2}}}},
      {"conv1d_groups",
       "conv1d",
       {line, floats("w", {6, 2, 3}), floats("bias", {6})},
       {{"groups", groups(2)}, {"padding", List{1}}, {"dilation", List{2}}}},
      {"conv1d_each_channel",
       "conv1d",
       {line, floats("w", {4, 1, 4})},
       {{"groups", groups(4)}, {"stride", List{3}}}},
      {"conv1d_left_over",
       "conv1d",
       {floats("x", {2, 1, 9}), floats("w", {1, 1, 2})},
       {{"stride", List{4}}, {"dilation", List{2}}}},
      {"conv2d",
       "conv2d",
       {image, floats("w", {3, 2, 2, 3}), floats("bias", {3})},
       {{"stride", List{2, 1}}, {"padding", List{1, 0}}, {"dilation", List{1, 2}}}},
      {"conv3d",
       "conv3d",
       {volume, floats("w", {2, 1, 2, 2, 1}), floats("bias", {2})},
       {{"padding", List{1, 0, 0}}}},
      {"conv1d_transpose",
       "conv1d_transpose",
       {line, floats("w", {4, 3, 3}), floats("bias", {6})},
       {{"groups", groups(2)}, {"stride", List{2}}, {"padding", List{1}}, {"output_padding", List{1}}}},
      {"conv1d_transpose_beyond",
       "conv1d_transpose",
       {floats("x", {2, 1, 4}), floats("w", {1, 2, 2})},
       {{"dilation", List{3}}, {"output_padding", List{2}}}},
      {"conv2d_transpose",
       "conv2d_transpose",
       {image, floats("w", {2, 2, 2, 2})},
       {{"stride", List{1, 2}}, {"padding", List{0, 1, 1, 0}}}},
      {"conv3d_transpose", "conv3d_transpose", {volume, floats("w", {1, 2, 2, 1, 2})}},
      {"avg_pool1d", "avg_pool1d", {line}, {{"kernel", List{3}}, {"stride", List{2}}}},
      {"avg_pool1d_left_over", "avg_pool1d", {line}, {{"kernel", List{2}}, {"stride", List{3}}}},
      {"avg_pool2d_padded",
       "avg_pool2d",
       {image},
       {{"kernel", List{2, 3}}, {"stride", List{2}}, {"padding", List{1}}, {"ceil_mode", true}}},
      {"avg_pool2d_of_elements",
       "avg_pool2d",
       {image},
       {{"kernel", List{3, 2}}, {"stride", List{2}}, {"padding", List{1}}, {"count_include_pad", false}}},
      {"avg_pool3d", "avg_pool3d", {volume}, {{"kernel", List{2}}}},
      {"max_pool1d",
       "max_pool1d",
       {floats("x", {2, 4, 7}, -9, 9)},
       {{"kernel", List{3}}, {"stride", List{2}}}},
      {"max_pool2d",
       "max_pool2d",
       {floats("x", {2, 2, 5, 6}, -20, 20)},
       {{"kernel", List{2, 3}}, {"stride", List{2, 1}}, {"padding", List{1}}, {"ceil_mode", true}}},
      {"max_pool3d",
       "max_pool3d",
       {floats("x", {1, 1, 3, 4, 3}, -9, 9)},
       {{"kernel", List{2}}, {"dilation", List{1, 2, 1}}}},
      {"resize_nearest", "resize_nearest", {image}, {{"size", List{7, 4}}}},
      {"resize_linear",
       "resize_linear",
       {image},
       {{"size", List{8, 3}}, {"coordinates", std::string("align_corners")}}},
      {"resize_bicubic", "resize_bicubic", {line}, {{"size", List{4, 12}}, {"coefficient", -0.5}}},
      {"resize",
       "resize",
       {volume},
       {{"size", List{5, 4, 2}},
        {"mode", std::string("linear")},
        {"coordinates", std::string("asymmetric")}}},
      {"resize_backward",
       "resize_backward",
       {image},
       {{"size", List{3, 9}}, {"mode", std::string("bicubic")}}},
      {"roi_align",
       "roi_align",
       {image, boxes},
       {{"output_height", int64_t{2}}, {"output_width", int64_t{3}}, {"spatial_scale", 0.5}}},
      {"roi_align_max",
       "roi_align",
       {floats("x", {2, 2, 5, 6}, -20, 20), boxes},
       {{"output_height", int64_t{2}},
        {"output_width", int64_t{1}},
        {"sampling_ratio", int64_t{2}},
        {"aligned", true},
        {"mode", std::string("max")}}},
      {"fold",
       "fold",
       {floats("x", {2, 2 * 6, 8})},
       {{"output_size", List{4, 5}},
        {"kernel", List{3, 2}},
        {"stride", List{1, 2}},
        {"padding", List{1, 0}},
        {"dilation", List{1, 2}}}},
      {"fold_outside",
       "fold",
       {floats("x", {1, 8, 4})},
       {{"output_size", List{3, 2}}, {"kernel", List{2}}, {"stride", List{3, 2}}, {"padding", List{2, 1}}}},
      {"group_norm",
       "group_norm",
       {line, floats("w", {4}), floats("bias", {4})},
       {{"num_groups", groups(2)}}},
      {"group_norm_plain", "group_norm", {image}, {{"num_groups", groups(1)}, {"epsilon", 1e-3}}},
  };
  const Given many = open(floats("x", {2, 4, 5}));
  rules.push_back({"fold_open",
                   "fold",
                   {open(floats("x", {2, 4, 6}))},
                   {{"output_size", List{3, 4}}, {"kernel", List{2}}},
                   2});
  rules.push_back(
      {"max_pool1d_open", "max_pool1d", {open(floats("x", {2, 4, 5}, -9, 9))}, {{"kernel", List{2}}}, 2});
  rules.push_back({"resize_open", "resize_linear", {many}, {{"size", List{7}}}, 2});
  rules.push_back({"avg_pool1d_open", "avg_pool1d", {many}, {{"kernel", List{2}}}, 2});
  rules.push_back(
      {"group_norm_open", "group_norm", {many, floats("w", {4})}, {{"num_groups", groups(2)}}, 2});
  for (Rule& rule : rules) rule.tolerance = 1e-3;
  return rules;
}

std::string name_of_rule(const testing::TestParamInfo<Rule>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Functions, Rules, testing::ValuesIn(functions()), name_of_rule);
INSTANTIATE_TEST_SUITE_P(Reductions, Rules, testing::ValuesIn(reductions()), name_of_rule);
INSTANTIATE_TEST_SUITE_P(Products, Rules, testing::ValuesIn(products()), name_of_rule);
INSTANTIATE_TEST_SUITE_P(Moves, Rules, testing::ValuesIn(moves()), name_of_rule);
INSTANTIATE_TEST_SUITE_P(Scatters, Rules, testing::ValuesIn(scatters()), name_of_rule);
INSTANTIATE_TEST_SUITE_P(Shares, Rules, testing::ValuesIn(shares()), name_of_rule);
INSTANTIATE_TEST_SUITE_P(Signals, Rules, testing::ValuesIn(signals()), name_of_rule);
INSTANTIATE_TEST_SUITE_P(Images, Rules, testing::ValuesIn(images()), name_of_rule);

/// Of a scalar, by sources.
std::vector<Floats> gradients_of(const Maker& make, ValueId end, const std::vector<ValueId>& by,
                                 const std::vector<std::pair<ValueId, Floats>>& givens,
                                 const Bindings& sizes = {}) {
  const Differentiated of{end};
  const auto made = differentiate(make.graph, {&of, 1}, by);
  EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().to_string());
  if (!made.ok()) return {};
  EXPECT_TRUE(graph::verify(made->graph).empty());
  return run(made->graph, made->values, givens, sizes);
}

std::string refusal(const Maker& make, const Differentiated& of, const std::vector<ValueId>& by) {
  const auto made = differentiate(make.graph, {&of, 1}, by);
  return made.ok() ? "nothing refused" : made.error().to_string();
}

TEST(Differentiate, TiesBelongToTheFirst) {
  Maker make;
  const ValueId x = make.input("x", "f32", "2,2"), y = make.input("y", "f32", "2,2");
  const ValueId both = make.op("maximum", "both", {x, y});
  const ValueId most = make.op("max", "most", {both}, {{"axis", List{0}}});
  const auto gradients =
      gradients_of(make, make.op("sum", "all", {most}), {x, y}, {{x, {1, 3, 1, 3}}, {y, {1, 2, 1, 3}}});
  ASSERT_EQ(gradients.size(), 2U);
  EXPECT_THAT(gradients[0], ElementsAre(1, 1, 0, 0));
  EXPECT_THAT(gradients[1], ElementsAre(0, 0, 0, 0));
}

/// src comes before the updates, and these have their turns in their order.
TEST(Differentiate, TiesOfScattersBelongToTheFirst) {
  Maker make;
  const ValueId x = make.input("x", "f32", "3"), updates = make.input("updates", "f32", "4"),
                places = make.input("places", "i64", "4");
  const ValueId most = make.op("scatter_max", "most", {x, updates, places});
  const auto gradients = gradients_of(make, make.op("sum", "all", {most}), {x, updates},
                                      {{x, {2, 1, 5}}, {updates, {2, 3, 3, 1}}, {places, {0, 1, 1, 2}}});
  ASSERT_EQ(gradients.size(), 2U);
  EXPECT_THAT(gradients[0], ElementsAre(1, 0, 1));
  EXPECT_THAT(gradients[1], ElementsAre(0, 1, 0, 0));
}

TEST(Differentiate, AddsUpTheUsesOfAValueAndGivesZerosForWhatIsUnused) {
  Maker make;
  const ValueId x = make.input("x", "f32", "3"), unused = make.input("unused", "f32", "tokens,2");
  const ValueId square = make.op("mul", "square", {x, x});
  const ValueId twice = make.op("add", "twice", {square, x});  // x^2 + x
  const ValueId last = make.op("mul", "last", {twice, x});     // x^3 + x^2
  const auto gradients = gradients_of(make, make.op("sum", "all", {last}), {x, unused, square},
                                      {{x, {1, 2, -1}}, {unused, {9, 9, 9, 9}}}, {{kTokens, 2}});
  ASSERT_EQ(gradients.size(), 3U);
  EXPECT_THAT(gradients[0], ElementsAre(5, 16, 1));  // 3 x^2 + 2 x
  EXPECT_THAT(gradients[1], ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(gradients[2], ElementsAre(1, 2, -1));  // of a value that a node makes
}

/// Of a polynomial, again and again.
TEST(Differentiate, DifferentiatesWhatItMade) {
  Maker make;
  const ValueId x = make.input("x", "f32", "2");
  ValueId power = x;
  for (int i = 0; i < 3; ++i) power = make.op("mul", fmt::format("power_{}", i), {power, x});
  ValueId value = power;  // x^4
  for (const Floats& expected : {Floats{4, 32}, {12, 48}, {24, 48}, {24, 24}}) {
    const Differentiated of{make.op("sum", fmt::format("sum_of_{}", value.value), {value})};
    auto made = differentiate(make.graph, {&of, 1}, {&x, 1});
    ASSERT_TRUE(made.ok()) << made.error().to_string();
    EXPECT_THAT(run(made->graph, made->values, {{x, {1, 2}}}, {}), ElementsAre(expected));
    make.graph = std::move(made->graph);
    value = made->values[0];
  }
}

TEST(Differentiate, IsWhatOneWritesByHandOfAPerceptron) {
  Maker make;
  const Given x = floats("x", {3, 4}), w = floats("w", {4, 5}), b = floats("b", {5}), v = floats("v", {5, 2});
  std::vector<ValueId> in;
  for (const Given& given : {x, w, b, v})
    in.push_back(make.input(given.name, "f32", fmt::format("{}", fmt::join(given.shape, ","))));
  const ValueId product = make.op("matmul", "product", {in[0], in[1]});
  const ValueId hidden = make.op("sigmoid", "hidden", {make.op("add", "biased", {product, in[2]})});
  const ValueId out = make.op("matmul", "out", {hidden, in[3]});
  const ValueId loss = make.op("sum", "loss", {make.op("mul", "squares", {out, out})});
  const auto got =
      gradients_of(make, loss, {in[1], in[2], in[3]},
                   {{in[0], x.numbers}, {in[1], w.numbers}, {in[2], b.numbers}, {in[3], v.numbers}});
  ASSERT_EQ(got.size(), 3U);
  std::vector<double> dw(20), db(5), dv(10);
  for (size_t n = 0; n < 3; ++n) {
    double h[5], o[2] = {0, 0};
    for (size_t j = 0; j < 5; ++j) {
      double sum = b.numbers[j];
      for (size_t i = 0; i < 4; ++i) sum += double{x.numbers[n * 4 + i]} * double{w.numbers[i * 5 + j]};
      h[j] = 1 / (1 + std::exp(-sum));
      for (size_t k = 0; k < 2; ++k) o[k] += h[j] * double{v.numbers[j * 2 + k]};
    }
    for (size_t j = 0; j < 5; ++j) {
      double dh = 0;
      for (size_t k = 0; k < 2; ++k) {
        dv[j * 2 + k] += 2 * o[k] * h[j];
        dh += 2 * o[k] * double{v.numbers[j * 2 + k]};
      }
      const double da = dh * h[j] * (1 - h[j]);
      db[j] += da;
      for (size_t i = 0; i < 4; ++i) dw[i * 5 + j] += da * double{x.numbers[n * 4 + i]};
    }
  }
  const auto expect = [](const std::vector<float>& values, const std::vector<double>& expected) {
    ASSERT_EQ(values.size(), expected.size());
    for (size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i], 1e-5);
  };
  expect(got[0], dw);
  expect(got[1], db);
  expect(got[2], dv);
}

TEST(Differentiate, BuildsNothingThatNoGradientNeeds) {
  Maker make;
  const ValueId x = make.input("x", "f32", "3"), y = make.input("y", "f32", "3");
  const ValueId end = make.op("sum", "all", {make.op("mul", "product", {make.op("exp", "e", {x}), y})});
  const size_t before = make.graph.order().size();
  const Differentiated of{end};
  const auto made = differentiate(make.graph, {&of, 1}, {&y, 1});
  ASSERT_TRUE(made.ok());
  // one, repeated over the sum, and times e
  EXPECT_EQ(made->graph.order().size(), before + 3);
  for (size_t i = before; i < made->graph.order().size(); ++i)
    EXPECT_THAT(made->graph.node(made->graph.order()[i]).path(), testing::StartsWith("grad."));
  EXPECT_EQ(made->graph.outputs(), make.graph.outputs());
}

TEST(Differentiate, KeepsTypesAndScopes) {
  graph::Graph graph(ops::registry());
  const auto add = [&](std::string op, std::string scope, std::string name, Attributes attributes,
                       std::vector<ValueId> inputs) {
    const auto node = graph.add_node(
        {std::move(op), std::move(scope), std::move(name), std::move(attributes), std::move(inputs), {}, {}});
    EXPECT_TRUE(node.ok()) << (node.ok() ? "" : node.error().to_string());
    return graph.node(*node).outputs.front();
  };
  const ValueId x =
      add("input", "", "x",
          {{"name", std::string("x")}, {"dtype", std::string("bf16")}, {"shape", std::string("4")}}, {});
  const ValueId wide = add("cast", "layers.0", "wide", {{"dtype", std::string("f32")}}, {x});
  const ValueId end = add("sum", "layers.1.mlp", "all", {}, {add("exp", "layers.1.mlp", "e", {}, {wide})});
  const Differentiated of{end};
  const auto made = differentiate(graph, {&of, 1}, {&x, 1});
  ASSERT_TRUE(made.ok()) << made.error().to_string();
  EXPECT_EQ(to_string(made->graph.value(made->values[0]).type), "bf16[4]");
  EXPECT_TRUE(made->graph.find_path("grad.layers.1.mlp.e_mul").valid());
  EXPECT_TRUE(made->graph.find_path("grad.layers.0.wide_cast").valid());
}

TEST(Differentiate, NothingFlowsThroughSteps) {
  Maker make;
  const ValueId x = make.input("x", "f32", "3");
  const ValueId down = make.op("floor", "down", {x});
  const auto gradients = gradients_of(make, make.op("sum", "all", {make.op("mul", "product", {down, x})}),
                                      {x}, {{x, {1.5, 2.5, -0.5}}});
  ASSERT_EQ(gradients.size(), 1U);
  EXPECT_THAT(gradients[0], ElementsAre(1, 2, -1));
}

TEST(Differentiate, RefusesWhatHasNoGradient) {
  Maker make;
  const ValueId x = make.input("x", "f32", "2,4"), whole = make.input("whole", "i64", "4"),
                apart = make.input("apart", "f32", "3");
  const ValueId end = make.op("sum", "all", {x}), places = make.op("argmax", "places", {x});
  EXPECT_THAT(refusal(make, {x}, {x}), HasSubstr("f32[2, 4], which is not one number"));
  EXPECT_THAT(refusal(make, {end}, {whole}),
              HasSubstr("i64[4], and only floats have gradients (whole:value)"));
  EXPECT_THAT(refusal(make, {places}, {x}), HasSubstr("only floats have gradients (places:dst)"));
  EXPECT_THAT(refusal(make, {end}, {apart}), HasSubstr("does not depend on apart:value (all:dst)"));
  EXPECT_THAT(refusal(make, {x, apart}, {x}), HasSubstr("f32[2, 4], but its gradient is f32[3]"));
  EXPECT_THAT(refusal(make, {ValueId{999}}, {x}), HasSubstr("no such value (%999)"));
  EXPECT_THAT(refusal(make, {end}, {}), HasSubstr("nothing to differentiate"));
  const ValueId line = make.input("line", "f32", "1, 2, 3"), given = make.input("given", "f32", "1, 2, 2"),
                twice = make.op("max_pool_backward", "twice", {given, line}, {{"kernel", List{2}}});
  EXPECT_THAT(refusal(make, {make.op("sum", "most", {twice})}, {given}),
              HasSubstr("The op max_pool_backward has no gradient (twice)"));
}

TEST(Differentiate, RefusesPartsThatNoRuleKnows) {
  Maker make;
  const auto of = [&](ValueId value) {
    return Differentiated{make.op("sum", fmt::format("sum_{}", make.graph.order().size()), {value})};
  };
  const ValueId query = make.input("query", "f32", "1,2,3,4");
  const ValueId out = make.op("flash_attention", "attend", {query, query, query});
  const ValueId sums = make.graph.node(make.graph.value(out).producer).outputs[1];
  EXPECT_THAT(
      refusal(make, of(sums), {query}),
      HasSubstr("The gradient of flash_attention is not known here: a gradient comes back to log_sum_exp"));
  const ValueId noise = make.input("noise", "f32", "1,2,3,4");
  const ValueId fast =
      make.op("fastmax", "fast", {query, query, query, ValueId{}, noise}, {{"dropout", 0.5}});
  EXPECT_THAT(refusal(make, of(fast), {noise}), HasSubstr("gives none of noise"));
  const ValueId images = make.input("images", "f32", "tokens,2,5"),
                weight = make.input("weight", "f32", "3,2,2");
  const ValueId convolved = make.op("conv1d", "convolved", {images, weight});
  EXPECT_THAT(refusal(make, of(convolved), {weight}), HasSubstr("how many images there are differs"));
  EXPECT_EQ(refusal(make, of(convolved), {images}), "nothing refused");
}

TEST(Differentiate, EveryOpOfTensorsSaysWhetherGradientsFlow) {
  for (const graph::OpPtr& op : ops::registry()->all())
    EXPECT_FALSE(op->gradient && op->stops_gradient) << op->name;
}

}  // namespace
}  // namespace orrery::passes::test
