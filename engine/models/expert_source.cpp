// Where decoder files keep the experts of a layer, and how many there are.
#include <fmt/format.h>

#include "engine/models/decoder_source.h"

namespace orrery::models {
namespace {

Result<std::string> gating(const Config& config, const Activation& activation) {
  if (activation.op == "silu") return std::string("silu");
  if (activation.op == "gelu" && activation.approximation == "tanh") return std::string("gelu_tanh");
  return config.unsupported(fmt::format("Experts are gated by {}", activation.op),
                            "Mixtures that are gated by silu or gelu_pytorch_tanh can be opened");
}

/// The names of one way of keeping experts, after the layer's prefix.
struct Way {
  std::string_view router, gate, up, down;
};
constexpr Way kFolders[] = {
    {"mlp.gate", "mlp.experts.gate_up_proj", "", "mlp.experts.down_proj"},
    {"mlp.gate", "mlp.experts.*.gate_proj.weight", "mlp.experts.*.up_proj.weight",
     "mlp.experts.*.down_proj.weight"},
    {"block_sparse_moe.gate", "block_sparse_moe.experts.*.w1.weight", "block_sparse_moe.experts.*.w3.weight",
     "block_sparse_moe.experts.*.w2.weight"},
};
constexpr Way kGguf[] = {
    {"ffn_gate_inp", "ffn_gate_exps.weight", "ffn_up_exps.weight", "ffn_down_exps.weight"},
    {"ffn_gate_inp", "ffn_gate.*.weight", "ffn_up.*.weight", "ffn_down.*.weight"},  // of before 2024-04
};

std::string first_of(std::string tensors) {
  const size_t star = tensors.find('*');
  return star == std::string::npos ? tensors : tensors.replace(star, 1, "0");
}

}  // namespace

Result<Mixture> DecoderSource::read_mixture(const Decoder& decoder, bool normalise) const {
  Mixture mixture;
  ORRERY_ASSIGN(mixture.experts,
                config_.size(config_.has("num_local_experts") ? "num_local_experts" : "num_experts"));
  ORRERY_ASSIGN(mixture.active, config_.size("num_experts_per_tok"));
  if (mixture.active > mixture.experts)
    return config_.refuse(fmt::format("{} of {} experts would be active", mixture.active, mixture.experts));
  ORRERY_ASSIGN(mixture.inner, config_.size("moe_intermediate_size", decoder.mlp_width));
  ORRERY_ASSIGN(mixture.activation, gating(config_, decoder.activation));
  mixture.width = decoder.width;
  mixture.normalise = config_.flag("norm_topk_prob", normalise);
  return mixture;
}

std::optional<Mixture> DecoderSource::mixture_of(const Mixture& all, int64_t layer) const {
  const std::string at = layer_prefix(layer);
  for (const Way& way : gguf_ ? std::span<const Way>(kGguf) : std::span<const Way>(kFolders)) {
    if (!builder_.has(at + std::string(way.router) + ".weight") ||
        !builder_.has(first_of(at + std::string(way.gate))))
      continue;
    Mixture mixture = all;
    mixture.router = at + std::string(way.router);
    mixture.gate = at + std::string(way.gate);
    if (!way.up.empty()) mixture.up = at + std::string(way.up);
    mixture.down = at + std::string(way.down);
    return mixture;
  }
  return {};
}

}  // namespace orrery::models
