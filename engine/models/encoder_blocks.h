// What encoders have in common: attention over whole packed texts, the MLP, norms with a bias. An
// architecture says where its tensors are and what is its own.
#pragma once

#include "engine/models/activation.h"

namespace orrery::models {

/// Sizes of an encoder; width is a multiple of heads.
struct EncoderSizes {
  int64_t layers = 0, width = 0, heads = 0, mlp_width = 0, positions = 0, vocabulary = 0;
  double eps = 1e-12;
  Activation activation;

  int64_t head_dim() const { return width / heads; }
};

/// The keys of config.json or of GGUF that sizes are read from.
struct EncoderKeys {
  std::string_view layers = "num_hidden_layers", width = "hidden_size", heads = "num_attention_heads",
                   mlp_width = "intermediate_size", positions = "max_position_embeddings",
                   eps = "layer_norm_eps", activation = "hidden_act";
  double default_eps = 1e-12;
};
/// As GGUF files name them, after the architecture's prefix.
EncoderKeys gguf_encoder_keys();
/// All but the vocabulary.
Result<EncoderSizes> read_encoder_sizes(const Config& config, const EncoderKeys& keys);

/// Refuses positions that are not looked up by their number.
Result<void> check_absolute_positions(const Config& config);

/// Rows of the matrix TENSOR.weight.
Result<int64_t> table_rows(const Config& config, const GraphBuilder& builder, const std::string& tensor);
/// vocab_size, or as many tokens as the table of their vectors has.
Result<int64_t> read_vocabulary(const Config& config, const GraphBuilder& builder, const std::string& table);

/// Norm NAME with the tensors TENSOR.weight and, where the file has it, TENSOR.bias.
ValueId layer_norm(GraphBuilder& builder, const std::string& name, ValueId src, const std::string& tensor,
                   const EncoderSizes& sizes);

/// A lookup NAME in the table TENSOR.weight (rows, width); `offset` rows of it come before id 0.
struct Table {
  std::string name, tensor;
  int64_t rows = 0, offset = 0;
};
ValueId lookup(GraphBuilder& builder, std::string_view ids, const Table& table, const EncoderSizes& sizes);
/// Position embeddings whose rows up to the padding's hold no position; sizes.positions becomes what is left.
Result<Table> positions_behind_padding(const Config& config, int64_t padding, EncoderSizes& sizes);

/// Node "token_type": a row of the table TENSOR.weight a token, by its type, or row 0 for all where a text
/// always has type 0. A table of one row may be stored as a vector.
ValueId token_types(const Config& config, GraphBuilder& builder, const std::string& tensor, bool of_pairs,
                    const EncoderSizes& sizes);

/// packed_attention "sdpa" of the step's rows; `window` and `bias` as the op takes them.
struct SelfAttention {
  ValueId query, key, value;
  ValueId bias = {};
  int64_t window = 0;
};
ValueId self_attention(GraphBuilder& builder, const SelfAttention& inputs, const EncoderSizes& sizes);

/// Tensor names of one post-norm layer, without ".weight".
struct EncoderTensors {
  std::string query, key, value, attention_output, attention_norm, up, down, mlp_norm;
};
/// As BERT names them: encoder.layer.N.attention.self.query and so on.
EncoderTensors bert_layer_tensors(int64_t layer);

/// Nodes q_proj, k_proj, v_proj, sdpa, o_proj, residual, norm in layers.N.attention, then up_proj, act,
/// down_proj, residual, norm in layers.N.mlp. Returns the stream after the layer.
ValueId post_norm_layer(GraphBuilder& builder, ValueId stream, int64_t layer, const EncoderSizes& sizes,
                        const EncoderTensors& tensors, ValueId bias = {});

}  // namespace orrery::models
