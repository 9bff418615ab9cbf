// The rules of the ops of layers beside differences.
#include "engine/passes/whole_text.h"
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
  layers.push_back({"all_gather", "all_gather", {rows("x", 4), rows("y", 3)}});
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

/// Of Fastmax, and with biases by distance.
std::vector<Layer> other_attentions() {
  std::vector<Layer> layers;
  const auto fastmax = [&](const std::string& name, int64_t p, bool normalise, double limit) {
    Layer layer = attention("fastmax_" + name, 5, {0, 1, 5}, p == 1, p == 1 ? 3 : 0);
    layer.attributes.insert(
        {{"kind", std::string("fastmax")}, {"p", p}, {"normalise", normalise}, {"limit", limit}});
    layer.attributes.insert_or_assign("scale", 0.25);
    layers.push_back(std::move(layer));
  };
  fastmax("squares", 2, true, 1.5);
  fastmax("squares_of_scores", 2, false, 1.0);
  fastmax("line", 1, true, 0.9);
  fastmax("line_of_scores", 1, false, 1.0);
  for (const char* dtype : {"f32", "bf16"}) {
    Layer layer = attention(fmt::format("bias_{}", dtype), 6, {0, 5, 6}, false, 0);
    layer.givens.push_back(weight("bias", {8, 4}, dtype));
    layers.push_back(std::move(layer));
  }
  return layers;
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

/// A token's experts by its logits, whose weights and what they make are differentiated.
struct Mixture {
  std::string name, activation, dtype = "f32";
  bool normalise = true, fused = false;
  int64_t width = 4, inner = 3;
};

void PrintTo(const Mixture& mixture, std::ostream* stream) { *stream << mixture.name; }

class Mixtures : public testing::TestWithParam<Mixture> {};

TEST_P(Mixtures, AreWhatDifferencesGive) {
  const Mixture& mixture = GetParam();
  constexpr int64_t kExperts = 4;
  const float size = 4.0F / static_cast<float>(mixture.width);  // sums of a row stay near 1
  std::vector<Given> givens{
      rows("x", mixture.width, -size, size), rows("logits", kExperts, -3, 3),
      weight("down", {kExperts, mixture.width, mixture.inner}, mixture.dtype),
      weight("gate", {kExperts, mixture.inner * (mixture.fused ? 2 : 1), mixture.width}, mixture.dtype)};
  if (!mixture.fused) givens.push_back(weight("up", {kExperts, mixture.inner, mixture.width}, mixture.dtype));
  Gradient gradient(
      givens,
      [&](Maker& make, const std::vector<ValueId>& in) {
        const ValueId experts = make.op("top_experts", "router", {in[1]},
                                        {{"active", int64_t{2}}, {"normalise", mixture.normalise}});
        const ValueId weights = make.graph.node(make.graph.value(experts).producer).outputs[1];
        return std::vector{weights,
                           make.op("expert_mlp", "experts",
                                   {in[0], experts, weights, in[2], in[3], in.size() > 4 ? in[4] : ValueId{}},
                                   {{"activation", mixture.activation}})};
      },
      {{kTokens, 3}});
  gradient.expect_differences(1e-3);
}

INSTANTIATE_TEST_SUITE_P(Experts, Mixtures,
                         testing::Values(Mixture{"silu", "silu"}, Mixture{"gelu", "gelu_tanh"},
                                         Mixture{"not_normalised", "silu", "f32", false},
                                         Mixture{"fused", "silu", "f32", true, true},
                                         Mixture{"bf16", "silu", "bf16"},
                                         Mixture{"Q8_0", "silu", "Q8_0", true, true, 32, 32},
                                         Mixture{"Q4_K", "gelu_tanh", "Q4_K", false, false, 256, 256}),
                         [](const testing::TestParamInfo<Mixture>& info) { return info.param.name; });

/// A convolution and a scan over records, and the same over whole texts, of three tokens and of two.
struct Recurrences {
  static constexpr int64_t kChannels = 3, kStates = 2, kKernel = 3, kTokenCount = 5;

  std::vector<Given> givens(const char* dtype, bool log_a) const {
    std::vector<Given> all{step_input("positions", {0, 1, 2, 0, 1}),
                           of_tokens("x", kChannels),
                           of_tokens("delta", kChannels, -2, 2),
                           of_tokens("b", kStates),
                           of_tokens("c", kStates),
                           weight("taps", {kChannels, 1, kKernel}, dtype),
                           weight("bias", {kChannels}),
                           weight("a", {kChannels, kStates}, dtype),
                           weight("d", {kChannels}, dtype)};
    if (!log_a)
      for (float& number : all[7].numbers) number -= 1.5F;  // states fade
    return all;
  }
  ValueId build(Maker& make, const std::vector<ValueId>& in, bool log_a) const {
    const auto state = [&](const std::string& name, int64_t rows) {
      return make.op("state", name, {},
                     {{"name", name},
                      {"layer", int64_t{0}},
                      {"kind", std::string("record")},
                      {"shape", std::vector<int64_t>{rows, kChannels}}});
    };
    const ValueId convolved =
        make.op("causal_convolution", "convolved", {state("taps_kept", kKernel - 1), in[1], in[5], in[6]});
    return make.op("selective_scan", "scanned",
                   {state("states_kept", kStates), convolved, in[2], in[3], in[4], in[7], in[8]},
                   {{"log_a", log_a}});
  }

 private:
  static Given of_tokens(std::string name, int64_t cols, float low = -1, float high = 1) {
    return rows_of(floats(std::move(name), {kTokenCount, cols}, low, high), kTokens);
  }
};

std::vector<ValueId> whole(Maker& make, ValueId output) {
  make.graph.set_outputs({output});
  auto spelled = with_whole_text(make.graph);
  EXPECT_TRUE(spelled.ok()) << (spelled.ok() ? "" : spelled.error().to_string());
  if (spelled.ok()) make.graph = std::move(*spelled);
  EXPECT_TRUE(graph::verify(make.graph).empty());
  return make.graph.outputs();
}

TEST(WholeText, RecurrencesAreWhatDifferencesGive) {
  for (const bool log_a : {false, true}) {
    const Recurrences recurrences;
    Gradient gradient(recurrences.givens(log_a ? "bf16" : "f32", log_a),
                      [&](Maker& make, const std::vector<ValueId>& in) {
                        return whole(make, recurrences.build(make, in, log_a));
                      },
                      {{kTokens, Recurrences::kTokenCount}, {kSequences, 2}});
    gradient.expect_differences(5e-4);
  }
}

TEST(WholeText, RecurrencesAreThoseOfTheirFormulas) {
  using R = Recurrences;
  const R recurrences;
  Maker make;
  const std::vector<Given> givens = recurrences.givens("f32", false);
  std::vector<ValueId> in;
  std::vector<std::pair<ValueId, Floats>> all;
  for (const Given& given : givens) {
    in.push_back(source_of(make, given));
    all.emplace_back(in.back(), given.numbers);
  }
  const std::vector<ValueId> outputs = whole(make, recurrences.build(make, in, false));
  const Floats got = run(make.graph, outputs, all, {{kTokens, R::kTokenCount}, {kSequences, 2}}).front();
  const auto at = [&](size_t given, int64_t row, int64_t col, int64_t cols) {
    return double{givens[given].numbers[static_cast<size_t>(row * cols + col)]};
  };
  ASSERT_EQ(got.size(), static_cast<size_t>(R::kTokenCount * R::kChannels));
  for (int64_t channel = 0; channel < R::kChannels; ++channel) {
    double h[R::kStates] = {};
    for (int64_t t = 0; t < R::kTokenCount; ++t) {
      const int64_t first = t < 3 ? 0 : 3;  // of its text
      double x = at(6, 0, channel, 1);
      for (int64_t k = 0; k < R::kKernel; ++k)
        if (const int64_t from = t - (R::kKernel - 1) + k; from >= first)
          x += at(5, channel, k, R::kKernel) * at(1, from, channel, R::kChannels);
      const double step = std::log1p(std::exp(at(2, t, channel, R::kChannels)));
      double expected = at(8, 0, channel, 1) * x;
      for (int64_t n = 0; n < R::kStates; ++n) {
        h[n] = (t == first ? 0 : std::exp(step * at(7, channel, n, R::kStates)) * h[n]) +
               step * at(3, t, n, R::kStates) * x;
        expected += at(4, t, n, R::kStates) * h[n];
      }
      EXPECT_NEAR(got[static_cast<size_t>(t * R::kChannels + channel)], expected, 1e-5)
          << t << " " << channel;
    }
  }
}

TEST(WholeText, StatesAreRefusedWithWhatToDo) {
  const Recurrences recurrences;
  Maker make;
  std::vector<ValueId> in;
  for (const Given& given : recurrences.givens("f32", false)) in.push_back(source_of(make, given));
  const Differentiated of{make.op("sum", "sum", {recurrences.build(make, in, false)})};
  const auto made = differentiate(make.graph, {&of, 1}, {&in[1], 1});
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.error().to_string(),
              testing::HasSubstr("The op selective_scan has no gradient: it reads a state"));
  EXPECT_THAT(made.error().advice, testing::HasSubstr("attribute a text"));
}

std::string name_of_layer(const testing::TestParamInfo<Layer>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Activations, Layers, testing::ValuesIn(activations()), name_of_layer);
INSTANTIATE_TEST_SUITE_P(Linears, Layers, testing::ValuesIn(linears()), name_of_layer);
INSTANTIATE_TEST_SUITE_P(Norms, Layers, testing::ValuesIn(norms()), name_of_layer);
INSTANTIATE_TEST_SUITE_P(Places, Layers, testing::ValuesIn(places()), name_of_layer);
INSTANTIATE_TEST_SUITE_P(Attentions, Layers, testing::ValuesIn(attentions()), name_of_layer);
INSTANTIATE_TEST_SUITE_P(OtherAttentions, Layers, testing::ValuesIn(other_attentions()), name_of_layer);
INSTANTIATE_TEST_SUITE_P(TensorAttentions, Layers, testing::ValuesIn(tensor_attentions()), name_of_layer);

}  // namespace
}  // namespace orrery::passes::test
