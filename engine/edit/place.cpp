// place scope=S device=D: where the nodes of S run. The values stay what they are; the compiler carries them
// across between the devices.
#include <fmt/format.h>

#include "engine/edit/edit.h"
#include "engine/edit/scope_attribute.h"

namespace orrery::edit {
namespace {

/// Every node but the sources, bypassed ones too. Refused when that changes nothing.
Result<graph::Journal> place(graph::Graph& graph, const Edit& edit) {
  const std::string &pattern = edit.fields.at("scope"), &word = edit.fields.at("device");
  return set_in_scopes(graph,
                       {.pattern = pattern,
                        .attribute = graph::kDeviceAttribute,
                        .value = word == kHome ? std::nullopt : std::optional(word),
                        .name = fmt::format("place {} on {}", pattern, word),
                        .nothing = "weights, inputs and states lie where their readers run: place those",
                        .unchanged = fmt::format("It is placed on {} already", word)});
}

}  // namespace

Verb place_verb() {
  static constexpr Field kFields[] = {
      {.name = "scope",
       .kind = FieldKind::scopes,
       .doc = "what is placed; * is the whole model",
       .spread = Spread::nodes},
      {"device", FieldKind::device, "cpu, cuda:0 for the first CUDA device, or home, the model's own"}};
  return {"place", "the nodes of the scope run on a device", kFields, place};
}

}  // namespace orrery::edit
