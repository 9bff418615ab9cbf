#include "engine/models/blocks.h"

#include <fmt/format.h>

namespace orrery::models {
namespace {

/// Node NAME over groups of a row, or over the whole of it; where TENSOR is empty, src itself.
struct NormPlace {
  std::string name, tensor;
  int64_t cols = 0, groups = 1;
  bool own_weights = false;  // each group has its own
};

class DecoderBuilder {
 public:
  DecoderBuilder(GraphBuilder& builder, const Decoder& decoder) : builder_(builder), decoder_(decoder) {}

  ValueId embed() {
    builder_.enter("embed");
    ValueId stream = lookup("token_embedding", graph::step_input::token_ids, decoder_.token_table,
                            decoder_.vocabulary, decoder_.embedding_scale);
    if (!decoder_.position_table.empty()) {
      const ValueId places = lookup("position_embedding", graph::step_input::positions,
                                    decoder_.position_table, decoder_.context_length, 1.0);
      stream = builder_.add("add", "add_position", {stream, places});
    }
    // Shared by the layers, so they belong to none.
    factors("rope_factors", decoder_.rope.factors);
    factors("rope_long_factors", decoder_.rope.long_factors);
    return stream;
  }

  ValueId layer(ValueId stream, int64_t number) {
    settings_ = decoder_.layer(number);
    if (settings_.state_space) return mixer(stream, number);
    builder_.enter(fmt::format("layers.{}.attention", number));
    const ValueId attended = residual(stream, attention(stream, number));
    builder_.enter(fmt::format("layers.{}.mlp", number));
    const ValueId src = decoder_.parallel_residual ? stream : attended;
    const bool own_norm = !settings_.tensors.mlp_norm.empty() || !decoder_.parallel_residual;
    const ValueId normed =
        own_norm ? norm(src, {"norm", settings_.tensors.mlp_norm, decoder_.width}) : attention_src_;
    const ValueId mixed = settings_.mixture ? mix_experts(builder_, normed, *settings_.mixture) : mlp(normed);
    return residual(attended, norm(mixed, {"post_norm", settings_.tensors.mlp_post_norm, decoder_.width}));
  }

  /// Tokens, logits.
  std::vector<ValueId> head(ValueId stream) {
    builder_.enter("output");
    const ValueId rows =
        builder_.add("select_rows", "select_rows", {stream, builder_.input(graph::step_input::output_rows)});
    const ValueId normed = norm(rows, {"norm", decoder_.output_norm, decoder_.width});
    const bool tied = !builder_.has(decoder_.output + ".weight");
    ValueId logits = builder_.linear(normed, {"lm_head", tied ? decoder_.token_table : decoder_.output,
                                              decoder_.vocabulary, decoder_.width});
    logits = scale(logits, "logit_scale", decoder_.logit_scale);
    if (const double cap = decoder_.logit_softcap; cap > 0) {
      logits = scale(logits, "below_softcap", 1.0 / cap);
      logits = builder_.add("tanh", "softcap", {logits});
      logits = scale(logits, "logit_softcap", cap);
    }
    builder_.enter("sampler");
    return {builder_.add("sample", "sample", {logits}), logits};
  }

  const std::vector<ValueId>& states() const { return states_; }

 private:
  ValueId mixer(ValueId stream, int64_t number) {
    builder_.enter(fmt::format("layers.{}.mixer", number));
    const ValueId normed = norm(stream, {"norm", settings_.tensors.attention_norm, decoder_.width});
    return residual(stream, mix_states(builder_, normed, *settings_.state_space, number, states_));
  }

  ValueId lookup(const std::string& name, std::string_view ids, const std::string& table, int64_t rows,
                 double factor) {
    const ValueId weights = builder_.weight(name + ".weight", table + ".weight", {rows, decoder_.width});
    graph::Attributes attributes;
    if (factor != 1.0) attributes["scale"] = factor;
    return builder_.add("embedding", name, {builder_.input(ids), weights}, std::move(attributes));
  }

  ValueId factors(const std::string& name, const std::string& tensor) {
    return tensor.empty() ? ValueId{} : builder_.weight(name, tensor, {decoder_.rope.dims / 2});
  }

  ValueId norm_weights(const NormPlace& place) {
    const std::string name = place.name + ".weight", tensor = place.tensor + ".weight";
    const int64_t cols = place.cols / place.groups;
    if (!place.own_weights) return builder_.weight(name, tensor, {cols});
    if (tensor.find('*') == std::string::npos) return builder_.weight(name, tensor, {place.groups, cols});
    return builder_.stacked_weight(name, tensor, place.groups, {cols});
  }

  ValueId norm(ValueId src, const NormPlace& place) {
    if (place.tensor.empty()) return src;
    const int64_t cols = place.cols / place.groups;
    std::vector<ValueId> inputs = {src, norm_weights(place)};
    if (decoder_.norm.op == "layer_norm" && builder_.has(place.tensor + ".bias"))
      inputs.push_back(builder_.weight(place.name + ".bias", place.tensor + ".bias", {cols}));
    graph::Attributes attributes = {{"eps", decoder_.norm.eps}};
    if (place.groups != 1) attributes["groups"] = place.groups;
    if (decoder_.norm.unit_offset) attributes["unit_offset"] = true;
    return builder_.add(decoder_.norm.op, place.name, std::move(inputs), std::move(attributes));
  }

  ValueId scale(ValueId src, const std::string& name, double factor) {
    return factor == 1.0 ? src : builder_.add("scale", name, {src}, {{"factor", factor}});
  }

