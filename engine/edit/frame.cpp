// frame nodes=S title=T: a frame with a title is drawn around the nodes of S.
#include <fmt/format.h>

#include "engine/edit/edit.h"
#include "engine/edit/scope_attribute.h"

namespace orrery::edit {
namespace {

/// A title takes the place of the one that is there; an empty one takes the frame away.
Result<graph::Journal> frame(graph::Graph& graph, const Edit& edit) {
  const std::string &pattern = edit.fields.at("nodes"), &title = edit.fields.at("title");
  return set_in_scopes(graph,
                       {.pattern = pattern,
                        .attribute = graph::kFrameAttribute,
                        .value = title.empty() ? std::nullopt : std::optional(title),
                        .name = title.empty() ? "no frame around " + pattern
                                              : fmt::format("frame \"{}\" around {}", title, pattern),
                        .nothing = "weights, inputs and states are drawn on what reads them",
                        .unchanged = title.empty() ? "It is in no frame" : "It is in this frame already"});
}

}  // namespace

Verb frame_verb() {
  static constexpr Field kFields[] = {
      {.name = "nodes",
       .kind = FieldKind::scopes,
       .doc = "what stands in the frame",
       .spread = Spread::nodes},
      {"title", FieldKind::text, "what is written on the frame; empty: no frame", false}};
  return {"frame", "a frame with a title around nodes; nothing that runs changes", kFields, frame};
}

}  // namespace orrery::edit
