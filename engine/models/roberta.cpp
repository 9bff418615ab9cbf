// RoBERTa (Liu et al. 2019, arXiv 1907.11692) and XLM-RoBERTa from a Hugging Face folder: BERT's layers and
// tensor names. Positions count from padding_idx + 1, and all tokens are of type 0, also in a pair of texts.
#include "engine/models/architectures.h"
#include "engine/models/encoder_head.h"

namespace orrery::models {

Result<BuiltModel> build_roberta(const io::ModelFile& file, const io::Adapter* adapter) {
  const Config config(file, "");
  GraphBuilder builder(file, adapter);
  ORRERY_TRY(check_absolute_positions(config));
  ORRERY_ASSIGN(EncoderSizes sizes, read_encoder_sizes(config, {}));
  ORRERY_ASSIGN(sizes.vocabulary, read_vocabulary(config, builder, "embeddings.word_embeddings"));
  ORRERY_ASSIGN(const Table positions,
                positions_behind_padding(config, file.metadata.integer("pad_token_id").value_or(1), sizes));
  ORRERY_ASSIGN(const EncoderHead head, find_head(config, builder, adapter, dense_head_layouts()));

  for (const auto name :
       {graph::step_input::token_ids, graph::step_input::positions, graph::step_input::sequence_starts})
    builder.input(name);
  builder.enter("embed");
  const ValueId word = lookup(builder, graph::step_input::token_ids,
                              {"word_embedding", "embeddings.word_embeddings", sizes.vocabulary}, sizes);
  const ValueId place = lookup(builder, graph::step_input::positions, positions, sizes);
  const ValueId type = token_types(config, builder, "embeddings.token_type_embeddings", false, sizes);
  const ValueId placed = builder.add("add", "add_position", {word, place});
  const ValueId sum = builder.add("add", "add_token_type", {placed, type});
  ValueId stream = layer_norm(builder, "norm", sum, "embeddings.LayerNorm", sizes);
  for (int64_t layer = 0; layer < sizes.layers && !builder.failed(); ++layer)
    stream = post_norm_layer(builder, stream, layer, sizes, bert_layer_tensors(layer));
  return finish_encoder(config, builder, stream, sizes, head);
}

}  // namespace orrery::models
