#include "engine/api/sampling_request.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "engine/generate/breakers.h"
#include "engine/ops/sampling.h"

namespace orrery::api {
namespace {

const std::vector<std::string> kUsualBreakers = {"\n", ":", "\"", "*"};
constexpr float kLargestBias = 1000;

/// The node's settings with the request's in their place.
graph::Attributes attributes_of(const graph::Graph& graph, const SamplingOptions& options) {
  const SamplingOptions drawn = drawn_sampling(graph);
  const auto either = [&](auto member) { return options.*member ? options.*member : drawn.*member; };
  graph::Attributes attributes;
  for (const SamplingField& field : sampling_fields()) {
    graph::Attribute& value = attributes[std::string(field.name)];
    if (field.real) value = double{*either(field.real)};
    if (field.whole) value = int64_t{*either(field.whole)};
  }
  attributes["samplers"] = *either(&SamplingOptions::samplers);
  return attributes;
}

Result<void> add_biases(const SamplingOptions& options, const text::Tokenizer& tokenizer,
                        runtime::ChainRequest& chain) {
  for (const auto& [id, bias] : options.logit_bias) {
    if (id < 0 || id >= tokenizer.vocabulary() || !(std::abs(bias) <= kLargestBias))
      return Error{ErrorCode::invalid_argument,
                   fmt::format("The bias {} of token {} cannot be used", bias, id), "--logit-bias",
                   fmt::format("give a token below {} and a bias of {} to {}", tokenizer.vocabulary(),
                               -kLargestBias, kLargestBias)};
    chain.bias_ids.push_back(id);
    chain.biases.push_back(bias);
  }
  return {};
}

}  // namespace

Result<SamplingRequest> sampling_request(const graph::Graph& graph, const SamplingOptions& options,
                                         const text::Tokenizer& tokenizer) {
  ORRERY_ASSIGN(const ops::SamplingValues values, ops::sampling_values(attributes_of(graph, options)));
  SamplingRequest request;
  request.params = values.params;
  const auto clock = static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  request.params.seed = options.seed.value_or(clock);
  if (!values.chained && options.logit_bias.empty()) return request;
  runtime::ChainRequest& chain = request.chain.emplace();
  chain.settings = values.chain;
  ORRERY_TRY(add_biases(options, tokenizer, chain));
  if (values.chain.dry_multiplier > 0)
    chain.dry_breakers =
        generate::breaker_sequences(options.dry_breakers.value_or(kUsualBreakers), tokenizer);
  return request;
}

}  // namespace orrery::api
