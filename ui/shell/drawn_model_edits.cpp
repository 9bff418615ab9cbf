// What can be asked of the drawing as an editor: commands, the context menu's part, back to the original.
#include <QMenu>

#include "ui/placement/bypass_choices.h"
#include "ui/placement/menu_edits.h"
#include "ui/shell/drawn_model.h"
#include "ui/shell/graph_page.h"

namespace orrery::ui {
namespace {

/// The entries of the context menu that are commands, with the keys that they have at first.
struct Entry {
  const char *words, *keys;
  void (*run)(GraphEditor&);
  const char* reconnects = nullptr;  // of a deletion: whether it does
};

}  // namespace

CommandList DrawnModel::editCommands() {
  const auto editor = [this] { return graph_->view()->editor(); };
  const auto chosen = [this] { return !graph_->view()->selection().empty(); };
  const auto open = [this] { return work_.drawn()->session() != nullptr; };
  return {{.id = "graph.insert",
           .text = "&Insert an op...",
           .menu = Menu::graph,
           .group = 3,
           .keys = {"Tab"},
           .icon = "plus",
           .title = "Insert an op into the graph",
           .scope = graph_,
           .run = [editor] { editor()->openPalette(); },
           .enabled = [this, open] { return open() && !graph_->fusedShown(); }},  // there Tab goes on
          {.id = "graph.delete",
           .text = "&Delete",
           .menu = Menu::graph,
           .group = 3,
           .keys = {"Del"},
           .icon = "trash",
           .title = "Delete the selection",
           .scope = graph_,
           .run = [editor] { editor()->remove(false); },
           .enabled = open},
          {.id = "graph.deleteReconnect",
           .text = "Delete and &reconnect",
           .menu = Menu::graph,
           .group = 3,
           .keys = {"Ctrl+Del"},
           .title = "Delete the selection and reconnect what it joined",
           .scope = graph_,
           .run = [editor] { editor()->remove(true); },
           .enabled = open},
          {.id = "graph.original",
           .text = "Back to the &original",
           .menu = Menu::graph,
           .group = 3,
           .keys = {"Ctrl+Backspace"},
           .icon = "history",
           .title = "Selection back to the original",
           .scope = graph_,
           .run = [this] { restoreChosen(); },
           .enabled = [this] { return canRestoreChosen(); }},
          {.id = "graph.cut",
           .text = "Cu&t nodes",
           .menu = Menu::edit,
           .group = 2,
           .keys = {"Ctrl+X"},
           .scope = graph_,
           .run = [editor] { editor()->cut(); },
           .enabled = chosen},
          {.id = "graph.copy",
           .text = "&Copy nodes",
           .menu = Menu::edit,
           .group = 2,
           .keys = {"Ctrl+C"},
           .icon = "copy",
           .scope = graph_,
           .run = [editor] { editor()->copy(); },
           .enabled = chosen},
          {.id = "graph.paste",
           .text = "&Paste nodes with their inputs",
           .menu = Menu::edit,
           .group = 2,
           .keys = {"Ctrl+V"},
           .scope = graph_,
           .run = [editor] { editor()->paste(true); },
           .enabled = open},
          {.id = "graph.pasteOpen",
           .text = "Paste nodes &without inputs",
           .menu = Menu::edit,
           .group = 2,
           .keys = {"Ctrl+Shift+V"},
           .scope = graph_,
           .run = [editor] { editor()->paste(false); },
           .enabled = open},
          {.id = "graph.duplicate",
           .text = "&Duplicate nodes",
           .menu = Menu::edit,
           .group = 2,
           .keys = {"Ctrl+D"},
           .scope = graph_,
           .run = [editor] { editor()->duplicate(); },
           .enabled = chosen},
          {.id = "graph.chooseAll",
           .text = "Choose &all beside it",
           .menu = Menu::edit,
           .group = 2,
           .keys = {"Ctrl+A"},
           .title = "Choose all nodes of the group",
           .scope = graph_,
           .run = [editor] { editor()->chooseAll(); },
           .enabled = open},
          {.id = "graph.cutWires",
           .text = "Cut &wires by a stroke",
           .menu = Menu::graph,
           .group = 4,
           .keys = {"X"},
           .scope = graph_,
           .run = [editor] { editor()->beginCut(); },
           .enabled = open},
          {.id = "graph.frame",
           .text = "Fra&me around the selection",
           .menu = Menu::graph,
           .group = 4,
           .keys = {"Ctrl+G"},
           .icon = "frame",
           .tools = Tools::graph,
           .scope = graph_,
           .run = [editor] { editor()->frame(); },
           .enabled = chosen},
          {.id = "graph.note",
           .text = "&Note at the node",
           .menu = Menu::graph,
           .group = 4,
           .keys = {"Shift+N"},
           .icon = "note",
           .tools = Tools::graph,
           .scope = graph_,
           .run = [editor] { editor()->note(); },
           .enabled = chosen},
          {.id = "graph.rename",
           .text = "Rena&me",
           .menu = Menu::graph,
           .group = 4,
           .keys = {"F2"},
           .icon = "pencil",
           .title = "Rename the node",
           .scope = graph_,
           .run = [editor] { editor()->rename(); },
           .enabled = chosen},
          {.id = "graph.output",
           .text = "An &output, or no more",
           .menu = Menu::graph,
           .group = 4,
           .keys = {"Shift+O"},
           .title = "Make what the node makes an output of the graph, or no more",
           .scope = graph_,
           .run = [editor] { editor()->output(); },
           .enabled = chosen},
          {.id = "graph.arrange",
           .text = "&Arrange",
           .menu = Menu::graph,
           .group = 4,
           .icon = "arrange",
           .title = "Arrange the graph: forget what was dragged",
           .tools = Tools::graph,
           .run = [editor] { editor()->arrange(); },
           .enabled = open},
          {.id = "graph.wiresByType",
           .text = "&Wires coloured by dtype",
           .menu = Menu::view,
           .group = 3,
           .run = [this] { graph_->setWiresByType(!graph_->wiresByType()); },
           .checked = [this] { return graph_->wiresByType(); }},
          {.id = "graph.diff",
           .text = "Di&ff on the graph",
           .menu = Menu::view,
           .group = 3,
           .run = [this] { graph_->setDiffShown(!graph_->diffShown()); },
           .checked = [this] { return graph_->diffShown(); }},
          {.id = "view.reducedMotion",
           .text = "Reduced &motion",
           .menu = Menu::view,
           .group = 3,
           .title = "Reduced motion: views of the graph change at once",
           .run = [this] { graph_->setReducedMotion(!graph_->reducedMotion()); },
           .checked = [this] { return graph_->reducedMotion(); }}};
}

void DrawnModel::fillEditMenu(QMenu& menu) {
  static constexpr Entry kEntries[] = {
      {"Delete", "Del", [](GraphEditor& editor) { editor.remove(false); }, "false"},
      {"Delete and reconnect", "Ctrl+Del", [](GraphEditor& editor) { editor.remove(true); }, "true"},
      {"Duplicate", "Ctrl+D", [](GraphEditor& editor) { editor.duplicate(); }},
      {"Copy", "Ctrl+C", [](GraphEditor& editor) { editor.copy(); }},
      {"Frame", "Ctrl+G", [](GraphEditor& editor) { editor.frame(); }}};
  GraphEditor* editor = graph_->view()->editor();
  const std::vector<GraphView::Selected> chosen = graph_->view()->selection();
  menu.addSeparator();
  menu.addAction("Insert an op...\tTab", editor, &GraphEditor::openPalette);
  if (!chosen.empty()) {
    for (const Entry& entry : kEntries) {
      QAction* action = menu.addAction(QString("%1\t%2").arg(entry.words, entry.keys), editor,
                                       [editor, run = entry.run] { run(*editor); });
      if (!entry.reconnects) continue;
      edit::Edit deletion = editOf("delete", graph_->chosenScopes());
      deletion.fields["reconnect"] = entry.reconnects;
      carry(action, {std::move(deletion)});
    }
  }
  if (!chosen.empty() && chosen.back().node.valid()) {
    menu.addAction("Note\tShift+N", editor, &GraphEditor::note);
    menu.addAction("Output, or no more\tShift+O", editor, &GraphEditor::output);
    menu.addAction("Rename\tF2", editor, &GraphEditor::rename);
  }
  if (editor->canPaste()) menu.addAction("Paste\tCtrl+V", editor, [editor] { editor->paste(true); });
  if (canRestoreChosen())
    menu.addAction("Back to the original\tCtrl+Backspace", this, &DrawnModel::restoreChosen);
  menu.addSeparator();
}

void DrawnModel::showOriginalMenu(const QPoint& position) {
  QMenu menu;
  menu.addAction("Back to the original", this, &DrawnModel::restoreChosen)->setEnabled(canRestoreChosen());
  menu.exec(position);
}

bool DrawnModel::canRestoreChosen() const {
  return !graph_->view()->selection().empty() && work_.drawn()->canUndo();
}

/// Of everything that is chosen, whatever was done to it.
void DrawnModel::restoreChosen() {
  const QString scopes = graph_->chosenScopes();
  if (!scopes.isEmpty()) work_.restore(scopes);
}

}  // namespace orrery::ui
