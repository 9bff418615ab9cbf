// DistilBERT (Sanh et al. 2019, arXiv 1910.01108) from a Hugging Face folder: BERT's post-norm layers without
// token types. Its own implementation adds -10000 to the scores of padding, the library's -inf; a packed step
// has no padding, so that both say the same.
#include <fmt/format.h>

#include "engine/models/architectures.h"
#include "engine/models/encoder_head.h"

namespace orrery::models {
namespace {

const EncoderKeys kKeys{"n_layers",       "dim",       "n_heads", "hidden_dim", "max_position_embeddings",
                        "layer_norm_eps", "activation"};
const HeadLayouts kHeads{{"pre_classifier", "pre_classifier", {"relu", ""}}, {}};

EncoderTensors distilbert_layer_tensors(int64_t layer) {
  const std::string at = fmt::format("transformer.layer.{}.", layer), attention = at + "attention.";
  return {attention + "q_lin",  attention + "k_lin", attention + "v_lin", attention + "out_lin",
          at + "sa_layer_norm", at + "ffn.lin1",     at + "ffn.lin2",     at + "output_layer_norm"};
}

}  // namespace

Result<BuiltModel> build_distilbert(const io::ModelFile& file, const io::Adapter* adapter) {
  const Config config(file, "");
  GraphBuilder builder(file, adapter);
  ORRERY_ASSIGN(EncoderSizes sizes, read_encoder_sizes(config, kKeys));
  ORRERY_ASSIGN(sizes.vocabulary, read_vocabulary(config, builder, "embeddings.word_embeddings"));
  ORRERY_ASSIGN(const EncoderHead head, find_head(config, builder, adapter, kHeads));

  for (const auto name :
       {graph::step_input::token_ids, graph::step_input::positions, graph::step_input::sequence_starts})
    builder.input(name);
  builder.enter("embed");
  const ValueId word = lookup(builder, graph::step_input::token_ids,
                              {"word_embedding", "embeddings.word_embeddings", sizes.vocabulary}, sizes);
  const ValueId place =
      lookup(builder, graph::step_input::positions,
             {"position_embedding", "embeddings.position_embeddings", sizes.positions}, sizes);
  const ValueId sum = builder.add("add", "add_position", {word, place});
  ValueId stream = layer_norm(builder, "norm", sum, "embeddings.LayerNorm", sizes);
  for (int64_t layer = 0; layer < sizes.layers && !builder.failed(); ++layer)
    stream = post_norm_layer(builder, stream, layer, sizes, distilbert_layer_tensors(layer));
  return finish_encoder(config, builder, stream, sizes, head);
}

}  // namespace orrery::models
