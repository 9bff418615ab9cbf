// What can be asked of the graph that is drawn.
#include "ui/placement/bypass_choices.h"
#include "ui/session/second_device.h"
#include "ui/shell/drawn_model.h"
#include "ui/shell/graph_page.h"

namespace orrery::ui {

namespace {

/// "&Undo bypass layers.3".
QString named(const QString& verb, const QString& edit) {
  return verb + ' ' + (edit.isEmpty() ? "edit" : edit);
}

}  // namespace

CommandList DrawnModel::commands() {
  const auto view = [this] { return graph_->view(); };
  CommandList all{{.id = "edit.undo",
                   .text = "&Undo edit",
                   .menu = Menu::edit,
                   .keys = {"Ctrl+Z"},
                   .icon = "undo",
                   .tools = Tools::left,
                   .run = [this] { work_.undo(); },
                   .enabled = [this] { return work_.drawn()->canUndo(); },
                   .words = [this] { return named("&Undo", work_.drawn()->undoName()); }},
                  {.id = "edit.redo",
                   .text = "&Redo edit",
                   .menu = Menu::edit,
                   .keys = {"Ctrl+Shift+Z"},
                   .icon = "redo",
                   .tools = Tools::left,
                   .run = [this] { work_.redo(); },
                   .enabled = [this] { return work_.drawn()->canRedo(); },
                   .words = [this] { return named("&Redo", work_.drawn()->redoName()); }},
                  {.id = "graph.bypass",
                   .text = "&Bypass the selection",
                   .menu = Menu::graph,
                   .keys = {"B"},
                   .icon = "bypass",
                   .scope = graph_,  // single letters belong to the text fields while one has the focus
                   .run = [this] { bypassSelection(); },
                   .enabled = [this] { return bypassOfChosen() != Bypass::nothing; },
                   .words =
                       [this] {
                         const bool restores = bypassOfChosen() == Bypass::restores;
                         return QString(restores ? "&Restore the selection" : "&Bypass the selection");
                       }},
                  {.id = "graph.openAll",
                   .text = "&Open all groups",
                   .menu = Menu::graph,
                   .group = 1,
                   .keys = {"Ctrl+Shift+E"},
                   .run = [view] { view()->expandAll(); }},
                  {.id = "graph.foldAll",
                   .text = "Fo&ld all groups",
                   .menu = Menu::graph,
                   .group = 1,
                   .keys = {"Ctrl+Shift+L"},
                   .run = [view] { view()->collapseAll(); }},
                  {.id = "graph.arrangePage",
                   .text = "Arrange pa&ge",
                   .menu = Menu::graph,
                   .group = 1,
                   .title = "Arrange the page: layers into columns anew",
                   .run = [this] { graph_->arrangePages(); },
                   .enabled = [view] { return view()->pageSize().columns > 0; }},
                  {.id = "graph.sideBySide",
                   .text = "Side b&y side",
                   .menu = Menu::graph,
                   .group = 1,
                   .title = "Model graph and fused graph side by side",
                   .run = [this] { graph_->showSideBySide(!graph_->sideBySide()); },
                   .checked = [this] { return graph_->sideBySide(); }},
                  {.id = "graph.fit",
                   .text = "&Fit",
                   .menu = Menu::graph,
                   .group = 2,
                   .keys = {"Ctrl+0"},
                   .icon = "fit",
                   .title = "Fit the graph into the window",
                   .tools = Tools::graph,
                   .run = [view] { view()->fit(); }},
                  {.id = "graph.zoomIn",
                   .text = "Zoom &in",
                   .menu = Menu::graph,
                   .group = 2,
                   .keys = {"Ctrl++", "Ctrl+="},
                   .icon = "plus",
                   .run = [view] { view()->zoomIn(); }},
                  {.id = "graph.zoomOut",
                   .text = "Zoom &out",
                   .menu = Menu::graph,
                   .group = 2,
                   .keys = {"Ctrl+-"},
                   .icon = "minus",
                   .run = [view] { view()->zoomOut(); }},
                  {.id = "model.fuse",
                   .text = "&Fuse operations",
                   .menu = Menu::model,
                   .icon = "fuse",
                   .run = [this] { work_.setFusion(!work_.fuses()); },
                   .checked = [this] { return work_.fuses(); }},
                  {.id = "model.measure",
                   .text = "&Measure every node",
                   .menu = Menu::model,
                   .run = [this] { work_.setProfiled(!work_.profiled()); },
                   .checked = [this] { return work_.profiled(); }}};
  const CommandList edits = editCommands();
  all.insert(all.end(), edits.begin(), edits.end());
  return all;
}

CommandList DrawnModel::partCommands() {
  struct Choice {
    GraphView::Part part;
    const char *id, *text, *title;
  };
  constexpr Choice kChoices[] = {
      {GraphView::Part::lens, "view.lens", "L&ens", "Lens: a layer under the pointer from near"},
      {GraphView::Part::strip, "view.strip", "Legend st&rip", "Strip under the graph"},
      {GraphView::Part::minimap, "view.minimap", "&Minimap", "Minimap in the strip"},
      {GraphView::Part::step, "view.step", "&Step beside the graph", "Step beside the graph"}};
  CommandList commands;
  for (const auto& [part, id, text, title] : kChoices)
    commands.push_back({.id = id,
                        .text = text,
                        .menu = Menu::view,
                        .group = 1,
                        .title = title,
                        .run =
                            [this, part = part] {
                              const GraphView::Parts parts = graph_->view()->parts() ^ part;
                              graph_->setParts(parts);
                              emit graph_->partsChanged(parts);
                            },
                        .checked = [this, part = part] { return graph_->view()->parts().testFlag(part); }});
  return commands;
}

}  // namespace orrery::ui
