// What decoders have in common. An architecture says as data what is its own: which parts a layer has, where
// their tensors are, and the numbers in them.
#pragma once

#include <functional>
#include <optional>

#include "engine/models/activation.h"
#include "engine/models/builder.h"
#include "engine/models/mixture.h"
#include "engine/models/state_space.h"

namespace orrery::models {

/// Attributes of the rope nodes (engine/ops/README.md), and the tensors of their factors.
struct RopeSettings {
  std::string style = "half";  // interleaved: GGUF files whose query and key rows are permuted
  int64_t dims = 0;            // elements of a head that are rotated; 0: the layer has no rope
  double base = 10000.0;
  std::string scaling = "none";
  double factor = 1.0, low_frequency_factor = 1.0, high_frequency_factor = 4.0, attention_factor = 1.0;
  int64_t original_context = 0;
  std::string factors, long_factors;  // tensors of dims / 2 factors; empty: none
};

struct NormSettings {
  std::string op = "rms_norm";
  double eps = 1e-5;
  bool unit_offset = false;  // weights are stored as their difference from 1
};

/// A projection's tensor without ".weight", or the part of a fused one that is its own. Empty: none.
struct Projection {
  std::string tensor;
  TensorPart part = {};

  Projection() = default;
  Projection(std::string name) : tensor(std::move(name)) {}  // NOLINT: a name alone is a whole matrix
  Projection(std::string name, TensorPart which) : tensor(std::move(name)), part(std::move(which)) {}
};

/// Tensor names of one layer, without ".weight"; an empty name: the layer has no such part.
struct DecoderTensors {
  std::string attention_norm;
  Projection query, key, value;
  std::string query_norm, key_norm;
  Projection attention_output;
  std::string attention_post_norm;
  std::string mlp_norm;
  Projection gate, up, down;
  std::string mlp_post_norm;
};

struct DecoderLayerSettings {
  DecoderTensors tensors;
  RopeSettings rope;
  int64_t window = 0;                   // a token sees the last so many; 0: all
  std::optional<Mixture> mixture = {};  // in the place of the MLP
  /// In the place of attention and MLP; attention_norm is its norm.
  std::optional<StateSpace> state_space = {};
};

/// What query_norm and key_norm are: one norm for every head, one per head (with "*" for its number where
/// each has a tensor, else rows of one tensor), or one for the whole row.
enum class HeadNorms : uint8_t { alike, each_its_own, whole_row };

/// All of a decoder but its layers' own settings.
struct Decoder {
  int64_t layers = 0, width = 0, heads = 0, kv_heads = 0, head_dim = 0, mlp_width = 0;
  int64_t context_length = 0, vocabulary = 0;
  NormSettings norm;
  Activation activation{"silu", ""};
  /// The MLP reads the stream from before the attention; without a norm of its own, what the attention reads.
  bool parallel_residual = false;
  HeadNorms head_norms = HeadNorms::alike;
  double attention_scale = 0, attention_softcap = 0;
  double embedding_scale = 1, residual_scale = 1, logit_scale = 1, logit_softcap = 0;
  std::string token_table, position_table;  // without ".weight"; position_table may be empty
  std::string output_norm, output;          // output absent in the file: the token table
  RopeSettings rope;                        // of layers that say nothing else
  std::function<DecoderLayerSettings(int64_t)> layer;
};

/// The graph: "embed", the layers, "output", "sampler". In layers.N.attention: norm, q_proj, k_proj, v_proj,
/// q_norm, k_norm, q_rope, k_rope, kv_cache, kv_append, sdpa, o_proj, post_norm, residual; in layers.N.mlp:
/// norm, gate_proj, up_proj, act, gate, down_proj (router, top_experts, experts in a mixture), post_norm,
/// residual; each where the layer has it. A state space is in layers.N.mixer: norm, the nodes of
/// state_space.h, residual.
Result<BuiltModel> build_decoder(GraphBuilder& builder, const Decoder& decoder);

}  // namespace orrery::models
