// ModernBERT (Warner et al. 2024, arXiv 2412.13663): pre-norm encoder with rotary positions and a gated MLP,
// without biases. Every third layer sees the whole text, the others a window on both sides of a token, with
// a rotary base of their own. The first layer has no norm before its attention: the embeddings have one.
// From a Hugging Face folder (layers.N.attn.Wqkv, mlp.Wi) or from GGUF (keys modern-bert.*, tensors blk.N.*).
#include <fmt/format.h>

#include "engine/models/architectures.h"
#include "engine/models/encoder_head.h"

namespace orrery::models {
namespace {

struct ModernBertNames {
  std::string words, norm, final_norm;
  std::string attention_norm, qkv, attention_output, mlp_norm, gate_up,
      down;           // of a layer, after its prefix
  std::string layer;  // before its number
};

ModernBertNames names_of(bool gguf, const std::string& prefix) {
  if (gguf)
    return {"token_embd",  "token_embd_norm", "output_norm", "attn_norm", "attn_qkv",
            "attn_output", "ffn_norm",        "ffn_up",      "ffn_down",  "blk."};
  return {prefix + "embeddings.tok_embeddings",
          prefix + "embeddings.norm",
          prefix + "final_norm",
          "attn_norm",
          "attn.Wqkv",
          "attn.Wo",
          "mlp_norm",
          "mlp.Wi",
          "mlp.Wo",
          prefix + "layers."};
}

EncoderKeys keys_of(bool gguf) {
  if (gguf) {
    EncoderKeys keys = gguf_encoder_keys();
    keys.default_eps = 1e-5;
    return keys;
  }
  return {"num_hidden_layers",       "hidden_size", "num_attention_heads", "intermediate_size",
          "max_position_embeddings", "norm_eps",    "hidden_activation",   1e-5};
}

/// What layers of one kind have.
struct View {
  int64_t window = 0;  // less than so many tokens away; 0: the whole text
  double base = 0;     // of the rotation
};

/// The file's list, or every so many layers a global one, beginning with the first.
struct LayerTypes {
  const std::vector<std::string>* listed = nullptr;
  int64_t period = 3;

  bool is_local(int64_t layer) const {
    return listed ? (*listed)[static_cast<size_t>(layer)] == "sliding_attention" : layer % period != 0;
  }
};

struct ModernBert {
  EncoderSizes sizes;
  ModernBertNames names;
  View global, local;
  LayerTypes types;
};

Result<double> rope_base(const Config& config, bool gguf, bool local) {
  if (gguf)
    return local ? config.number("rope.freq_base_swa", 1, 1e12, 10000.0)
                 : config.number("rope.freq_base", 1, 1e12, 160000.0);
  const std::string section = fmt::format("rope_parameters.{}_attention.", local ? "sliding" : "full");
  if (const std::string type = config.text(section + "rope_type", "default"); type != "default")
    return config.unsupported(fmt::format("{}rope_type is {:?}", section, type),
                              "Models without scaled positions can be opened");
  const std::string key = section + "rope_theta";
  if (config.has(key)) return config.number(key, 1, 1e12);
  return local ? config.number("local_rope_theta", 1, 1e12, 10000.0)
               : config.number("global_rope_theta", 1, 1e12, 160000.0);
}

Result<LayerTypes> read_layer_types(const Config& config, bool gguf, int64_t layers) {
  LayerTypes types;
  types.listed = config.file().metadata.texts(config.name("layer_types"));
  if (types.listed && std::ssize(*types.listed) < layers)
    return config.refuse(
        fmt::format("layer_types has {} entries for {} layers", types.listed->size(), layers));
  ORRERY_ASSIGN(types.period,
                config.size(gguf ? "attention.sliding_window_pattern" : "global_attn_every_n_layers", 3));
  return types;
}

Result<ModernBert> read(const Config& config, const GraphBuilder& builder, bool gguf) {
  ModernBert bert;
  const bool wrapped = builder.has("model.embeddings.tok_embeddings.weight");
  bert.names = names_of(gguf, wrapped ? "model." : "");
  ORRERY_ASSIGN(bert.sizes, read_encoder_sizes(config, keys_of(gguf)));
  ORRERY_ASSIGN(bert.sizes.vocabulary, read_vocabulary(config, builder, bert.names.words));
  if (bert.sizes.head_dim() % 2 != 0)
    return config.refuse(
        fmt::format("Heads of {} elements cannot be rotated; they must be even", bert.sizes.head_dim()));
  ORRERY_ASSIGN(bert.types, read_layer_types(config, gguf, bert.sizes.layers));
  ORRERY_ASSIGN(bert.global.base, rope_base(config, gguf, false));
  ORRERY_ASSIGN(bert.local.base, rope_base(config, gguf, true));
  ORRERY_ASSIGN(const int64_t both_sides,
                config.size(gguf ? "attention.sliding_window" : "local_attention", 128));
  bert.local.window = both_sides / 2 + 1;
  return bert;
}

Result<HeadLayouts> read_heads(const Config& config, bool gguf) {
  ORRERY_ASSIGN(const Activation activation, parse_activation(config, "classifier_activation", "gelu"));
  const std::string pooling = config.text("classifier_pooling", "cls");
  if (pooling != "cls" && pooling != "mean")
    return config.unsupported(fmt::format("classifier_pooling is {:?}", pooling),
                              "Models that pool by cls or mean can be opened");
  ClassifierLayout layout{"dense", "head.dense", activation, "head.norm", "classifier"};
  if (gguf) layout = {"dense", "cls", activation, "cls.norm", "cls.output"};
  layout.pooling = pooling == "cls" ? "first" : "mean";
  return HeadLayouts{layout, layout};
}

class Layers {
 public:
  Layers(GraphBuilder& builder, const ModernBert& bert) : builder_(builder), bert_(bert) {}