  ValueId residual(ValueId stream, ValueId src) {
    const ValueId scaled = scale(src, "residual_scale", decoder_.residual_scale);
    return builder_.add("add", "residual", {stream, scaled});
  }

  ValueId project(ValueId src, const std::string& name, const Projection& projection, int64_t rows,
                  int64_t cols) {
    return builder_.linear(src, {name, projection.tensor, rows, cols, projection.part});
  }

  ValueId rope(ValueId src, const std::string& name, int64_t heads) {
    const RopeSettings& rope = settings_.rope;
    if (rope.dims == 0) return src;
    graph::Attributes attributes = {{"style", rope.style},
                                    {"heads", heads},
                                    {"head_dim", decoder_.head_dim},
                                    {"rope_dims", rope.dims},
                                    {"base", rope.base},
                                    {"attention_factor", rope.attention_factor},
                                    {"original_context", rope.original_context}};
    if (rope.scaling != "none") {
      attributes["scaling"] = rope.scaling;
      attributes["factor"] = rope.factor;
      attributes["low_frequency_factor"] = rope.low_frequency_factor;
      attributes["high_frequency_factor"] = rope.high_frequency_factor;
    }
    return builder_.add(
        "rope", name,
        {src, builder_.input(graph::step_input::positions), factors("rope_factors", rope.factors),
         factors("rope_long_factors", rope.long_factors)},
        std::move(attributes));
  }

  ValueId head_norm(ValueId src, const std::string& name, const std::string& tensor, int64_t heads) {
    const HeadNorms norms = decoder_.head_norms;
    return norm(src, {name, tensor, heads * decoder_.head_dim, norms == HeadNorms::whole_row ? 1 : heads,
                      norms == HeadNorms::each_its_own});
  }

  ValueId attention(ValueId stream, int64_t number) {
    const DecoderTensors& tensors = settings_.tensors;
    const int64_t width = decoder_.width, heads = decoder_.heads, kv_heads = decoder_.kv_heads;
    const int64_t query_width = heads * decoder_.head_dim, key_width = kv_heads * decoder_.head_dim;
    const ValueId normed = attention_src_ = norm(stream, {"norm", tensors.attention_norm, width});
    ValueId query = project(normed, "q_proj", tensors.query, query_width, width);
    ValueId key = project(normed, "k_proj", tensors.key, key_width, width);
    const ValueId value = project(normed, "v_proj", tensors.value, key_width, width);
    query = rope(head_norm(query, "q_norm", tensors.query_norm, heads), "q_rope", heads);
    key = rope(head_norm(key, "k_norm", tensors.key_norm, kv_heads), "k_rope", kv_heads);
    const ValueId before = builder_.state("kv_cache", number, kv_heads, decoder_.head_dim);
    states_.push_back(builder_.add("kv_append", "kv_append", {before, key, value}));
    graph::Attributes attributes = {
        {"heads", heads}, {"kv_heads", kv_heads}, {"scale", decoder_.attention_scale}};
    if (settings_.window > 0) attributes["window"] = settings_.window;
    if (decoder_.attention_softcap > 0) attributes["softcap"] = decoder_.attention_softcap;
    const ValueId mixed = builder_.add("attention", "sdpa", {query, states_.back()}, std::move(attributes));
    const ValueId out = project(mixed, "o_proj", tensors.attention_output, width, query_width);
    return norm(out, {"post_norm", tensors.attention_post_norm, width});
  }

  /// down(act(gate) * up), or down(act(up)) where there is no gate.
  ValueId mlp(ValueId normed) {
    const DecoderTensors& tensors = settings_.tensors;
    const bool gated = !tensors.gate.tensor.empty();
    const auto widen = [&](const std::string& name, const Projection& projection) {
      return project(normed, name, projection, decoder_.mlp_width, decoder_.width);
    };
    const ValueId gate = gated ? widen("gate_proj", tensors.gate) : ValueId{};
    const ValueId up = widen("up_proj", tensors.up);
    const ValueId active = activate(builder_, "act", gated ? gate : up, decoder_.activation);
    const ValueId inner = gated ? builder_.add("mul", "gate", {active, up}) : active;
    return project(inner, "down_proj", tensors.down, decoder_.width, decoder_.mlp_width);
  }

  GraphBuilder& builder_;
  const Decoder& decoder_;
  DecoderLayerSettings settings_;
  ValueId attention_src_;  // what the layer's projections read
  std::vector<ValueId> states_;
};

}  // namespace

Result<BuiltModel> build_decoder(GraphBuilder& builder, const Decoder& decoder) {
  for (const auto name :
       {graph::step_input::token_ids, graph::step_input::positions, graph::step_input::output_rows})
    builder.input(name);
  DecoderBuilder parts(builder, decoder);
  ValueId stream = parts.embed();
  for (int64_t layer = 0; layer < decoder.layers && !builder.failed(); ++layer)
    stream = parts.layer(stream, layer);
  std::vector<ValueId> outputs = parts.head(stream);
  outputs.insert(outputs.end(), parts.states().begin(), parts.states().end());
  ORRERY_ASSIGN(auto graph, builder.finish(std::move(outputs)));

  BuiltModel model{std::move(graph)};
  model.task = Task::generate;
  model.context_length = decoder.context_length;
  model.layers = decoder.layers;
  model.width = decoder.width;
  model.heads = decoder.heads;
  model.kv_heads = decoder.kv_heads;
  model.head_dim = decoder.head_dim;
  model.vocabulary = decoder.vocabulary;
  return model;
}

}  // namespace orrery::models
