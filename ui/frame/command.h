// A command: what a person can ask of the window by a menu, the tool bar, the palette or a key. All of them
// are made from one list, to which every page adds its own.
#pragma once

#include <QString>
#include <QStringList>
#include <functional>
#include <vector>

class QAction;
class QWidget;

namespace orrery::ui {

/// Where a command stands, in the order of the menu bar.
enum class Menu { file, edit, view, graph, model, run, help };
/// The tool bar's icons: at its left, and beside what belongs to the graph.
enum class Tools { none, left, graph };

struct Command {
  QString id = {};    // "graph.fit"; in the settings with its keys, so it stays as it is
  QString text = {};  // of the menu, with its mnemonic: "&Fit"
  Menu menu = Menu::file;
  int group = 0;          // of the menu; a line parts two groups, which stand by their numbers
  QString submenu = {};   // of the menu; empty: none
  QStringList keys = {};  // "Ctrl+0"; the first one is written where there is room for one
  QString icon = {};      // of resources/icons
  QString title = {};     // in the palette and among the keys; empty: `text`
  Tools tools = Tools::none;
  QWidget* scope = nullptr;  // the keys work while the focus is in it; null: in the whole window

  std::function<void()> run = {};
  std::function<bool()> enabled = {};   // empty: always
  std::function<bool()> checked = {};   // empty: it is no switch
  std::function<QString()> words = {};  // instead of `text`, where it changes
  QAction* action = nullptr;            // one that Qt keeps; null: it is made of the above
};

using CommandList = std::vector<Command>;

}  // namespace orrery::ui