  ValueId add(ValueId stream, int64_t layer) {
    at_ = fmt::format("{}{}.", bert_.names.layer, layer);
    view_ = bert_.types.is_local(layer) ? bert_.local : bert_.global;
    builder_.enter(fmt::format("layers.{}.attention", layer));
    stream = attention(stream, layer > 0);
    builder_.enter(fmt::format("layers.{}.mlp", layer));
    return mlp(stream);
  }

 private:
  ValueId attention(ValueId stream, bool normed) {
    const EncoderSizes& sizes = bert_.sizes;
    const ValueId src =
        normed ? layer_norm(builder_, "norm", stream, at_ + bert_.names.attention_norm, sizes) : stream;
    const auto project = [&](const char* name, int64_t part) {
      return builder_.linear(src, {name,
                                   at_ + bert_.names.qkv,
                                   sizes.width,
                                   sizes.width,
                                   {false, {part * sizes.width, sizes.width}, 3 * sizes.width}});
    };
    const ValueId query = rope("q_rope", project("q_proj", 0)), key = rope("k_rope", project("k_proj", 1));
    const ValueId value = project("v_proj", 2);
    const ValueId mixed =
        self_attention(builder_, {.query = query, .key = key, .value = value, .window = view_.window}, sizes);
    const ValueId out =
        builder_.linear(mixed, {"o_proj", at_ + bert_.names.attention_output, sizes.width, sizes.width});
    return builder_.add("add", "residual", {stream, out});
  }

  ValueId rope(const char* name, ValueId src) {
    return builder_.add("rope", name, {src, builder_.input(graph::step_input::positions)},
                        {{"style", std::string("half")},
                         {"heads", bert_.sizes.heads},
                         {"head_dim", bert_.sizes.head_dim()},
                         {"rope_dims", bert_.sizes.head_dim()},
                         {"base", view_.base}});
  }

  ValueId mlp(ValueId stream) {
    const EncoderSizes& sizes = bert_.sizes;
    const ValueId normed = layer_norm(builder_, "norm", stream, at_ + bert_.names.mlp_norm, sizes);
    const auto project = [&](const char* name, int64_t part) {
      return builder_.linear(normed,
                             {name,
                              at_ + bert_.names.gate_up,
                              sizes.mlp_width,
                              sizes.width,
                              {false, {part * sizes.mlp_width, sizes.mlp_width}, 2 * sizes.mlp_width}});
    };
    const ValueId opened = activate(builder_, "act", project("gate_proj", 0), sizes.activation);
    const ValueId gated = builder_.add("mul", "gate", {opened, project("up_proj", 1)});
    const ValueId down =
        builder_.linear(gated, {"down_proj", at_ + bert_.names.down, sizes.width, sizes.mlp_width});
    return builder_.add("add", "residual", {stream, down});
  }

  GraphBuilder& builder_;
  const ModernBert& bert_;
  std::string at_;  // the layer's tensors begin so
  View view_;
};

}  // namespace

Result<BuiltModel> build_modernbert(const io::ModelFile& file, const io::Adapter* adapter) {
  const bool gguf = file.format == io::Format::gguf;
  const Config config(file, gguf ? "modern-bert." : "");
  GraphBuilder builder(file, adapter);
  ORRERY_ASSIGN(const ModernBert bert, read(config, builder, gguf));
  ORRERY_ASSIGN(const HeadLayouts heads, read_heads(config, gguf));
  ORRERY_ASSIGN(const EncoderHead head, find_head(config, builder, adapter, heads));

  for (const auto name :
       {graph::step_input::token_ids, graph::step_input::positions, graph::step_input::sequence_starts})
    builder.input(name);
  builder.enter("embed");
  const ValueId word = lookup(builder, graph::step_input::token_ids,
                              {"word_embedding", bert.names.words, bert.sizes.vocabulary}, bert.sizes);
  ValueId stream = layer_norm(builder, "norm", word, bert.names.norm, bert.sizes);
  Layers layers(builder, bert);
  for (int64_t layer = 0; layer < bert.sizes.layers && !builder.failed(); ++layer)
    stream = layers.add(stream, layer);
  builder.enter("output");
  stream = layer_norm(builder, "norm", stream, bert.names.final_norm, bert.sizes);
  return finish_encoder(config, builder, stream, bert.sizes, head);
}

}  // namespace orrery::models
