#include "ui/shell/main_window.h"

#include <QApplication>
#include <QCloseEvent>
#include <QFileInfo>
#include <QShortcut>
#include <QStatusBar>
#include <QTimer>

#include "ui/session/model_title.h"
#include "ui/shell/file_drops.h"
#include "ui/shell/undo_keys.h"
#include "ui/theme/icons.h"

namespace orrery::ui {
namespace {

constexpr int kWidth = 1600, kHeight = 1000;
constexpr int kDigitsMilliseconds = 250;  // numbers are read, so they change four times a second

}  // namespace

MainWindow::MainWindow(const Services& services, const WindowOptions& options, QWidget* parent)
    : QMainWindow(parent),
      file_(options.configFolder),
      settings_(file_.load()),
      options_(options),
      traces_(new TraceSaver(this)),
      services_(traces_->watching(services)),
      session_(new SessionController(services_, this)),
      classifier_(new SessionController(services_, this)),
      comparison_(new CompareController(services_, this)),
      both_(new SecondDevice(session_, services_, this)),
      estimates_(new MemoryEstimates(services_, this)),
      places_(new PlaceMenu(this)) {
  theme_ = themeFor(options.theme.value_or(settings_.theme));
  setWindowTitle("Orrery");
  setObjectName("orrery");
  if (auto* application = qobject_cast<QApplication*>(QCoreApplication::instance()))
    applyTheme(*application, theme_);
  setWindowIcon(icon(u"logo", theme_));
  setupCentre();
  setupActions();
  setupDocks();
  setupMenus();
  setupToolBar();
  setupGraphWiring();
  setupPageWiring();
  setupCompareWiring();
  setupBothWiring();
  setupLoadWiring();
  setupMemoryWiring();
  setupPages();
  setupDrops();
  new UndoKeys(this);
  restoreWindow();
  session_->scanLibrary({});
  classifier_->scanDevices();
  refreshActions();
  refreshStatus();
}

MainWindow::~MainWindow() {
  // Docks that go still tell of their tabs and of the focus.
  disconnect(this, nullptr, this, nullptr);
  disconnect(qApp, nullptr, this, nullptr);
  // Pages listen to the sessions until all have joined their threads.
  delete comparison_;
  delete both_;
  delete classifier_;
  delete session_;
}

Theme MainWindow::themeFor(ThemeChoice choice) const {
  if (choice == ThemeChoice::system) return Theme(options_.systemMode);
  return Theme(choice == ThemeChoice::light ? Theme::Mode::light : Theme::Mode::dark);
}

void MainWindow::setupCentre() {
  graph_ = new GraphPage(theme_, places_, this);
  setCentralWidget(graph_);
  graph_->setSource(session_);
  graph_->showTab(settings_.fusedTab);
  graph_->setHeatMode(static_cast<HeatMode>(settings_.heat));
  status_ = new StatusStrip(theme_, this);
  auto* bar = new QStatusBar(this);
  bar->setSizeGripEnabled(false);
  bar->setContentsMargins(0, 0, 0, 0);
  bar->addWidget(status_, 1);
  setStatusBar(bar);
}

DockFrame* MainWindow::addDock(const QString& title, const QString& name, QWidget* page,
                               Qt::DockWidgetArea area) {
  auto* dock = new DockFrame(theme_, title, name, page, this);
  addDockWidget(area, dock);
  keeper_->add(dock);
  return dock;
}

void MainWindow::setupDocks() {
  setDockOptions(AllowTabbedDocks | AllowNestedDocks);
  setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
  keeper_ = new DockKeeper(this, this);
  library_ = new LibraryPage(theme_, session_, this);
  outline_ = new OutlinePanel(theme_, this);
  inspector_ = new InspectorPage(theme_, session_, places_, this);
  chat_ = new ChatPage(theme_, session_, this);
  classify_ = new ClassifyPage(theme_, classifier_, this);
  compare_ = new ComparePage(theme_, session_, comparison_, this);
  latency_ = new LatencyPage(theme_, {session_, classifier_}, this);
  library_->setEstimates(estimates_);
  chat_->sampling()->setSystemPrompt(settings_.systemPrompt);
  chat_->sampling()->setContextShift(settings_.contextShift);
  addDock("Library", "library", library_, Qt::LeftDockWidgetArea)->setCorner(library_->corner());
  addDock("Outline", "outline", outline_, Qt::LeftDockWidgetArea)->title()->setSubtitle("decode");
  addDock("Inspector", "inspector", inspector_, Qt::RightDockWidgetArea)->setCorner(inspector_->corner());
  addDock("Chat", "chat", chat_, Qt::BottomDockWidgetArea)->setCorner(chat_->corner());
  addDock("Classify", "classify", classify_, Qt::BottomDockWidgetArea)->setCorner(classify_->corner());
  addDock("Compare", "compare", compare_, Qt::BottomDockWidgetArea);
  DockFrame* latency = addDock("Latency", "latency", latency_, Qt::BottomDockWidgetArea);
  latency->title()->setMiddle(latency_->legend());
  latency->setCorner(latency_->corner());
  tabifyDockWidget(dock("chat"), dock("classify"));
  tabifyDockWidget(dock("classify"), dock("compare"));
  dock("chat")->raise();
}

DockFrame* MainWindow::dock(const QString& name) const {
  for (DockFrame* dock : keeper_->docks())
    if (dock->objectName() == name) return dock;
  return nullptr;
}

/// Docks take their share of a small window, so that the graph keeps most of it.
void MainWindow::applyDefaultLayout() {
  const double across = std::min(1.0, width() / static_cast<double>(kWidth));
  const auto pixels = [](double size) { return static_cast<int>(size); };
  resizeDocks({dock("library"), dock("inspector")}, {pixels(272 * across), pixels(337 * across)},
              Qt::Horizontal);
  resizeDocks({dock("library"), dock("outline")}, {215, 448}, Qt::Vertical);
  resizeDocks({dock("chat"), dock("latency")}, {816, 779}, Qt::Horizontal);
  resizeDocks({dock("chat")}, {std::min(296, pixels(0.36 * height()))}, Qt::Vertical);
}

void MainWindow::restoreWindow() {
  layout_ = new WindowLayout(this, [this] { applyDefaultLayout(); });
  connect(layout_, &WindowLayout::restored, this, [this] {
    keeper_->refresh();
    findFront();
  });
  layout_->restore(settings_.geometry, settings_.state, {kWidth, kHeight});
}

void MainWindow::setupDrops() {
  preview_ = new DropPreview(theme_, graph_);
  auto* drops = new FileDrops(this);
  connect(drops, &FileDrops::entered, this,
          [this](const QStringList& paths) { preview_->showPlan(planOf(paths, graph_->source()->title())); });
  connect(drops, &FileDrops::left, preview_, &QWidget::hide);
  connect(drops, &FileDrops::dropped, this, &MainWindow::openPaths);
}

void MainWindow::setupGraphWiring() {
  connect(graph_, &GraphPage::nodeChosen, this, [this](NodeId node, bool fused) {
    inspector_->showNode(node, fused);
    outline_->select(node);
    refreshActions();
  });
  connect(graph_, &GraphPage::scopeChosen, this, [this](const QString& scope, bool fused) {
    inspector_->showScope(scope, fused);
    outline_->selectScope(scope);
    refreshActions();
  });
  connect(graph_, &GraphPage::choiceCleared, this, [this] {
    inspector_->clear();
    refreshActions();
  });
  connect(graph_, &GraphPage::bypassAsked, this,
          [this](const QString& scopes) { applyEdit("bypass", scopes); });
  connect(graph_, &GraphPage::restoreAsked, this,
          [this](const QString& scopes) { graph_->source()->restore(scopes); });
  connect(graph_, &GraphPage::placesChanged, outline_, &OutlinePanel::setPlaces);
  connect(places_, &PlaceMenu::chosen, this,
          [this](const QString& scopes, const QString& device) { applyEdit("place", scopes, device); });
  connect(outline_, &OutlinePanel::menuAsked, this,
          [this](const QPoint& at) { graph_->showMenuOf(outline_->selection(), at); });
  for (QWidget* view : {static_cast<QWidget*>(graph_), static_cast<QWidget*>(outline_)}) {
    auto* key = new QShortcut(QKeySequence::Delete, view);
    key->setContext(Qt::WidgetWithChildrenShortcut);
    connect(key, &QShortcut::activated, this, &MainWindow::refuseDelete);
  }
  connect(graph_, &GraphPage::undoAsked, this, [this] { graph_->source()->undo(); });
  connect(graph_, &GraphPage::tabChanged, this, [this] {
    inspector_->clear();
    takeGraph();
  });
  connect(graph_, &GraphPage::matchesChanged, this, [this](int count, int current) {
    tools_->find()->setNote(tools_->find()->text().isEmpty() ? QString()
                            : count == 0                     ? "none"
                                         : QString("%1 of %2").arg(current + 1).arg(count));
  });
  connect(graph_->hint(), &DropHint::openAsked, this, &MainWindow::askOpen);
  connect(graph_->hint(), &DropHint::libraryAsked, this, [this] {
    dock("library")->show();
    dock("library")->raise();
    library_->list()->setFocus();
  });
  connect(outline_, &OutlinePanel::nodeChosen, this, &MainWindow::chooseNode);
  connect(outline_, &OutlinePanel::scopeChosen, this, [this](const QString& scope) {
    graph_->view()->selectScope(scope);
    inspector_->showScope(scope, graph_->fusedShown());
    refreshActions();
  });
}

void MainWindow::chooseNode(NodeId node) {
  graph_->view()->select(node);
  inspector_->showNode(node, graph_->fusedShown());
  refreshActions();
}

void MainWindow::setupPageWiring() {
  connect(inspector_, &InspectorPage::bypassAsked, this,
          [this](const QString& scopes) { applyEdit("bypass", scopes); });
  connect(inspector_, &InspectorPage::restoreAsked, this,
          [this](const QString& scopes) { graph_->source()->restore(scopes); });
  connect(inspector_, &InspectorPage::undoAsked, this, [this] { graph_->source()->undo(); });
  connect(inspector_, &InspectorPage::nodeAsked, this, [this](NodeId node, bool fused) {
    graph_->showTab(fused);
    outline_->select(node);
    chooseNode(node);
  });
  connect(library_, &LibraryPage::openAsked, this,
          [this](const QString& path, const QString& adapter, const QString& title) {
            openModel(optionsFor(path, adapter), title);
          });
  connect(library_, &LibraryPage::fileAsked, this, &MainWindow::askOpen);
  connect(library_, &LibraryPage::metadataAsked, this, &MainWindow::editMetadata);
  connect(library_, &LibraryPage::countChanged, this, [this](int models) {
    dock("library")->title()->setSubtitle(QString("%1 %2").arg(models).arg(models == 1 ? "model" : "models"));
    refreshRecent();
  });
  connect(chat_, &ChatPage::conversationChanged, this, &MainWindow::refreshActions);
  connect(latency_, &LatencyPage::exported, this, [this](const QString& path) {
    graph_->banner()->showNotice("Saved " + QFileInfo(path).fileName());
  });
  connect(latency_, &LatencyPage::exportFailed, this, [this](const QString& path, const QString& reason) {
    fail(describeError(
        "Could not save " + QFileInfo(path).fileName(),
        {ErrorCode::io, reason.toStdString(), path.toStdString(), "choose another folder or name"}));
  });
  connect(traces_, &TraceSaver::saved, this, [this](const QString& path) {
    graph_->banner()->showNotice("Saved " + QFileInfo(path).fileName() + "; ui.perfetto.dev opens it");
  });
  connect(traces_, &TraceSaver::failed, this, &MainWindow::fail);
}

void MainWindow::setupLoadWiring() {
  ProgressStrip* progress = graph_->progress();
  connect(session_, &SessionController::loadStarted, this, [this, progress](const QString& name) {
    graph_->banner()->dismiss();
    progress->begin("Loading " + name);
    refreshStatus();
  });
  connect(session_, &SessionController::loadProgress, progress, &ProgressStrip::setProgress);
  connect(session_, &SessionController::loadEnded, this, [this, progress] {
    progress->hide();
    refreshStatus();
    refreshActions();
  });
  connect(progress, &ProgressStrip::cancelled, session_, &SessionController::cancelLoad);
  connect(graph_->banner(), &Banner::actionChosen, this, &MainWindow::answer);
  connect(session_, &SessionController::opened, this, &MainWindow::takeModel);
  for (SessionController* source : {session_, classifier_}) {
    connect(source, &SessionController::graphChanged, this, &MainWindow::takeGraph);
    connect(source, &SessionController::profileChanged, this, [this, source] {
      if (source == graph_->source()) takeProfile();
      refreshStatus();
    });
    connect(source, &SessionController::editFailed, this, &MainWindow::fail);
    connect(source, &SessionController::planFailed, this, &MainWindow::fail);
    connect(source, &SessionController::edited, this, &MainWindow::noteEdit);
    connect(source, &SessionController::stateChanged, this, [this, source](RunState state) {
      if (source == graph_->source()) {
        if (state == RunState::prefill || state == RunState::classify) graph_->resetScale();
        graph_->setRunning(state != RunState::idle);
      }
      refreshActions();
      refreshStatus();
    });
  }
  auto* digits = new QTimer(this);
  digits->setInterval(kDigitsMilliseconds);
  connect(digits, &QTimer::timeout, this, [this] {
    pollDevices();
    refreshStatus();
  });
  digits->start();
}

void MainWindow::setThemeChoice(ThemeChoice choice) {
  settings_.theme = choice;
  theme_ = themeFor(choice);
  applyTheme(*qobject_cast<QApplication*>(QCoreApplication::instance()), theme_);
  propagateTheme(this, theme_);
  setWindowIcon(icon(u"logo", theme_));
  keeper_->refresh();
}

void MainWindow::closeEvent(QCloseEvent* event) {
  const bool asked = std::exchange(quitting_, false);
  if (metadata_ && !metadata_->mayClose()) {
    metadata_->raise();
    metadata_->activateWindow();
    return event->ignore();
  }
  if (!asked && !mayQuit()) return event->ignore();
  settings_.geometry = layout_->geometry();
  settings_.state = layout_->docks();
  settings_.fusedTab = graph_->fusedShown();
  settings_.systemPrompt = chat_->sampling()->systemPrompt();
  settings_.contextShift = chat_->sampling()->contextShift();
  const HeatMode heat = graph_->modelView()->heatMode();  // a comparison ends with the window
  settings_.heat = static_cast<int>(heat == HeatMode::ratio ? HeatMode::time : heat);
  file_.save(settings_);
  session_->stop();
  classifier_->stop();
  comparison_->stop();
  both_->second()->stop();
  event->accept();
}

}  // namespace orrery::ui
