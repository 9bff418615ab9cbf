// BERT (Devlin et al. 2018, arXiv 1810.04805) from a Hugging Face folder: post-norm encoder with learned
// positions. It ends in a sentence vector (pooled as the sentence-transformers files say, mean by default),
// or, when the file or the adapter has classifier.weight, in logits: classifier(tanh(pooler(first row))).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/models/architectures.h"
#include "engine/models/config.h"
#include "engine/models/graph_builder.h"

namespace orrery::models {
namespace {

struct Bert {
  int64_t layers = 0, width = 0, heads = 0, mlp_width = 0, positions = 0, vocabulary = 0, types = 0;
  double eps = 1e-12;
  std::string activation;        // op
  std::string approximation;     // of gelu
  std::string pooling = "mean";  // of pool
  bool normalise = false;
  int64_t head_dim() const { return width / heads; }
};

Result<void> read_activation(const Config& config, Bert& bert) {
  const std::string name = config.text("hidden_act", "gelu");
  if (name == "gelu" || name == "gelu_new" || name == "gelu_pytorch_tanh") {
    bert.activation = "gelu";
    bert.approximation = name == "gelu" ? "none" : "tanh";
  } else if (name == "relu" || name == "silu") {
    bert.activation = name;
  } else {
    return config.unsupported(fmt::format("hidden_act is {:?}", name),
                              "Models with gelu, relu or silu can be opened");
  }
  return {};
}

Result<void> read_pooling(const Config& config, Bert& bert) {
  const std::string pooling = config.text("sentence_transformers.pooling", "mean");
  if (pooling != "mean" && pooling != "cls" && pooling != "last")
    return config.unsupported(fmt::format("The sentence vector is pooled by {:?}", pooling),
                              "Models with mean, cls or last-token pooling can be opened");
  bert.pooling = pooling == "cls" ? "first" : pooling;
  bert.normalise = config.file().metadata.flag("sentence_transformers.normalize").value_or(false);
  return {};
}

Result<Bert> read_config(const Config& config) {
  Bert bert;
  ORRERY_ASSIGN(bert.layers, config.size("num_hidden_layers"));
  ORRERY_ASSIGN(bert.width, config.size("hidden_size"));
  ORRERY_ASSIGN(bert.heads, config.size("num_attention_heads"));
  ORRERY_ASSIGN(bert.mlp_width, config.size("intermediate_size"));
  ORRERY_ASSIGN(bert.positions, config.size("max_position_embeddings"));
  ORRERY_ASSIGN(bert.vocabulary, config.size("vocab_size"));
  ORRERY_ASSIGN(bert.types, config.size("type_vocab_size", 2));
  ORRERY_ASSIGN(bert.eps, config.number("layer_norm_eps", 0, 1, 1e-12));
  if (bert.width % bert.heads != 0)
    return config.refuse(
        fmt::format("The metadata hidden_size is {}, which num_attention_heads = {} does not divide",
                    bert.width, bert.heads));
  if (const std::string type = config.text("position_embedding_type", "absolute"); type != "absolute")
    return config.unsupported(fmt::format("position_embedding_type is {:?}", type),
                              "Models with absolute positions can be opened");
  ORRERY_TRY(read_activation(config, bert));
  ORRERY_TRY(read_pooling(config, bert));
  return bert;
}

ValueId layer_norm(GraphBuilder& builder, const Bert& bert, ValueId src, const std::string& tensor) {
  const ValueId weight = builder.weight("norm.weight", tensor + ".weight", {bert.width});
  const ValueId bias = builder.weight("norm.bias", tensor + ".bias", {bert.width});
  return builder.add("layer_norm", "norm", {src, weight, bias}, {{"eps", bert.eps}});
}

ValueId embed(GraphBuilder& builder, const Bert& bert) {
  const auto table = [&](const std::string& name, const std::string& tensor, int64_t rows) {
    return builder.weight(name + ".weight", "embeddings." + tensor + ".weight", {rows, bert.width});
  };
  builder.enter("embed");
  const ValueId words = table("word_embedding", "word_embeddings", bert.vocabulary);
  const ValueId word =
      builder.add("embedding", "word_embedding", {builder.input(graph::step_input::token_ids), words});
  const ValueId places = table("position_embedding", "position_embeddings", bert.positions);
  const ValueId place =
      builder.add("embedding", "position_embedding", {builder.input(graph::step_input::positions), places});
  const ValueId types = table("token_type", "token_type_embeddings", bert.types);
  const ValueId type = builder.add("table_row", "token_type", {types}, {{"row", int64_t{0}}});
  const ValueId placed = builder.add("add", "add_position", {word, place});
  const ValueId sum = builder.add("add", "add_token_type", {placed, type});
  return layer_norm(builder, bert, sum, "embeddings.LayerNorm");
}

ValueId attention(GraphBuilder& builder, const Bert& bert, ValueId stream, int64_t layer) {
  const std::string tensors = fmt::format("encoder.layer.{}.attention.", layer);
  builder.enter(fmt::format("layers.{}.attention", layer));
  const auto project = [&](const std::string& name, const std::string& tensor) {
    return builder.linear(stream, {name, tensors + tensor, bert.width, bert.width});
  };
  const ValueId query = project("q_proj", "self.query");
  const ValueId key = project("k_proj", "self.key");
  const ValueId value = project("v_proj", "self.value");
  const ValueId mixed = builder.add("packed_attention", "sdpa",
                                    {query, key, value, builder.input(graph::step_input::sequence_starts)},
                                    {{"heads", bert.heads},
                                     {"kv_heads", bert.heads},
                                     {"scale", 1.0 / std::sqrt(static_cast<double>(bert.head_dim()))}});
  const ValueId out = builder.linear(mixed, {"o_proj", tensors + "output.dense", bert.width, bert.width});
  const ValueId sum = builder.add("add", "residual", {stream, out});
  return layer_norm(builder, bert, sum, tensors + "output.LayerNorm");
}

ValueId mlp(GraphBuilder& builder, const Bert& bert, ValueId stream, int64_t layer) {
  const std::string tensors = fmt::format("encoder.layer.{}.", layer);
  builder.enter(fmt::format("layers.{}.mlp", layer));
  const ValueId up =
      builder.linear(stream, {"up_proj", tensors + "intermediate.dense", bert.mlp_width, bert.width});
  graph::Attributes attributes;
  if (!bert.approximation.empty()) attributes["approximation"] = bert.approximation;
  const ValueId active = builder.add(bert.activation, "act", {up}, std::move(attributes));
  const ValueId down =
      builder.linear(active, {"down_proj", tensors + "output.dense", bert.width, bert.mlp_width});
  const ValueId sum = builder.add("add", "residual", {stream, down});
  return layer_norm(builder, bert, sum, tensors + "output.LayerNorm");
}

ValueId pool(GraphBuilder& builder, ValueId stream, const std::string& kind) {
  return builder.add("pool", "pool", {stream, builder.input(graph::step_input::sequence_starts)},
                     {{"kind", kind}});
}

ValueId sentence_vector(GraphBuilder& builder, const Bert& bert, ValueId stream) {
  builder.enter("output");
  const ValueId pooled = pool(builder, stream, bert.pooling);
  return bert.normalise ? builder.add("l2_normalise", "normalise", {pooled}) : pooled;
}

ValueId classifier(GraphBuilder& builder, const Bert& bert, ValueId stream, int64_t labels) {
  builder.enter("output");
  const ValueId first = pool(builder, stream, "first");
  const ValueId dense = builder.linear(first, {"pooler", "pooler.dense", bert.width, bert.width});
  const ValueId bent = builder.add("tanh", "pooler_act", {dense});
  return builder.linear(bent, {"classifier", "classifier", labels, bert.width});
}

std::vector<std::string> labels_of(const io::ModelFile& file, const io::Adapter* adapter, int64_t count) {
  std::vector<std::string> labels;
  for (int64_t i = 0; i < count; ++i) {
    const std::string key = fmt::format("id2label.{}", i);
    const std::string* label = adapter ? adapter->config.text(key) : nullptr;
    if (!label) label = file.metadata.text(key);
    labels.push_back(label ? *label : fmt::format("LABEL_{}", i));
  }
  return labels;
}

/// Rows of classifier.weight; 0 when there is none.
Result<int64_t> label_count(const Config& config, const GraphBuilder& builder) {
  const auto found = builder.find("classifier.weight");
  if (!found) return 0;
  if (found->shape->size() != 2 || found->shape->front() < 1 || found->shape->front() > kLargestSize)
    return config.refuse("The tensor classifier.weight is no matrix (labels, hidden_size)");
  return found->shape->front();
}

}  // namespace

Result<BuiltModel> build_bert(const io::ModelFile& file, const io::Adapter* adapter) {
  const Config config(file, "");
  if (file.format == io::Format::gguf)
    return config.unsupported("BERT is read from Hugging Face folders only",
                              "Open the folder with config.json");
  ORRERY_ASSIGN(const Bert bert, read_config(config));
  GraphBuilder builder(file, adapter);
  ORRERY_ASSIGN(const int64_t labels, label_count(config, builder));

  for (const auto name :
       {graph::step_input::token_ids, graph::step_input::positions, graph::step_input::sequence_starts})
    builder.input(name);
  ValueId stream = embed(builder, bert);
  for (int64_t layer = 0; layer < bert.layers && !builder.failed(); ++layer)
    stream = mlp(builder, bert, attention(builder, bert, stream, layer), layer);
  const ValueId out =
      labels > 0 ? classifier(builder, bert, stream, labels) : sentence_vector(builder, bert, stream);
  ORRERY_ASSIGN(auto graph, builder.finish({out}));

  BuiltModel model{std::move(graph)};
  model.task = labels > 0 ? Task::classify : Task::embed;
  model.context_length = bert.positions;
  if (const auto longest = file.metadata.integer("sentence_transformers.max_seq_length");
      longest && *longest > 0)
    model.context_length = std::min(bert.positions, *longest);
  model.layers = bert.layers;
  model.width = bert.width;
  model.heads = model.kv_heads = bert.heads;
  model.head_dim = bert.head_dim();
  model.vocabulary = bert.vocabulary;
  if (labels > 0) model.labels = labels_of(file, adapter, labels);
  model.normalised = labels == 0 && bert.normalise;
  return model;
}

}  // namespace orrery::models
