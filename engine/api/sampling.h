// How the next token is chosen: what a request changes of what the model's sampling node says.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/graph/graph.h"

namespace orrery::api {

/// What is unset is as the sampling node of the model has it.
struct SamplingOptions {
  std::optional<float> temperature, temperature_range, temperature_exponent, top_p, min_p, typical,
      top_n_sigma, xtc_probability, xtc_threshold, repeat_penalty, frequency_penalty, presence_penalty,
      dry_multiplier, dry_base, mirostat_tau, mirostat_eta;
  std::optional<int32_t> top_k, penalty_range, dry_allowed_length, dry_range, mirostat;
  std::optional<std::string> samplers;  // names in their order, with commas between
  std::optional<std::vector<std::string>>
      dry_breakers;                                   // texts over which no repetition goes; unset: the usual
  std::vector<std::pair<int32_t, float>> logit_bias;  // token id, what is added to its logit
  std::optional<uint64_t> seed;                       // none: from the clock
};

/// One number of SamplingOptions: what the window and the command line show of it.
struct SamplingField {
  std::string_view name;  // of the node's attribute: "top_k"
  std::optional<float> SamplingOptions::*real = nullptr;
  std::optional<int32_t> SamplingOptions::*whole = nullptr;  // one of the two
};
std::span<const SamplingField> sampling_fields();

struct SamplingFacts {
  std::string_view doc;
  double usual = 0, low = 0, high = 0;
};
/// Of a number or of "samplers"; what it is in a model that nobody edited, and where it may be.
SamplingFacts sampling_facts(std::string_view name);
std::string_view usual_samplers();

/// What the sampling node of a model graph is set to, with every number and the order; of one without such a
/// node, what is usual.
SamplingOptions drawn_sampling(const graph::Graph& model_graph);
SamplingOptions usual_sampling();

}  // namespace orrery::api
