#include "app/cli/op_schema.h"

#include <fmt/format.h>

namespace orrery::cli {
namespace {

std::string type_of(const graph::AttributeSpec& spec) {
  return std::string(
      name_of(spec.fallback ? static_cast<graph::AttributeType>(spec.fallback->index()) : spec.type));
}

Json json_of(double value) { return std::isfinite(value) ? Json(value) : Json(fmt::format("{}", value)); }
template <class T>
Json json_of(const T& value) {
  return value;
}

Json to_json(const graph::AttributeSpec& spec) {
  Json json = {{"name", spec.name}, {"doc", spec.doc}, {"type", type_of(spec)}, {"required", !spec.fallback}};
  if (spec.fallback)
    json["default"] = std::visit([](const auto& value) { return json_of(value); }, *spec.fallback);
  return json;
}

Json to_json(const graph::InputSpec& spec) {
  return {
      {"name", spec.name}, {"optional", spec.optional}, {"variadic", spec.variadic}, {"stored", spec.stored}};
}

std::string words_of(const graph::InputSpec& spec) {
  return spec.name + (spec.variadic ? "..." : spec.optional ? "?" : "");
}

}  // namespace

Json to_json(const api::OpInfo& info) {
  Json inputs = Json::array(), attributes = Json::array();
  for (const graph::InputSpec& spec : info.op->inputs) inputs.push_back(to_json(spec));
  for (const graph::AttributeSpec& spec : info.op->attributes) attributes.push_back(to_json(spec));
  return {{"name", info.op->name},       {"family", graph::name_of(info.op->family)},
          {"doc", info.op->doc},         {"inputs", std::move(inputs)},
          {"outputs", info.op->outputs}, {"attributes", std::move(attributes)},
          {"devices", info.devices},     {"backward", static_cast<bool>(info.op->gradient)}};
}

void print_schema(const api::OpInfo& info) {
  std::string inputs;
  for (const graph::InputSpec& spec : info.op->inputs)
    inputs += (inputs.empty() ? "" : ", ") + words_of(spec);
  print(fmt::format("{}({}) -> {}\n  {}\n", info.op->name, inputs, fmt::join(info.op->outputs, ", "),
                    info.op->doc));
  for (const graph::AttributeSpec& spec : info.op->attributes)
    print(fmt::format("  {:<24} {}{}\n", spec.name, spec.doc,
                      spec.fallback ? fmt::format(" (default: {})", graph::to_string(*spec.fallback)) : ""));
  print(info.devices.empty() ? std::string("  it is not run as a kernel\n")
                             : fmt::format("  runs on {}\n", fmt::join(info.devices, ", ")));
}

}  // namespace orrery::cli
