#include "engine/edit/precision.h"

#include <fmt/format.h>

#include "engine/edit/scope_attribute.h"
#include "kernels/precision.h"

namespace orrery::edit {
namespace {

constexpr std::string_view kDefault = "default";

/// The attribute's value; none for the model's own.
Result<std::optional<std::string>> wanted_precision(const std::string& word) {
  if (word == kDefault) return std::optional<std::string>();
  if (kernels::parse_precision(word)) return std::optional(word);
  std::string names;
  for (const kernels::Precision precision : kernels::kPrecisions) (names += name_of(precision)) += ", ";
  return Error{ErrorCode::invalid_argument, fmt::format("\"{}\" is no precision", word.substr(0, 80)),
               "dtype", fmt::format("use {}or {} for the model's own", names, kDefault)};
}

}  // namespace

Result<graph::Journal> precision(graph::Graph& graph, const Edit& edit) {
  const std::string &pattern = edit.fields.at("scope"), &word = edit.fields.at("dtype");
  ORRERY_ASSIGN(const std::optional<std::string> wanted, wanted_precision(word));
  return set_in_scopes(graph, {.pattern = pattern,
                               .attribute = graph::kPrecisionAttribute,
                               .value = wanted,
                               .name = fmt::format("precision of {}: {}", pattern, word),
                               .nothing = "weights, inputs and states are not computed: name what reads them",
                               .unchanged = fmt::format("It computes in {} already", word)});
}

}  // namespace orrery::edit
