// MPNet (Song et al. 2020, arXiv 2004.09297) from a Hugging Face folder: BERT's post-norm layers without
// token types, positions counted from the padding's on, and a bias by the distance of two tokens that all
// layers share.
#include <fmt/format.h>

#include "engine/models/architectures.h"
#include "engine/models/encoder_head.h"

namespace orrery::models {
namespace {

constexpr int64_t kPadding = 1;  // of positions, whatever pad_token_id says
constexpr int64_t kBuckets = 32;

EncoderTensors mpnet_layer_tensors(int64_t layer) {
  const std::string at = fmt::format("encoder.layer.{}.", layer), attention = at + "attention.";
  return {attention + "attn.q",    attention + "attn.k",      attention + "attn.v", attention + "attn.o",
          attention + "LayerNorm", at + "intermediate.dense", at + "output.dense",  at + "output.LayerNorm"};
}

}  // namespace

Result<BuiltModel> build_mpnet(const io::ModelFile& file, const io::Adapter* adapter) {
  const Config config(file, "");
  GraphBuilder builder(file, adapter);
  ORRERY_ASSIGN(EncoderSizes sizes, read_encoder_sizes(config, {}));
  ORRERY_ASSIGN(sizes.vocabulary, read_vocabulary(config, builder, "embeddings.word_embeddings"));
  ORRERY_ASSIGN(const Table positions, positions_behind_padding(config, kPadding, sizes));
  ORRERY_ASSIGN(const EncoderHead head, find_head(config, builder, adapter, dense_head_layouts()));

  for (const auto name :
       {graph::step_input::token_ids, graph::step_input::positions, graph::step_input::sequence_starts})
    builder.input(name);
  builder.enter("embed");
  const ValueId word = lookup(builder, graph::step_input::token_ids,
                              {"word_embedding", "embeddings.word_embeddings", sizes.vocabulary}, sizes);
  const ValueId place = lookup(builder, graph::step_input::positions, positions, sizes);
  const ValueId sum = builder.add("add", "add_position", {word, place});
  ValueId stream = layer_norm(builder, "norm", sum, "embeddings.LayerNorm", sizes);
  // Shared by all layers, so it belongs to none.
  const ValueId bias =
      builder.weight("distance_bias", "encoder.relative_attention_bias.weight", {kBuckets, sizes.heads});
  for (int64_t layer = 0; layer < sizes.layers && !builder.failed(); ++layer)
    stream = post_norm_layer(builder, stream, layer, sizes, mpnet_layer_tensors(layer), bias);
  return finish_encoder(config, builder, stream, sizes, head);
}

}  // namespace orrery::models
