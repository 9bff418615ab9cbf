#include "engine/edit/place.h"

#include <fmt/format.h>

#include "engine/edit/scope_attribute.h"

namespace orrery::edit {
namespace {

constexpr std::string_view kHome = "home";

/// The attribute's value; none for home.
Result<std::optional<std::string>> wanted_device(const std::string& word) {
  if (word == kHome) return std::optional<std::string>();
  if (graph::is_device_name(word)) return std::optional(word);
  return Error{ErrorCode::invalid_argument, fmt::format("\"{}\" names no device", word.substr(0, 80)),
               "device", "use cpu, cuda:0 for the first CUDA device, or home for the model's own"};
}

}  // namespace

Result<graph::Journal> place(graph::Graph& graph, const Edit& edit) {
  const std::string &pattern = edit.fields.at("scope"), &word = edit.fields.at("device");
  ORRERY_ASSIGN(const std::optional<std::string> device, wanted_device(word));
  return set_in_scopes(graph,
                       {.pattern = pattern,
                        .attribute = graph::kDeviceAttribute,
                        .value = device,
                        .name = fmt::format("place {} on {}", pattern, word),
                        .nothing = "weights, inputs and states lie where their readers run: place those",
                        .unchanged = fmt::format("It is placed on {} already", word)});
}

}  // namespace orrery::edit
