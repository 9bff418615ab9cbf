// note node=N text=T: a note on a node.
#include <fmt/format.h>

#include "engine/edit/edit.h"
#include "engine/edit/names.h"

namespace orrery::edit {
namespace {

/// A text takes the place of the one that is there; an empty one takes the note away.
Result<graph::Journal> note(graph::Graph& graph, const Edit& edit) {
  const std::string &path = edit.fields.at("node"), &text = edit.fields.at("text");
  const auto refuse = [&](std::string what, std::string advice) {
    return Error{ErrorCode::invalid_argument, std::move(what), path.substr(0, 200), std::move(advice)};
  };
  ORRERY_ASSIGN(const NodeId id, find_node(graph, path));
  const graph::Node& node = graph.node(id);
  if (node.is_source())
    return refuse(fmt::format("It is a {}, which is drawn on what reads it", node.op->name),
                  "write the note on a node that reads it");
  if (note_of(node) == text) return refuse(text.empty() ? "It has no note" : "It has this note already", "");
  graph::Transaction transaction(graph, (text.empty() ? "no note on " : "note on ") + path);
  ORRERY_TRY(transaction.set_attribute(id, std::string(graph::kNoteAttribute),
                                       text.empty() ? std::nullopt : std::optional<graph::Attribute>(text)));
  return transaction.commit();
}

}  // namespace

Verb note_verb() {
  static constexpr Field kFields[] = {{"node", FieldKind::node, "path of the node"},
                                      {"text", FieldKind::text, "the note; empty: none", false}};
  return {"note", "a note on a node; nothing that runs changes", kFields, note};
}

}  // namespace orrery::edit
