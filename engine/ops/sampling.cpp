#include "engine/ops/sampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/ops/infer_support.h"

namespace orrery::ops {
namespace {

using kernels::Sampler;

constexpr double kMany = 1e9;

const graph::AttributeSpec kAttributes[] = {
    {"temperature", "0 takes the likeliest token, 0.8 is usual", 0.8},
    {"temperature_range", "the temperature follows the entropy, by this much up and down; 0: it stays", 0.0},
    {"temperature_exponent", "how the temperature follows the entropy; 1: evenly", 1.0},
    {"top_k", "the K likeliest tokens; 0: all", int64_t{40}},
    {"top_p", "the likeliest tokens with this much probability; 1: all", 0.95},
    {"min_p", "least probability, as a share of the likeliest token's; 0: all", 0.05},
    {"typical", "the tokens nearest to the entropy with this much probability; 1: all", 1.0},
    {"top_n_sigma", "logits within this many standard deviations of the largest; 0: all", 0.0},
    {"xtc_probability", "how often the likeliest tokens are excluded", 0.0},
    {"xtc_threshold", "least probability of tokens that are excluded; the last of them stays", 0.1},
    {"repeat_penalty", "above 1 makes tokens of the text less likely", 1.0},
    {"frequency_penalty", "lowers a token's logit, once for each time it is in the text", 0.0},
    {"presence_penalty", "lowers the logit of a token that is in the text", 0.0},
    {"penalty_range", "tokens of the text that penalties look at; -1: all", int64_t{64}},
    {"dry_multiplier", "lowers tokens that go on with a repetition; 0: off", 0.0},
    {"dry_base", "how much more with each token that is repeated", 1.75},
    {"dry_allowed_length", "tokens that may be repeated", int64_t{2}},
    {"dry_range", "tokens of the text in which repetitions are found; -1: all", int64_t{-1}},
    {"mirostat", "1 or 2 holds the surprise of the text, in place of what cuts; 0: off", int64_t{0}},
    {"mirostat_tau", "bits of surprise that mirostat holds", 5.0},
    {"mirostat_eta", "how fast mirostat follows", 0.1},
    {"samplers", "what runs, in this order",
     std::string("penalties,dry,top_n_sigma,top_k,temperature,typical,top_p,min_p,xtc")}};

constexpr SamplingRange kRanges[] = {{"temperature", 0, 100},
                                     {"temperature_range", 0, 100},
                                     {"temperature_exponent", 0, 100},
                                     {"top_k", 0, kMany},
                                     {"top_p", 0, 1, true},
                                     {"min_p", 0, 1},
                                     {"typical", 0, 1, true},
                                     {"top_n_sigma", 0, 100},
                                     {"xtc_probability", 0, 1},
                                     {"xtc_threshold", 0, 1},
                                     {"repeat_penalty", 0, 10, true},
                                     {"frequency_penalty", -10, 10},
                                     {"presence_penalty", -10, 10},
                                     {"penalty_range", -1, kMany},
                                     {"dry_multiplier", 0, 100},
                                     {"dry_base", 1, 100},
                                     {"dry_allowed_length", 1, kMany},
                                     {"dry_range", -1, kMany},
                                     {"mirostat", 0, 2},
                                     {"mirostat_tau", 0, 100},
                                     {"mirostat_eta", 0, 1}};

constexpr std::pair<std::string_view, Sampler> kNames[] = {{"penalties", Sampler::penalties},
                                                           {"dry", Sampler::dry},
                                                           {"top_n_sigma", Sampler::top_n_sigma},
                                                           {"top_k", Sampler::top_k},
                                                           {"temperature", Sampler::temperature},
                                                           {"typical", Sampler::typical},
                                                           {"top_p", Sampler::top_p},
                                                           {"min_p", Sampler::min_p},
                                                           {"xtc", Sampler::xtc}};

/// "--top-k": as the command line calls it.
std::string option_of(std::string_view name) {
  std::string option = "--" + std::string(name);
  std::replace(option.begin(), option.end(), '_', '-');
  return option;
}

double number(const Attributes& attributes, std::string_view name) {
  const auto found = attributes.find(name);
  if (found == attributes.end()) return 0;
  if (const auto* whole = std::get_if<int64_t>(&found->second)) return static_cast<double>(*whole);
  const auto* value = std::get_if<double>(&found->second);
  return value ? *value : 0;
}

Result<void> check(const Attributes& attributes, const SamplingRange& range) {
  const double value = number(attributes, range.name);
  if (value >= range.low && value <= range.high && !(range.above_low && value == range.low)) return {};
  return Error{ErrorCode::invalid_argument,
               fmt::format("{} is {}, which is out of its range", range.name, static_cast<float>(value)),
               option_of(range.name),
               fmt::format("give a number {} {} and at most {}", range.above_low ? "above" : "of at least",
                           range.low, range.high)};
}

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(' ');
  return begin == std::string_view::npos ? "" : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

/// Names with commas between; each once.
Result<void> read_order(std::string_view text, kernels::SamplerChain& chain) {
  const auto refuse = [](std::string what) {
    return Error{ErrorCode::invalid_argument, std::move(what), "--samplers",
                 fmt::format("write some of {} with commas between", usual_samplers())};
  };
  chain.order_count = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    const std::string_view name = trimmed(text.substr(begin, comma - begin));
    const auto* found = std::find_if(std::begin(kNames), std::end(kNames),
                                     [&](const auto& pair) { return pair.first == name; });
    if (found == std::end(kNames))
      return refuse(fmt::format("There is no sampler \"{}\"", name.substr(0, 40)));
    const Sampler* end = chain.order + chain.order_count;
    if (std::find<const Sampler*>(chain.order, end, found->second) != end)
      return refuse(fmt::format("The sampler \"{}\" comes twice", name));
    chain.order[chain.order_count++] = found->second;
    begin = comma + 1;
  }
  return {};
}

/// Whether any sampler runs that the plain order does not have.
bool is_chained(const kernels::SamplingParams& params, const kernels::SamplerChain& chain) {
  const kernels::SamplerChain plain;
  const bool other_order =
      !std::equal(chain.order, chain.order + chain.order_count, plain.order, plain.order + plain.order_count);
  const bool penalises =
      params.repeat_penalty != 1 || params.frequency_penalty != 0 || params.presence_penalty != 0;
  const bool other_penalties = penalises && chain.penalty_range != plain.penalty_range;
  const bool other_cuts = chain.top_n_sigma > 0 || chain.typical_p < 1 || chain.xtc_probability > 0;
  return other_order || other_penalties || other_cuts || chain.dry_multiplier > 0 ||
         chain.dynamic_range > 0 || chain.mirostat != 0;
}

}  // namespace

