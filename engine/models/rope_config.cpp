// What config.json and GGUF say of rotary positions and their scaling.
#include <fmt/format.h>

#include <cmath>

#include "engine/models/decoder_source.h"

namespace orrery::models {
namespace {

constexpr double kLeastFactor = 1e-3, kMostFactor = 1e6;
constexpr std::string_view kShortFactors = "rope_factors_short.weight",
                           kLongFactors = "rope_factors_long.weight";

Error unknown_scaling(const Config& config, const std::string& type, std::string_view key) {
  return config.unsupported(
      fmt::format("The position scaling {:?} ({}) is not known", type, config.name(key)),
      "Models with linear, dynamic, llama3, yarn or longrope scaling, or with none, can be opened");
}

std::string scaling_type(const Config& config, const std::string& section) {
  return config.text(section + ".rope_type", config.text(section + ".type", "default"));
}

/// Yarn's own choice (arXiv 2309.00071, section 3.4), times `scale`.
double yarn_attention_factor(double factor, double scale = 1.0) {
  return factor <= 1.0 ? 1.0 : 0.1 * scale * std::log(factor) + 1.0;
}

Result<void> read_yarn(const Config& config, const std::string& section, RopeSettings& rope) {
  if (!config.flag(section + ".truncate", true))
    return config.unsupported(fmt::format("{}.truncate is false", config.name(section)),
                              "Models whose yarn scaling begins and ends at whole pairs can be opened");
  ORRERY_ASSIGN(rope.high_frequency_factor,
                config.number(section + ".beta_fast", kLeastFactor, kMostFactor, 32));
  ORRERY_ASSIGN(rope.low_frequency_factor,
                config.number(section + ".beta_slow", kLeastFactor, kMostFactor, 1));
  ORRERY_ASSIGN(const double scale, config.number(section + ".mscale", 0, kMostFactor, 0));
  ORRERY_ASSIGN(const double scale_all, config.number(section + ".mscale_all_dim", 0, kMostFactor, 0));
  const double own = scale > 0 && scale_all > 0 ? yarn_attention_factor(rope.factor, scale) /
                                                      yarn_attention_factor(rope.factor, scale_all)
                                                : yarn_attention_factor(rope.factor);
  ORRERY_ASSIGN(rope.attention_factor,
                config.number(section + ".attention_factor", kLeastFactor, kMostFactor, own));
  return {};
}

}  // namespace

Result<void> DecoderSource::check_rope(const Decoder& decoder, const RopeSettings& rope) const {
  if (rope.dims < 2 || rope.dims % 2 != 0 || rope.dims > decoder.head_dim)
    return config_.refuse(
        fmt::format("{} elements of a head would be rotated; it must be an even number up to {}", rope.dims,
                    decoder.head_dim));
  return {};
}

Result<RopeSettings> DecoderSource::read_gguf_rope(const Decoder& decoder) const {
  RopeSettings rope;
  rope.style = family_.gguf_rope_style;
  ORRERY_ASSIGN(rope.dims, config_.size("rope.dimension_count", decoder.head_dim));
  ORRERY_ASSIGN(rope.base, config_.number("rope.freq_base", 1, 1e12, 10000.0));
  ORRERY_ASSIGN(rope.attention_factor,
                config_.number("rope.scaling.attn_factor", kLeastFactor, kMostFactor, 1.0));
  ORRERY_ASSIGN(rope.original_context,
                config_.size("rope.scaling.original_context_length", decoder.context_length));
  if (builder_.has("rope_freqs.weight")) rope.factors = "rope_freqs.weight";
  if (builder_.has(std::string(kShortFactors))) rope.factors = kShortFactors;
  if (builder_.has(std::string(kLongFactors))) rope.long_factors = kLongFactors;
  const std::string type = config_.text("rope.scaling.type", "none");
  if (type == "none" || type == "longrope") return rope;
  if (type != "linear" && type != "yarn") return unknown_scaling(config_, type, "rope.scaling.type");
  rope.scaling = type;
  ORRERY_ASSIGN(rope.factor, config_.number("rope.scaling.factor", kLeastFactor, kMostFactor));
  if (type == "yarn") {
    ORRERY_ASSIGN(rope.high_frequency_factor,
                  config_.number("rope.scaling.yarn_beta_fast", kLeastFactor, kMostFactor, 32));
    ORRERY_ASSIGN(rope.low_frequency_factor,
                  config_.number("rope.scaling.yarn_beta_slow", kLeastFactor, kMostFactor, 1));
    rope.attention_factor *= yarn_attention_factor(rope.factor);
  }
  return rope;
}

/// Factors of their own for short and for long contexts (Ding et al. 2024, arXiv 2402.13753). The reader of
/// folders keeps config.json's lists as tensors, under the names that GGUF has for them.
Result<void> DecoderSource::read_long_rope(const Decoder& decoder, const std::string& section,
                                           RopeSettings& rope) const {
  rope.factors = kShortFactors;
  rope.long_factors = kLongFactors;
  const std::string inner = section + ".original_max_position_embeddings";
  ORRERY_ASSIGN(
      rope.original_context,
      config_.size(config_.has(inner) ? inner : "original_max_position_embeddings", decoder.context_length));
  const double original = static_cast<double>(rope.original_context);
  ORRERY_ASSIGN(const double factor, config_.number(section + ".factor", kLeastFactor, kMostFactor,
                                                    static_cast<double>(decoder.context_length) / original));
  const double own =
      factor <= 1.0 || original <= 1.0 ? 1.0 : std::sqrt(1.0 + std::log(factor) / std::log(original));
  ORRERY_ASSIGN(rope.attention_factor,
                config_.number(section + ".attention_factor", kLeastFactor, kMostFactor, own));
  return {};
}

Result<void> DecoderSource::read_scaling(const Decoder& decoder, const std::string& section,
                                         RopeSettings& rope) const {
  const std::string type = scaling_type(config_, section);
  // "dynamic" scales nothing up to max_position_embeddings, and no context is longer.
  if (type == "default" || type == "none" || type == "dynamic") return {};
  if (type == "longrope" || type == "su") return read_long_rope(decoder, section, rope);
  if (type != "linear" && type != "llama3" && type != "yarn")
    return unknown_scaling(config_, type, section + ".rope_type");
  rope.scaling = type;
  ORRERY_ASSIGN(rope.factor, config_.number(section + ".factor", kLeastFactor, kMostFactor));
  if (type == "linear") return {};
  ORRERY_ASSIGN(rope.original_context,
                config_.size(section + ".original_max_position_embeddings", decoder.context_length));
  if (type == "yarn") return read_yarn(config_, section, rope);
  ORRERY_ASSIGN(rope.low_frequency_factor,
                config_.number(section + ".low_freq_factor", kLeastFactor, kMostFactor));
  ORRERY_ASSIGN(rope.high_frequency_factor,
                config_.number(section + ".high_freq_factor", kLeastFactor, kMostFactor));
  return {};
}

Result<RopeSettings> DecoderSource::read_rope(const Decoder& decoder, std::string_view part) const {
  if (gguf_) {
    ORRERY_ASSIGN(RopeSettings rope, read_gguf_rope(decoder));
    ORRERY_TRY(check_rope(decoder, rope));
    return rope;
  }
  RopeSettings rope;
  std::string section = "rope_parameters";
  if (!part.empty()) section += "." + std::string(part);
  if (!config_.has(section + ".rope_type")) section = "rope_scaling";
  const auto number = [&](const std::string& key, double least, double most, double fallback) {
    return config_.number(config_.has(section + "." + key) ? section + "." + key : key, least, most,
                          fallback);
  };
  ORRERY_ASSIGN(rope.base, number("rope_theta", 1, 1e12, 10000.0));
  ORRERY_ASSIGN(const double rotated, number("partial_rotary_factor", 0, 1, 1.0));
  rope.dims = static_cast<int64_t>(static_cast<double>(decoder.head_dim) * rotated);
  ORRERY_TRY(read_scaling(decoder, section, rope));
  ORRERY_TRY(check_rope(decoder, rope));
  return rope;
}

}  // namespace orrery::models
