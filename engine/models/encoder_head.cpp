#include "engine/models/encoder_head.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery::models {
namespace {

/// pooling_type of GGUF: 0 none, 1 mean, 2 CLS, 3 last, 4 rank (a classifier's, whose tensors are there).
std::string pooling_name(const Config& config) {
  if (config.file().format != io::Format::gguf) return config.text("sentence_transformers.pooling", "mean");
  const int64_t type = config.file().metadata.integer(config.name("pooling_type")).value_or(1);
  static constexpr std::string_view kNames[] = {"mean", "mean", "cls", "last", "cls"};
  return type >= 0 && type < std::ssize(kNames) ? std::string(kNames[type])
                                                : fmt::format("pooling_type {}", type);
}

Result<void> read_pooling(const Config& config, EncoderHead& head) {
  const std::string pooling = pooling_name(config);
  if (pooling != "mean" && pooling != "cls" && pooling != "last")
    return config.unsupported(fmt::format("The sentence vector is pooled by {:?}", pooling),
                              "Models with mean, cls or last-token pooling can be opened");
  head.pooling = pooling == "cls" ? "first" : pooling;
  head.normalise = config.file().metadata.flag("sentence_transformers.normalize").value_or(false);
  return {};
}

/// The class that config.json names: the adapter's, else the model's; empty: none.
std::string named_class(const io::ModelFile& file, const io::Adapter* adapter) {
  for (const Metadata* metadata : {adapter ? &adapter->config : nullptr, &file.metadata})
    if (const auto* names = metadata ? metadata->texts("architectures") : nullptr; names && !names->empty())
      return names->front();
  return {};
}

EncoderHead::Kind kind_of(const GraphBuilder& builder, const std::string& name, const HeadLayouts& layouts) {
  using Kind = EncoderHead::Kind;
  if (name.ends_with("ForTokenClassification")) return Kind::tokens;
  if (name.ends_with("ForSequenceClassification") || builder.has(layouts.texts.out + ".weight"))
    return Kind::texts;
  return builder.has(layouts.tokens.out + ".weight") ? Kind::tokens : Kind::vector;
}

/// Names of the labels: of the adapter, of config.json, of GGUF; LABEL_N where none says.
std::vector<std::string> labels_of(const Config& config, const io::Adapter* adapter, int64_t count) {
  const Metadata& metadata = config.file().metadata;
  const auto* listed = metadata.texts(config.name("classifier.output_labels"));
  std::vector<std::string> labels;
  for (int64_t i = 0; i < count; ++i) {
    const std::string key = fmt::format("id2label.{}", i);
    const std::string* label = adapter ? adapter->config.text(key) : nullptr;
    if (!label) label = metadata.text(key);
    if (!label && listed && i < std::ssize(*listed)) label = &(*listed)[static_cast<size_t>(i)];
    labels.push_back(label ? *label : fmt::format("LABEL_{}", i));
  }
  return labels;
}

ValueId pool(GraphBuilder& builder, ValueId stream, const std::string& kind) {
  return builder.add("pool", "pool", {stream, builder.input(graph::step_input::sequence_starts)},
                     {{"kind", kind}});
}

ValueId classify(GraphBuilder& builder, ValueId stream, const EncoderSizes& sizes, const EncoderHead& head) {
  const ClassifierLayout& layout = head.layout;
  ValueId rows = head.kind == EncoderHead::Kind::texts ? pool(builder, stream, layout.pooling) : stream;
  if (!layout.dense.empty()) {
    rows = builder.linear(rows, {layout.name, layout.dense, sizes.width, sizes.width});
    rows = activate(builder, layout.name + "_act", rows, layout.activation);
  }
  if (!layout.norm.empty()) rows = layer_norm(builder, layout.name + "_norm", rows, layout.norm, sizes);
  return builder.linear(rows, {"classifier", layout.out, std::ssize(head.labels), sizes.width});
}

ValueId sentence_vector(GraphBuilder& builder, ValueId stream, const EncoderHead& head) {
  const ValueId pooled = pool(builder, stream, head.pooling);
  return head.normalise ? builder.add("l2_normalise", "normalise", {pooled}) : pooled;
}

}  // namespace

const HeadLayouts& dense_head_layouts() {
  static const HeadLayouts kHeads{{"dense", "classifier.dense", {"tanh", ""}, "", "classifier.out_proj"}, {}};
  return kHeads;
}

Result<EncoderHead> find_head(const Config& config, const GraphBuilder& builder, const io::Adapter* adapter,
                              const HeadLayouts& layouts) {
  EncoderHead head;
  head.kind = kind_of(builder, named_class(config.file(), adapter), layouts);
  if (head.kind == EncoderHead::Kind::vector) {
    ORRERY_TRY(read_pooling(config, head));
    return head;
  }
  head.layout = head.kind == EncoderHead::Kind::tokens ? layouts.tokens : layouts.texts;
  ORRERY_ASSIGN(const int64_t labels, table_rows(config, builder, head.layout.out));
  head.labels = labels_of(config, adapter, labels);
  return head;
}

Result<BuiltModel> finish_encoder(const Config& config, GraphBuilder& builder, ValueId stream,
                                  const EncoderSizes& sizes, const EncoderHead& head) {
  const bool vector = head.kind == EncoderHead::Kind::vector;
  builder.enter("output");
  const ValueId out =
      vector ? sentence_vector(builder, stream, head) : classify(builder, stream, sizes, head);
  ORRERY_ASSIGN(auto graph, builder.finish({out}));

  BuiltModel model{std::move(graph)};
  model.task = vector ? Task::embed : Task::classify;
  model.context_length = sizes.positions;
  if (const auto longest = config.file().metadata.integer("sentence_transformers.max_seq_length");
      longest && *longest > 0)
    model.context_length = std::min(sizes.positions, *longest);
  model.layers = sizes.layers;
  model.width = sizes.width;
  model.heads = model.kv_heads = sizes.heads;
  model.head_dim = sizes.head_dim();
  model.vocabulary = sizes.vocabulary;
  model.labels = head.labels;
  model.classifies_tokens = head.kind == EncoderHead::Kind::tokens;
  model.normalised = vector && head.normalise;
  return model;
}

}  // namespace orrery::models
