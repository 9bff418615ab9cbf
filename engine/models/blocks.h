// What decoders have in common, so that an architecture says only what is its own.
#pragma once

#include "engine/models/graph_builder.h"

namespace orrery::models {

struct RopeSettings {
  std::string style = "interleaved";  // half for Hugging Face tensors
  int64_t dims = 0;
  double base = 10000.0, frequency_scale = 1.0;
  std::string factors;  // tensor of dims / 2 factors; empty: none
};

/// Sizes of a decoder layer and where its tensors are. Head counts are checked to divide.
struct DecoderSizes {
  int64_t width = 0, heads = 0, kv_heads = 0, head_dim = 0, mlp_width = 0;
  double eps = 1e-5;
  RopeSettings rope;
};

/// Tensor names of one layer, without ".weight".
struct DecoderTensors {
  std::string attention_norm, query, key, value, attention_output, mlp_norm, gate, up, down;
};

struct DecoderLayer {
  ValueId stream;  // the residual stream behind the layer
  ValueId state;   // its keys and values behind the step
};

/// Nodes norm, q_proj, k_proj, v_proj, q_rope, k_rope, kv_cache, kv_append, sdpa, o_proj, residual in
/// layers.N.attention, then norm, gate_proj, up_proj, act, gate, down_proj, residual in layers.N.mlp:
/// pre-norm, rotary, SwiGLU.
DecoderLayer decoder_layer(GraphBuilder& builder, ValueId stream, int64_t layer, const DecoderSizes& sizes,
                           const DecoderTensors& tensors);

/// select_rows, norm and lm_head in "output", sample in "sampler". Returns tokens, logits.
struct HeadTensors {
  std::string norm, output;  // without ".weight"
  int64_t vocabulary = 0;
};
std::vector<ValueId> decoder_head(GraphBuilder& builder, ValueId stream, const DecoderSizes& sizes,
                                  const HeadTensors& tensors);

}  // namespace orrery::models
