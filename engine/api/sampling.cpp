#include "engine/api/sampling.h"

#include "engine/ops/sampling.h"

namespace orrery::api {
namespace {

using Options = SamplingOptions;

constexpr SamplingField kFields[] = {{"temperature", &Options::temperature},
                                     {"temperature_range", &Options::temperature_range},
                                     {"temperature_exponent", &Options::temperature_exponent},
                                     {"top_k", nullptr, &Options::top_k},
                                     {"top_p", &Options::top_p},
                                     {"min_p", &Options::min_p},
                                     {"typical", &Options::typical},
                                     {"top_n_sigma", &Options::top_n_sigma},
                                     {"xtc_probability", &Options::xtc_probability},
                                     {"xtc_threshold", &Options::xtc_threshold},
                                     {"repeat_penalty", &Options::repeat_penalty},
                                     {"frequency_penalty", &Options::frequency_penalty},
                                     {"presence_penalty", &Options::presence_penalty},
                                     {"penalty_range", nullptr, &Options::penalty_range},
                                     {"dry_multiplier", &Options::dry_multiplier},
                                     {"dry_base", &Options::dry_base},
                                     {"dry_allowed_length", nullptr, &Options::dry_allowed_length},
                                     {"dry_range", nullptr, &Options::dry_range},
                                     {"mirostat", nullptr, &Options::mirostat},
                                     {"mirostat_tau", &Options::mirostat_tau},
                                     {"mirostat_eta", &Options::mirostat_eta}};

/// Of a node's attributes, which are complete.
SamplingOptions options_of(const graph::Attributes& attributes) {
  SamplingOptions options;
  for (const SamplingField& field : kFields) {
    const graph::Attribute& value = attributes.find(field.name)->second;
    if (field.real) options.*field.real = static_cast<float>(std::get<double>(value));
    if (field.whole) options.*field.whole = static_cast<int32_t>(std::get<int64_t>(value));
  }
  options.samplers = std::get<std::string>(attributes.find("samplers")->second);
  return options;
}

}  // namespace

std::span<const SamplingField> sampling_fields() { return kFields; }
std::string_view usual_samplers() { return ops::usual_samplers(); }

SamplingFacts sampling_facts(std::string_view name) {
  SamplingFacts facts;
  for (const graph::AttributeSpec& attribute : ops::sampling_attributes()) {
    if (attribute.name != name) continue;
    facts.doc = attribute.doc;
    if (const auto* real = std::get_if<double>(&*attribute.fallback)) facts.usual = *real;
    if (const auto* whole = std::get_if<int64_t>(&*attribute.fallback))
      facts.usual = static_cast<double>(*whole);
  }
  for (const ops::SamplingRange& range : ops::sampling_ranges())
    if (range.name == name) facts.low = range.low, facts.high = range.high;
  return facts;
}

SamplingOptions usual_sampling() {
  graph::Attributes usual;
  for (const graph::AttributeSpec& attribute : ops::sampling_attributes())
    usual.emplace(attribute.name, *attribute.fallback);
  return options_of(usual);
}

SamplingOptions drawn_sampling(const graph::Graph& model_graph) {
  for (const NodeId id : model_graph.order())
    if (const graph::Node& node = model_graph.node(id); node.op->name == "sample")
      return options_of(node.attributes);
  return usual_sampling();
}

}  // namespace orrery::api
