#include "engine/edit/place.h"

#include <fmt/format.h>

#include "engine/edit/scope_pattern.h"

namespace orrery::edit {
namespace {

constexpr std::string_view kHome = "home";

/// The attribute's value; none for home.
Result<std::optional<graph::Attribute>> wanted_device(const std::string& word) {
  if (word == kHome) return std::optional<graph::Attribute>();
  if (graph::is_device_name(word)) return std::optional<graph::Attribute>(word);
  return Error{ErrorCode::invalid_argument, fmt::format("\"{}\" names no device", word.substr(0, 80)),
               "device", "use cpu, cuda:0 for the first CUDA device, or home for the model's own"};
}

struct Placed {
  int nodes = 0, changed = 0;
};

Result<void> place_scope(const graph::Graph& graph, graph::Transaction& transaction, const std::string& scope,
                         const std::optional<graph::Attribute>& device, Placed& placed) {
  const std::string_view wanted = device ? std::get<std::string>(*device) : std::string_view();
  for (const NodeId id : graph.in_scope(scope)) {
    const graph::Node& node = graph.node(id);
    if (node.is_source()) continue;
    ++placed.nodes;
    if (device_of(node) == wanted) continue;
    ORRERY_TRY(transaction.set_attribute(id, std::string(graph::kDeviceAttribute), device));
    ++placed.changed;
  }
  return {};
}

}  // namespace

Result<graph::Journal> place(graph::Graph& graph, const Edit& edit) {
  const std::string &pattern = edit.fields.at("scope"), &word = edit.fields.at("device");
  ORRERY_ASSIGN(const std::optional<graph::Attribute> device, wanted_device(word));
  ORRERY_ASSIGN(const std::vector<std::string> scopes, match_scopes(graph, pattern));
  graph::Transaction transaction(graph, fmt::format("place {} on {}", pattern, word));
  Placed placed;
  for (const std::string& scope : scopes) ORRERY_TRY(place_scope(graph, transaction, scope, device, placed));
  if (placed.nodes == 0)
    return Error{ErrorCode::invalid_argument, "Nothing runs in it", pattern,
                 "weights, inputs and states lie where their readers run: place those"};
  if (placed.changed == 0)
    return Error{ErrorCode::invalid_argument, fmt::format("It is placed on {} already", word), pattern, ""};
  return transaction.commit();
}

}  // namespace orrery::edit
