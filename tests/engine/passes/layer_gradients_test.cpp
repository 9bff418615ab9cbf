// The rules of the ops of layers beside differences.
#include "tests/engine/passes/gradients.h"

namespace orrery::passes::test {
namespace {

using graph::Attributes;

/// One op on operands, rows of which are a step's; its outputs are differentiated, all or the first ones.
struct Layer {
  std::string name, op;
  std::vector<Given> givens;
  Attributes attributes = {};
  int64_t tokens = 3, sequences = 1, outputs = 2;
  double tolerance = 5e-4;
  size_t outputs_differentiated = 99;  // the first ones
};

void PrintTo(const Layer& layer, std::ostream* stream) { *stream << layer.name; }

class Layers : public testing::TestWithParam<Layer> {};

TEST_P(Layers, AreWhatDifferencesGive) {
  const Layer& layer = GetParam();
  Gradient gradient(
      layer.givens,
      [&](Maker& make, const std::vector<ValueId>& inputs) {
        const ValueId made = make.op(layer.op, "made", inputs, layer.attributes);
        std::vector<ValueId> outputs;
        for (const ValueId output : make.graph.node(make.graph.value(made).producer).outputs)
          if (outputs.size() < layer.outputs_differentiated && is_float(make.graph.value(output).type.dtype))
            outputs.push_back(output);
        return outputs;
      },
      {{kTokens, layer.tokens}, {kSequences, layer.sequences}, {kOutputs, layer.outputs}});
  gradient.expect_differences(layer.tolerance);
}

/// Of a parallel residual: two sources, two norms and their sum.
TEST(ParallelResidual, IsWhatDifferencesGive) {
  Gradient gradient({floats("x", {3, 8}), floats("residual", {3, 8}), floats("w", {8}), floats("bias", {8}),
                     floats("second", {3, 8}), floats("w2", {8}), floats("bias2", {8})},
                    [](Maker& make, const std::vector<ValueId>& in) {
                      const ValueId none, made = make.op("dropout_add_layer_norm", "made",
                                                         {in[0], in[1], in[2], in[3], none, none, none, none,
                                                          in[4], in[5], in[6]},
                                                         {{"p", 0.25}, {"seed", int64_t{7}}});
                      const auto& all = make.graph.node(make.graph.value(made).producer).outputs;
                      return std::vector{all.at(0), all.at(1), all.at(4)};
                    });
  gradient.expect_differences(5e-4);
}

Given rows(std::string name, int64_t cols, float low = -1, float high = 1) {
  return rows_of(floats(std::move(name), {3, cols}, low, high), kTokens);
}

std::vector<Layer> activations() {
  std::vector<Layer> layers;
  for (const char* op : {"silu", "tanh"}) layers.push_back({op, op, {rows("x", 4, -3, 3)}});
  layers.push_back({"relu", "relu", {rows("x", 4, -3, 3)}});
  layers.push_back({"gelu", "gelu", {rows("x", 4, -3, 3)}});
  layers.push_back({"gelu_tanh", "gelu", {rows("x", 4, -3, 3)}, {{"approximation", std::string("tanh")}}});
  layers.push_back({"gelu_quick", "gelu", {rows("x", 4, -3, 3)}, {{"approximation", std::string("quick")}}});
  layers.push_back({"scale", "scale", {rows("x", 4)}, {{"factor", -1.5}}});
  layers.push_back({"l2_normalise", "l2_normalise", {rows("x", 4)}});
  return layers;
}

std::vector<Layer> linears() {
  std::vector<Layer> layers;
  for (const char* epilogue : {"none", "silu", "gelu_tanh", "gelu_erf", "tanh"})
    layers.push_back({fmt::format("linear_{}", epilogue),
                      "linear",
                      {rows("x", 4), weight("w", {5, 4}), weight("bias", {5})},
                      {{"epilogue", std::string(epilogue)}}});
  for (const auto& [dtype, cols] : {std::pair("Q8_0", 32), {"Q4_1", 32}, {"Q4_K", 256}, {"bf16", 32}})
    layers.push_back(
        {fmt::format("linear_of_{}", dtype), "linear", {rows("x", cols), weight("w", {3, cols}, dtype)}});
  layers.push_back({"embedding",
                    "embedding",
                    {step_input("token_ids", {2, 0, 2}), weight("table", {4, 3})},
                    {{"scale", 2.0}, {"offset", int64_t{1}}}});
  layers.push_back({"table_row", "table_row", {weight("table", {3, 4})}, {{"row", int64_t{1}}}});
  layers.push_back({"dequantise", "dequantise", {weight("table", {3, 4})}});
  return layers;
}

std::vector<Layer> norms() {
  std::vector<Layer> layers;
  const Given x = rows("x", 6), residual = rows("residual", 6), w = weight("w", {6}),
              bias = weight("bias", {6});
  const Attributes eps{{"eps", 1e-3}};
  const auto with = [&](std::string name, graph::Attribute value) {
    Attributes attributes = eps;
    attributes.insert_or_assign(std::move(name), std::move(value));
    return attributes;
  };
  layers.push_back({"rms_norm", "rms_norm", {x, w}, eps});
  layers.push_back({"rms_norm_unit_offset", "rms_norm", {x, w}, with("unit_offset", true)});
  layers.push_back({"rms_norm_groups", "rms_norm", {x, weight("w", {3})}, with("groups", int64_t{2})});
  layers.push_back(
      {"rms_norm_own_weights", "rms_norm", {x, weight("w", {2, 3})}, with("groups", int64_t{2})});
  layers.push_back({"layer_norm", "layer_norm", {x, w, bias}, eps});
  layers.push_back({"layer_norm_groups",
                    "layer_norm",
                    {x, weight("w", {3}), weight("bias", {3})},
                    with("groups", int64_t{2})});
  layers.push_back({"layer_norm_own_weights",
                    "layer_norm",
                    {x, weight("w", {2, 3}), weight("bias", {2, 3})},
                    with("groups", int64_t{2})});
  layers.push_back({"add_rms_norm", "add_rms_norm", {x, residual, w}, eps});
  layers.push_back({"add_layer_norm", "add_layer_norm", {x, residual, w, bias}, eps});
  layers.push_back({"dropout_add_layer_norm",
                    "dropout_add_layer_norm",
                    {floats("x", {3, 8}), floats("residual", {3, 8}), floats("w", {8}), floats("bias", {8})},
                    {{"p", 0.25}, {"seed", int64_t{7}}}});
  return layers;
}

/// Two texts, of two tokens and one.
Given starts() { return step_input("sequence_starts", {0, 2, 3}); }

std::vector<Layer> places() {
  std::vector<Layer> layers;
  layers.push_back({"select_rows", "select_rows", {rows("x", 4), step_input("output_rows", {2, 0})}});
  for (const char* kind : {"mean", "first", "last"})
    layers.push_back({fmt::format("pool_{}", kind),
                      "pool",
                      {rows("x", 4), starts()},
                      {{"kind", std::string(kind)}},
                      3,
                      2});
  layers.push_back({"all_reduce", "all_reduce", {rows("x", 4), rows("y", 4)}});
  for (const char* style : {"half", "interleaved"})
    layers.push_back({fmt::format("rope_{}", style),
                      "rope",
                      {rows("x", 12), step_input("positions", {0, 3, 40})},
                      {{"style", std::string(style)},
                       {"heads", int64_t{2}},
                       {"head_dim", int64_t{6}},
                       {"rope_dims", int64_t{4}},
                       {"base", 100.0},
                       {"attention_factor", 1.25}}});
  return layers;
}

Layer attention(std::string name, int64_t tokens, std::vector<float> text_starts, bool causal,
                int64_t window) {
  const auto side = [&](std::string side, int64_t cols) {
    return rows_of(floats(std::move(side), {tokens, cols}), kTokens);
  };
  return {"attention_" + name,
          "packed_attention",
          {side("q", 12), side("key", 6), side("value", 6), step_input("sequence_starts", text_starts)},
          {{"heads", int64_t{4}},
           {"kv_heads", int64_t{2}},
           {"scale", 0.7},
           {"causal", causal},
           {"window", window}},
          tokens,
          static_cast<int64_t>(text_starts.size()) - 1};
}

std::vector<Layer> attentions() {
  return {attention("of_a_text", 4, {0, 4}, false, 0), attention("causal", 4, {0, 4}, true, 0),
          attention("of_two_texts", 5, {0, 2, 5}, false, 0), attention("window", 5, {0, 5}, false, 2),
          attention("causal_window", 5, {0, 1, 5}, true, 2)};
}

/// (batch, heads, tokens, head_dim), one token of each head being the longest by far: what its length scales
/// would have a kink where two are alike.
Given with_a_longest(Given given) {
  const auto dim = static_cast<size_t>(given.shape[3]), head = static_cast<size_t>(given.shape[2]) * dim;
  for (size_t first = 0; first < given.numbers.size(); first += head)
    for (size_t i = 0; i < dim; ++i)
      given.numbers[first + i] = given.numbers[first + i] < 0 ? -1.5F - 0.1F * static_cast<float>(i) : 1.5F;
  return given;
}

/// Attention over tensors: batch 2, 4 heads of query, 2 of key and value, head_dim 3.
std::vector<Layer> tensor_attentions() {
  const std::vector<Given> three{with_a_longest(floats("query", {2, 4, 3, 3})),
                                 with_a_longest(floats("key", {2, 2, 5, 3})), floats("value", {2, 2, 5, 3})};
  const auto with = [&](std::vector<Given> more) {
    std::vector<Given> all = three;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const auto op = [](std::string name, std::string op, std::vector<Given> givens, Attributes attributes) {
    Layer layer{std::move(name), std::move(op), std::move(givens), std::move(attributes)};
    layer.outputs_differentiated = 1;
    return layer;
  };
  return {op("flash_attention", "flash_attention", three, {}),
          op("flash_attention_bias", "flash_attention", with({floats("bias", {4, 3, 5})}),
             {{"causal", true}, {"scale", 0.8}}),
          op("flash_attention_softcap", "flash_attention", three,
             {{"softcap", 2.0}, {"window_left", int64_t{1}}}),
          op("flash_attention_dropout", "flash_attention", three, {{"dropout", 0.3}, {"seed", int64_t{4}}}),
          op("fastmax", "fastmax", three, {}),
          op("fastmax_causal", "fastmax", three, {{"causal", true}, {"normalise", false}}),
          op("fastmax_rpe", "fastmax", with({floats("rpe", {9, 3})}), {{"temperature", 2.0}}),
          op("fastmax_linear", "fastmax", three, {{"p", int64_t{1}}, {"temperature", 2.0}})};
}

std::string name_of_layer(const testing::TestParamInfo<Layer>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Activations, Layers, testing::ValuesIn(activations()), name_of_layer);
INSTANTIATE_TEST_SUITE_P(Linears, Layers, testing::ValuesIn(linears()), name_of_layer);
INSTANTIATE_TEST_SUITE_P(Norms, Layers, testing::ValuesIn(norms()), name_of_layer);
INSTANTIATE_TEST_SUITE_P(Places, Layers, testing::ValuesIn(places()), name_of_layer);
INSTANTIATE_TEST_SUITE_P(Attentions, Layers, testing::ValuesIn(attentions()), name_of_layer);
INSTANTIATE_TEST_SUITE_P(TensorAttentions, Layers, testing::ValuesIn(tensor_attentions()), name_of_layer);

}  // namespace
}  // namespace orrery::passes::test
