#include "app/cli/sampling_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace orrery::cli {
namespace {

/// "--top-k" of "top_k".
std::string option_name(std::string_view name) {
  std::string option = "--" + std::string(name);
  std::replace(option.begin(), option.end(), '_', '-');
  return option;
}

/// "42=-1.5"
std::pair<int32_t, float> bias_of(const std::string& text) {
  std::pair<int32_t, float> bias;
  const char* end = text.data() + text.size();
  const auto [behind_id, id_error] = std::from_chars(text.data(), end, bias.first);
  if (id_error == std::errc() && behind_id != end && *behind_id == '=') {
    const auto [behind, error] = std::from_chars(behind_id + 1, end, bias.second);
    if (error == std::errc() && behind == end) return bias;
  }
  throw UsageError("--logit-bias: \"" + text + "\" is not ID=NUMBER, as 42=-1.5");
}

template <class T>
void add_number(Parser& parser, const api::SamplingField& field, std::optional<T>& value) {
  const api::SamplingFacts facts = api::sampling_facts(field.name);
  parser.add_option(option_name(field.name), value, fmt::format("{} [{:g}]", facts.doc, facts.usual))
      .group("Sampling (in brackets: unless the model says otherwise)");
}

}  // namespace

void add_sampling_options(Parser& parser, api::SamplingOptions& sampling) {
  for (const api::SamplingField& field : api::sampling_fields()) {
    if (field.real) add_number(parser, field, sampling.*field.real);
    if (field.whole) add_number(parser, field, sampling.*field.whole);
  }
  parser.add_option("--samplers", sampling.samplers,
                    fmt::format("what runs, in this order [{}]", api::usual_samplers()));
  parser.add_option(
      "--dry-breaker", [&sampling](const Parser::Values& texts) { sampling.dry_breakers = texts; },
      "no repetition goes over a token with this text; may be repeated");
  parser
      .add_option(
          "--logit-bias",
          [&sampling](const Parser::Values& texts) {
            for (const std::string& text : texts) sampling.logit_bias.push_back(bias_of(text));
          },
          "ID=NUMBER: is added to the logit of a token; may be repeated")
      .take_all();
  parser.add_option("--seed", sampling.seed, "the same seed gives the same reply; else from the clock");
}

}  // namespace orrery::cli
