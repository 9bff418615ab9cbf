// precision scope=S dtype=P: how much the nodes of S may round what they multiply. "*" names all nodes, so
// that it sets what the model computes in.
#include <fmt/format.h>

#include "engine/edit/edit.h"
#include "engine/edit/scope_attribute.h"
#include "kernels/precision.h"

namespace orrery::edit {
namespace {

constexpr std::string_view kDefault = "default";

/// Every node but the sources. Refused when that changes nothing.
Result<graph::Journal> precision(graph::Graph& graph, const Edit& edit) {
  const std::string &pattern = edit.fields.at("scope"), &word = edit.fields.at("dtype");
  return set_in_scopes(graph, {.pattern = pattern,
                               .attribute = graph::kPrecisionAttribute,
                               .value = word == kDefault ? std::nullopt : std::optional(word),
                               .name = fmt::format("precision of {}: {}", pattern, word),
                               .nothing = "weights, inputs and states are not computed: name what reads them",
                               .unchanged = fmt::format("It computes in {} already", word)});
}

}  // namespace

Verb precision_verb() {
  static const auto kChoices = [] {
    std::vector<std::string_view> names;
    for (const kernels::Precision precision : kernels::kPrecisions) names.push_back(name_of(precision));
    names.push_back(kDefault);
    return names;
  }();
  static const Field kFields[] = {
      {.name = "scope",
       .kind = FieldKind::scopes,
       .doc = "what computes so; * is the whole model",
       .spread = Spread::nodes},
      {.name = "dtype",
       .kind = FieldKind::choice,
       .doc = "what activations may be rounded to; exact is float32, default the model's own",
       .choices = kChoices}};
  return {"precision", "how much the nodes of the scope may round what they multiply", kFields, precision};
}

}  // namespace orrery::edit