std::span<const SamplingRange> sampling_ranges() { return kRanges; }
std::span<const graph::AttributeSpec> sampling_attributes() { return kAttributes; }
std::string_view usual_samplers() { return std::get<std::string>(*std::end(kAttributes)[-1].fallback); }

Result<SamplingValues> sampling_values(const graph::Attributes& attributes) {
  for (const SamplingRange& range : kRanges) ORRERY_TRY(check(attributes, range));
  const auto real_of = [&](std::string_view name) { return static_cast<float>(number(attributes, name)); };
  const auto whole_of = [&](std::string_view name) { return static_cast<int32_t>(number(attributes, name)); };
  SamplingValues values;
  values.params = {real_of("temperature"), whole_of("top_k"), real_of("top_p"), real_of("min_p"),
                   real_of("repeat_penalty")};
  values.params.frequency_penalty = real_of("frequency_penalty");
  values.params.presence_penalty = real_of("presence_penalty");
  kernels::SamplerChain& chain = values.chain;
  chain.dynamic_range = real_of("temperature_range");
  chain.dynamic_exponent = real_of("temperature_exponent");
  chain.typical_p = real_of("typical");
  chain.top_n_sigma = real_of("top_n_sigma");
  chain.xtc_probability = real_of("xtc_probability");
  chain.xtc_threshold = real_of("xtc_threshold");
  chain.penalty_range = whole_of("penalty_range");
  chain.dry_multiplier = real_of("dry_multiplier");
  chain.dry_base = real_of("dry_base");
  chain.dry_allowed = whole_of("dry_allowed_length");
  chain.dry_range = whole_of("dry_range");
  chain.mirostat = whole_of("mirostat");
  chain.mirostat_tau = real_of("mirostat_tau");
  chain.mirostat_eta = real_of("mirostat_eta");
  ORRERY_TRY(read_order(text(attributes, "samplers"), chain));
  values.chained = is_chained(values.params, chain);
  return values;
}

}  // namespace orrery::ops
