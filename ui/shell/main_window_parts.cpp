// What the program and the tests reach of the window.
#include <QAction>

#include "ui/chat/chat_page.h"
#include "ui/classify/classify_page.h"
#include "ui/compare/compare_page.h"
#include "ui/frame/workspace.h"
#include "ui/inspector/inspector_page.h"
#include "ui/latency/latency_page.h"
#include "ui/library/library_page.h"
#include "ui/shell/commands.h"
#include "ui/shell/device_choice.h"
#include "ui/shell/docks.h"
#include "ui/shell/graph_page.h"
#include "ui/shell/main_window.h"
#include "ui/shell/opening.h"
#include "ui/shell/outline_panel.h"

namespace orrery::ui {

void MainWindow::openModel(const QString& model, const QString& adapter, const QString& recipe) {
  opening_->openModel(model, adapter, recipe);
}

void MainWindow::openModel(const api::OpenOptions& options, const QString& name) {
  opening_->openModel(options, name);
}

void MainWindow::openPaths(const QStringList& paths) { opening_->openPaths(paths); }

OpenDialog* MainWindow::askOptions(const api::OpenOptions& options, const QString& reason,
                                   const QString& name) {
  return opening_->askOptions(options, reason, name);
}

MetadataEditor* MainWindow::editMetadata(const QString& model) { return opening_->editMetadata(model); }
ExportDialog* MainWindow::exportModel() { return opening_->exportModel(); }

void MainWindow::applyEdit(const QString& verb, const QString& scope, const QString& device) {
  work_->edit(verb, scope, device);
}

void MainWindow::showPage(const QString& page) {
  page == "graph" ? graph_->view()->setFocus() : docks_->show(page);
}

SessionController* MainWindow::session() const { return work_->session(); }
SessionController* MainWindow::classifier() const { return work_->classifier(); }
TraceSaver* MainWindow::traces() const { return work_->traces(); }
SecondDevice* MainWindow::both() const { return work_->both(); }
ChatPage* MainWindow::chatPage() const { return findChild<ChatPage*>(); }
ClassifyPage* MainWindow::classifyPage() const { return findChild<ClassifyPage*>(); }
ComparePage* MainWindow::comparePage() const { return findChild<ComparePage*>(); }
LatencyPage* MainWindow::latencyPage() const { return findChild<LatencyPage*>(); }
InspectorPage* MainWindow::inspectorPage() const { return findChild<InspectorPage*>(); }
LibraryPage* MainWindow::libraryPage() const { return findChild<LibraryPage*>(); }
OutlinePanel* MainWindow::outlinePanel() const { return findChild<OutlinePanel*>(); }
DockFrame* MainWindow::dock(const QString& page) const { return docks_->dock(page); }
bool MainWindow::awaitsSecond() const { return device_->awaitsSecond(); }
const Theme& MainWindow::theme() const { return work_->theme(); }
const WindowSettings& MainWindow::settings() const { return work_->settings(); }

QAction* MainWindow::action(const QString& command) const {
  if (QAction* known = commands_->action(command)) return known;
  for (const Command& each : commands_->list())
    if (QAction* known = commands_->action(each.id); known->text().remove('&').remove("...") == command)
      return known;
  return nullptr;
}

}  // namespace orrery::ui
