// What can be asked of the window itself.
#include "ui/frame/workspace.h"
#include "ui/shell/command_palette.h"
#include "ui/shell/docks.h"
#include "ui/shell/focus_order.h"
#include "ui/shell/graph_page.h"
#include "ui/shell/keys_dialog.h"
#include "ui/shell/main_window.h"
#include "ui/shell/status_strip.h"
#include "ui/shell/tool_bar.h"

namespace orrery::ui {

CommandList MainWindow::ownCommands() {
  return {
      {.id = "run.stop",
       .text = "S&top",
       .menu = Menu::run,
       .keys = {"Esc"},
       .icon = "stop",
       .run = [this] { work_->stop(); },
       .enabled = [this] { return work_->running(); }},
      {.id = "edit.find",
       .text = "&Find",
       .menu = Menu::edit,
       .group = 1,
       .keys = {"Ctrl+F"},
       .icon = "search",
       .title = "Find in the graph",
       .run =
           [this] {
             tools_->find()->setFocus();
             tools_->find()->selectAll();
           }},
      {.id = "window.palette",
       .text = "&Command palette",
       .menu = Menu::edit,
       .group = 1,
       .keys = {"Ctrl+K"},
       .icon = "command",
       .run = [this] { palette_->open(); }},
      {.id = "model.precision",
       .text = "&Compute in...",
       .menu = Menu::model,
       .title = "What the model computes in",
       .run =
           [this] { choosePrecision(status_->mapToGlobal(status_->precisionPlace().topLeft().toPoint())); },
       .enabled = [this] { return !status_->facts().precision.isEmpty(); }},
      {.id = "view.nextPart",
       .text = "&Next panel",
       .menu = Menu::view,
       .group = 2,
       .keys = {"F6"},
       .run = [this] { walk_->stepPart(1, graph_->view()); }},
      {.id = "view.lastPart",
       .text = "&Previous panel",
       .menu = Menu::view,
       .group = 2,
       .keys = {"Shift+F6"},
       .run = [this] { walk_->stepPart(-1, graph_->view()); }},
      {.id = "help.keys",
       .text = "&Keys",
       .menu = Menu::help,
       .keys = {"F1"},
       .icon = "command",
       .run = [this] { showKeys(); }}};
}

CommandList MainWindow::themeCommands() {
  struct Choice {
    ThemeChoice choice;
    const char *id, *text, *title;
  };
  constexpr Choice kChoices[] = {
      {ThemeChoice::system, "theme.system", "As the &desktop", "Theme as the desktop"},
      {ThemeChoice::dark, "theme.dark", "D&ark", "Dark theme"},
      {ThemeChoice::light, "theme.light", "&Light", "Light theme"}};
  CommandList commands;
  for (const auto& [choice, id, text, title] : kChoices)
    commands.push_back({.id = id,
                        .text = text,
                        .menu = Menu::view,
                        .group = 3,
                        .submenu = "&Theme",
                        .title = title,
                        .run = [this, choice = choice] { setThemeChoice(choice); },
                        .checked = [this, choice = choice] { return work_->settings().theme == choice; }});
  return commands;
}

void MainWindow::showKeys() {
  KeysDialog dialog(work_->theme(), *commands_, this);
  dialog.exec();
}

}  // namespace orrery::ui
