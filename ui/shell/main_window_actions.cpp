// The window's actions, menus and tool bar.
#include <QActionGroup>
#include <QApplication>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenuBar>
#include <QToolButton>

#include "ui/shell/keys_dialog.h"
#include "ui/shell/main_window.h"
#include "ui/shell/openable.h"
#include "ui/widgets/icon_label.h"

namespace orrery::ui {

QAction* MainWindow::makeAction(const QString& text, const QString& icon, const QString& keys,
                                std::function<void()> run) {
  auto* action = new QAction(text, this);
  action->setObjectName(icon);
  if (!keys.isEmpty()) {
    QList<QKeySequence> sequences;
    for (const QString& key : keys.split(' ')) sequences += QKeySequence(key);
    action->setShortcuts(sequences);
  }
  addAction(action);  // the key works whatever menu is shown
  connect(action, &QAction::triggered, this, [run = std::move(run)] { run(); });
  return action;
}

void MainWindow::setupActions() {
  do_.open = makeAction("&Open...", "open", "Ctrl+O", [this] { askOpen(); });
  do_.openFolder = makeAction("Open &folder...", "", "Ctrl+Shift+O", [this] { askOpenFolder(); });
  do_.saveRecipe =
      makeAction("&Save recipe...", "save", "Ctrl+S", [this] { askSaveRecipe(graph_->source()); });
  do_.quit = makeAction("&Quit", "", "Ctrl+Q", [this] { close(); });
  do_.undo = makeAction("&Undo edit", "undo", "Ctrl+Z", [this] { graph_->source()->undo(); });
  do_.redo = makeAction("&Redo edit", "redo", "Ctrl+Shift+Z", [this] { graph_->source()->redo(); });
  do_.bypass = makeAction("&Bypass the selection", "bypass", "B", [this] { bypassSelection(); });
  do_.newChat = makeAction("&New chat", "plus", "Ctrl+N", [this] {
    showPage("chat");
    chat_->newChat();
  });
  do_.regenerate = makeAction("Re&generate", "refresh", "Ctrl+Return", [this] { chat_->regenerate(); });
  do_.run = makeAction("&Run", "play", "F5", [this] { runOrRepeat(); });
  do_.stop = makeAction("S&top", "stop", "Esc", [this] { stopAll(); });
  do_.fit = makeAction("&Fit", "fit", "Ctrl+0", [this] { graph_->view()->fit(); });
  do_.find = makeAction("&Find", "search", "Ctrl+F", [this] {
    tools_->find()->setFocus();
    tools_->find()->selectAll();
  });
  do_.expandAll = makeAction("&Open all groups", "", "Ctrl+Shift+E", [this] { graph_->view()->expandAll(); });
  do_.foldAll = makeAction("Fo&ld all groups", "", "Ctrl+Shift+L", [this] { graph_->view()->collapseAll(); });
  do_.zoomIn = makeAction("Zoom &in", "plus", "Ctrl++ Ctrl+=", [this] { graph_->view()->zoomIn(); });
  do_.zoomOut = makeAction("Zoom &out", "minus", "Ctrl+-", [this] { graph_->view()->zoomOut(); });
  do_.exportGraph = makeAction("&Export the graph...", "export", "Ctrl+E", [this] { askExportGraph(); });
  do_.saveTrace = makeAction("Save &trace...", "", "", [this] { askSaveTrace(); });
  do_.metadata = makeAction("Edit &metadata...", "", "Ctrl+M", [this] {
    editMetadata(QString::fromStdString(graph_->source()->session()->info().path));
  });
  do_.classifyCsv = makeAction("Classify a &CSV...", "", "", [this] {
    showPage("classify");
    const QString path = QFileDialog::getOpenFileName(this, "Open a table of texts", settings_.lastFolder,
                                                      "Tables (*.csv *.tsv)");
    if (!path.isEmpty()) classify_->openCsv(path);
  });
  do_.chatPage = makeAction("&Chat", "", "Ctrl+1", [this] { showPage("chat"); });
  do_.classifyPage = makeAction("C&lassify", "", "Ctrl+2", [this] { showPage("classify"); });
  do_.comparePage = makeAction("Co&mpare", "", "Ctrl+3", [this] { showPage("compare"); });
  do_.nextPart = makeAction("&Next panel", "", "F6", [this] { focusPart(1); });
  do_.lastPart = makeAction("&Previous panel", "", "Shift+F6", [this] { focusPart(-1); });
  do_.keys = makeAction("&Keys", "", "F1", [this] { showKeys(); });
  do_.fusion = makeAction("&Fuse operations", "", "", [this] {
    graph_->source()->setFusion(do_.fusion->isChecked());
    if (graph_->source() == session_) both_->second()->setFusion(do_.fusion->isChecked());
  });
  do_.fusion->setCheckable(true);
  do_.fusion->setChecked(options_.open.fusion);
  do_.profiler = makeAction("&Measure every node", "", "", [this] {
    session_->setProfiling(do_.profiler->isChecked());
    classifier_->setProfiling(do_.profiler->isChecked());
    both_->second()->setProfiling(do_.profiler->isChecked());
  });
  do_.profiler->setCheckable(true);
  do_.profiler->setChecked(true);
  // Single letters belong to the text fields while one has the focus.
  do_.bypass->setShortcutContext(Qt::WidgetWithChildrenShortcut);
  removeAction(do_.bypass);
  graph_->addAction(do_.bypass);
}

void MainWindow::setupMenus() {
  auto* logo = new IconLabel(theme_, "logo", this);
  logo->setContentsMargins(8, 2, 2, 2);
  menuBar()->setCornerWidget(logo, Qt::TopLeftCorner);
  const auto fill = [](QMenu* menu, std::initializer_list<QAction*> actions) {
    for (QAction* action : actions)
      action ? menu->addAction(action) : static_cast<void>(menu->addSeparator());
  };
  QMenu* file = menuBar()->addMenu("&File");
  file->addAction(do_.open);
  file->addAction(do_.openFolder);
  recentMenu_ = file->addMenu("Open &recent");
  fill(file,
       {nullptr, do_.saveRecipe, do_.exportGraph, do_.saveTrace, nullptr, do_.metadata, nullptr, do_.quit});
  fill(menuBar()->addMenu("&Edit"), {do_.undo, do_.redo, nullptr, do_.find});
  setupViewMenu(menuBar()->addMenu("&View"));
  fill(menuBar()->addMenu("&Graph"),
       {do_.bypass, nullptr, do_.expandAll, do_.foldAll, nullptr, do_.fit, do_.zoomIn, do_.zoomOut});
  fill(menuBar()->addMenu("&Model"), {do_.fusion, do_.profiler});
  fill(menuBar()->addMenu("&Run"),
       {do_.run, do_.stop, nullptr, do_.newChat, do_.regenerate, nullptr, do_.classifyCsv});
  fill(menuBar()->addMenu("&Help"), {do_.keys});
  showRecent();
}

void MainWindow::setupViewMenu(QMenu* menu) {
  menu->addAction(do_.chatPage);
  menu->addAction(do_.classifyPage);
  menu->addAction(do_.comparePage);
  menu->addSeparator();
  for (DockFrame* dock : keeper_->docks()) menu->addAction(dock->toggleViewAction());
  menu->addSeparator();
  menu->addAction(do_.nextPart);
  menu->addAction(do_.lastPart);
  menu->addSeparator();
  QMenu* themes = menu->addMenu("&Theme");
  auto* group = new QActionGroup(this);
  const std::pair<ThemeChoice, const char*> choices[] = {
      {ThemeChoice::system, "As the &desktop"}, {ThemeChoice::dark, "D&ark"}, {ThemeChoice::light, "&Light"}};
  for (const auto& [choice, name] : choices) {
    QAction* action = themes->addAction(name, this, [this, choice = choice] { setThemeChoice(choice); });
    action->setCheckable(true);
    action->setChecked(choice == settings_.theme);
    group->addAction(action);
  }
  menu->addAction("&Reset the layout", this, [this] {
    for (DockFrame* dock : keeper_->docks()) {
      dock->setFloating(false);
      dock->show();
    }
    applyDefaultLayout();
  });
}

void MainWindow::setupToolBar() {
  tools_ = new MainToolBar(theme_, {do_.open, do_.saveRecipe, do_.undo, do_.redo}, do_.fit, this);
  addToolBar(Qt::TopToolBarArea, tools_);
  tools_->setDevices({}, QString::fromStdString(services_.cudaRefusal));
  places_->setDevices({}, QString::fromStdString(services_.cudaRefusal));
  tools_->setHeatMode(static_cast<HeatMode>(settings_.heat));
  connect(tools_, &MainToolBar::runAsked, this, &MainWindow::runOrRepeat);
  connect(tools_, &MainToolBar::stopAsked, this, &MainWindow::stopAll);
  connect(tools_, &MainToolBar::heatChosen, this, [this](HeatMode mode) {
    settings_.heat = static_cast<int>(mode);
    graph_->setHeatMode(mode);
  });
  tools_->setDevice(options_.open.device, false);
  connect(tools_, &MainToolBar::deviceChosen, this, &MainWindow::chooseDevice);
  connect(tools_, &MainToolBar::bothChosen, this, [this] {
    showGraphOf(session_);  // it is the chat's model that runs on both
    both_->open(tools_->cuda());
  });
  for (SessionController* source : {classifier_, session_})
    connect(source, &SessionController::devicesScanned, this, &MainWindow::takeDevices);
  connect(tools_, &MainToolBar::phaseChosen, this, [this](api::Phase phase) {
    phase_ = phase;
    showPhase();
  });
  connect(tools_->find(), &QLineEdit::textChanged, this, &MainWindow::find);
  connect(tools_->find(), &QLineEdit::returnPressed, this,
          [this] { nextMatch(!(QApplication::keyboardModifiers() & Qt::ShiftModifier)); });
  connect(tools_->find(), &SearchField::escaped, this, [this] {
    tools_->find()->clear();
    graph_->view()->setFocus();
  });
}

void MainWindow::addRecent(const QString& path) {
  settings_.addRecent(QFileInfo::exists(path) ? QFileInfo(path).absoluteFilePath() : path);
  showRecent();
}

void MainWindow::showRecent() {
  QStringList models;
  for (const QString& path : settings_.recent)
    if (openableOf(path).kind == Openable::Kind::model) models += path;
  library_->setRecent(models);
  refreshRecent();
}

void MainWindow::refreshRecent() {
  if (!recentMenu_) return;
  recentMenu_->clear();
  int digit = 1;
  for (const QString& model : settings_.recent) {
    const QString name = QFileInfo(model).fileName();
    recentMenu_
        ->addAction(QString("&%1  %2").arg(digit++).arg(name), this, [this, model] { openPaths({model}); })
        ->setToolTip(model);
  }
  recentMenu_->setEnabled(!settings_.recent.isEmpty());
  QMenu* models = tools_ ? tools_->modelButton()->menu() : nullptr;
  if (!models) return;
  models->clear();
  const LibraryModel* library = library_->model();
  for (int row = 0; row < library->rowCount(); ++row) {
    const QModelIndex index = library->index(row);
    const QString path = index.data(LibraryModel::pathRole).toString(),
                  adapter = index.data(LibraryModel::adapterRole).toString(),
                  title = index.data(LibraryModel::titleRole).toString();
    models->addAction(index.data(LibraryModel::nameRole).toString() + "   " +
                          index.data(LibraryModel::detailRole).toString(),
                      this, [=, this] { openModel(optionsFor(path, adapter), title); });
  }
  models->addSeparator();
  models->addAction(do_.open);
}

void MainWindow::showKeys() {
  std::vector<KeyEntry> entries;
  for (const QAction* action : findChildren<QAction*>()) {
    if (action->shortcuts().isEmpty()) continue;
    entries.push_back({action->text().remove('&').remove("..."),
                       QKeySequence::listToString(action->shortcuts(), QKeySequence::NativeText)});
  }
  const std::vector<KeyEntry> fixed = {{"Send the message", "Enter"},
                                       {"New line in the message", "Shift+Enter"},
                                       {"Next match", "Enter in the find field"},
                                       {"Previous match", "Shift+Enter in the find field"},
                                       {"Fold or open a group", "Double click"},
                                       {"Choose several nodes or groups", "Ctrl and click"},
                                       {"Zoom the graph or the plot", "Wheel"},
                                       {"Follow the plot's live end again", "Double click in the plot"}};
  entries.insert(entries.end(), fixed.begin(), fixed.end());
  KeysDialog dialog(theme_, entries, this);
  dialog.exec();
}

void MainWindow::askOpen() {
  const QString path = QFileDialog::getOpenFileName(this, "Open a model, an adapter or a recipe",
                                                    settings_.lastFolder, modelFilters());
  if (path.isEmpty()) return;
  settings_.lastFolder = QFileInfo(path).path();
  openPaths({path});
}

void MainWindow::askOpenFolder() {
  const QString path = QFileDialog::getExistingDirectory(this, "Open a model's folder", settings_.lastFolder);
  if (path.isEmpty()) return;
  settings_.lastFolder = QFileInfo(path).path();
  openPaths({path});
}

void MainWindow::askExportGraph() {
  const QString path = QFileDialog::getSaveFileName(this, "Export the graph", "graph.svg",
                                                    "Drawing (*.svg);;Document (*.pdf);;Picture (*.png)");
  if (path.isEmpty()) return;
  QString reason;
  if (graph_->view()->exportImage(path, &reason))
    return graph_->banner()->showNotice("Saved " + QFileInfo(path).fileName());
  fail(describeError("Could not export the graph", {ErrorCode::io, reason.toStdString(), path.toStdString(),
                                                    "choose another folder or name"}));
}

void MainWindow::askSaveTrace() {
  const QString path = QFileDialog::getSaveFileName(this, "Save what ran when, of every open model",
                                                    "trace.json", "Traces (*.json)");
  if (!path.isEmpty()) traces_->save(path);
}

void MainWindow::runOrRepeat() {
  if (const QString text = chat_->input()->text().trimmed(); !text.isEmpty()) return chat_->send(text);
  if (chat_->canRegenerate()) return chat_->regenerate();
  showPage("chat");
}

void MainWindow::stopAll() {
  session_->stop();
  classifier_->stop();
  comparison_->stop();
  both_->second()->stop();
}

/// Or restores it, where it is bypassed.
void MainWindow::bypassSelection() {
  const std::vector<BypassChoice> choices = graph_->bypasses(graph_->view()->selection());
  if (choices.empty()) return;
  const BypassChoice& choice = choices.front();
  if (!choice.refusal.isEmpty())
    return graph_->banner()->showWarning(choice.name + " cannot be bypassed", choice.refusal);
  choice.restores ? graph_->source()->restore(choice.scopes) : applyEdit("bypass", choice.scopes);
}

QAction* MainWindow::action(const QString& name) const {
  for (QAction* action : findChildren<QAction*>())
    if (action->text().remove('&').remove("...") == name) return action;
  return nullptr;
}

}  // namespace orrery::ui
