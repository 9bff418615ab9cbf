// BERT (Devlin et al. 2018, arXiv 1810.04805): post-norm encoder with learned positions. From a Hugging Face
// folder (config.json, encoder.layer.N.*) or from GGUF (keys bert.*, tensors blk.N.*), which RoBERTa models
// are kept as too, the unused rows before their first position cut off.
#include <fmt/format.h>

#include "engine/models/architectures.h"
#include "engine/models/encoder_head.h"

namespace orrery::models {
namespace {

/// Where the tensors are that belong to no layer.
struct BertNames {
  std::string words, positions, types, norm;
  HeadLayouts heads;
};

const BertNames& names_of(bool gguf) {
  static const BertNames kFolder{"embeddings.word_embeddings",
                                 "embeddings.position_embeddings",
                                 "embeddings.token_type_embeddings",
                                 "embeddings.LayerNorm",
                                 {{"pooler", "pooler.dense", {"tanh", ""}}, {}}};
  static const BertNames kGguf{
      "token_embd",
      "position_embd",
      "token_types",
      "token_embd_norm",
      {{"pooler", "cls", {"tanh", ""}, "", "cls.output"}, {"", "", {}, "", "cls.output"}}};
  return gguf ? kGguf : kFolder;
}

EncoderTensors layer_tensors(bool gguf, int64_t layer) {
  if (gguf) {
    const std::string at = fmt::format("blk.{}.", layer);
    return {at + "attn_q",           at + "attn_k", at + "attn_v",   at + "attn_output",
            at + "attn_output_norm", at + "ffn_up", at + "ffn_down", at + "layer_output_norm"};
  }
  return bert_layer_tensors(layer);
}

}  // namespace

Result<BuiltModel> build_bert(const io::ModelFile& file, const io::Adapter* adapter) {
  const bool gguf = file.format == io::Format::gguf;
  const Config config(file, gguf ? "bert." : "");
  const BertNames& names = names_of(gguf);
  GraphBuilder builder(file, adapter);
  ORRERY_TRY(check_absolute_positions(config));
  ORRERY_ASSIGN(EncoderSizes sizes, read_encoder_sizes(config, gguf ? gguf_encoder_keys() : EncoderKeys{}));
  ORRERY_ASSIGN(sizes.vocabulary, read_vocabulary(config, builder, names.words));
  ORRERY_ASSIGN(const EncoderHead head, find_head(config, builder, adapter, names.heads));

  for (const auto name :
       {graph::step_input::token_ids, graph::step_input::positions, graph::step_input::sequence_starts})
    builder.input(name);
  builder.enter("embed");
  const ValueId word =
      lookup(builder, graph::step_input::token_ids, {"word_embedding", names.words, sizes.vocabulary}, sizes);
  const ValueId place = lookup(builder, graph::step_input::positions,
                               {"position_embedding", names.positions, sizes.positions}, sizes);
  const ValueId type = token_types(config, builder, names.types, head.reads_pairs(), sizes);
  const ValueId placed = builder.add("add", "add_position", {word, place});
  const ValueId sum = builder.add("add", "add_token_type", {placed, type});
  ValueId stream = layer_norm(builder, "norm", sum, names.norm, sizes);
  for (int64_t layer = 0; layer < sizes.layers && !builder.failed(); ++layer)
    stream = post_norm_layer(builder, stream, layer, sizes, layer_tensors(gguf, layer));
  return finish_encoder(config, builder, stream, sizes, head);
}

}  // namespace orrery::models
