#include "ui/shell/main_window.h"

#include <QAction>
#include <QApplication>
#include <QCloseEvent>
#include <QMenuBar>
#include <QStatusBar>

#include "ui/frame/workspace.h"
#include "ui/session/model_title.h"
#include "ui/session/second_device.h"
#include "ui/shell/command_palette.h"
#include "ui/shell/commands.h"
#include "ui/shell/device_choice.h"
#include "ui/shell/docks.h"
#include "ui/shell/drawn_model.h"
#include "ui/shell/drop_preview.h"
#include "ui/shell/file_drops.h"
#include "ui/shell/focus_order.h"
#include "ui/shell/graph_page.h"
#include "ui/shell/openable.h"
#include "ui/shell/opening.h"
#include "ui/shell/outline_panel.h"
#include "ui/shell/questions.h"
#include "ui/shell/status_words.h"
#include "ui/shell/tool_bar.h"
#include "ui/shell/undo_keys.h"
#include "ui/shell/window_layout.h"
#include "ui/shell/window_options.h"
#include "ui/shell/workspace_control.h"
#include "ui/shell/workspace_switch.h"
#include "ui/theme/icons.h"
#include "ui/widgets/icon_label.h"

namespace orrery::ui {
namespace {

constexpr int kFirstWidth = 1600, kFirstHeight = 1000;

Theme themeFor(ThemeChoice choice, Theme::Mode system) {
  if (choice == ThemeChoice::system) return Theme(system);
  return Theme(choice == ThemeChoice::light ? Theme::Mode::light : Theme::Mode::dark);
}

}  // namespace

MainWindow::MainWindow(const Services& services, const WindowOptions& options, QWidget* parent)
    : QMainWindow(parent),
      file_(std::make_unique<SettingsFile>(options.configFolder)),
      options_(std::make_unique<WindowOptions>(options)),
      commands_(new Commands(this)) {
  const WindowSettings settings = file_->load();
  const Theme theme = themeFor(options.theme.value_or(settings.theme), options.systemMode);
  setWindowTitle("Orrery");
  setObjectName("orrery");
  if (auto* application = qobject_cast<QApplication*>(QCoreApplication::instance()))
    applyTheme(*application, theme);
  setWindowIcon(icon(u"logo", theme));
  work_ = new Workspace(theme, services, settings, options.open, this);
  setupCentre();
  setupCommands();
  setupTools();
  setupMenus();
  setupNews();
  setupLoads();
  setupDrops();
  new UndoKeys(this);
  setupLayout();
  opening_->showRecent();
  work_->classifier()->scanDevices();
  refresh();
}

MainWindow::~MainWindow() {
  // Docks that go still tell of their tabs and of the focus.
  disconnect(qApp, nullptr, docks_, nullptr);
  disconnect(this, nullptr, docks_, nullptr);
  disconnect(work_, nullptr, this, nullptr);
  delete work_;
}

void MainWindow::setupCentre() {
  const Theme& theme = work_->theme();
  setDockOptions(AllowTabbedDocks | AllowNestedDocks);
  setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
  graph_ = new GraphPage(theme, work_->places(), work_->precisions(), this);
  setCentralWidget(graph_);
  status_ = new StatusStrip(theme, this);
  words_ = std::make_unique<StatusWords>();
  auto* bar = new QStatusBar(this);
  bar->setSizeGripEnabled(false);
  bar->setContentsMargins(0, 0, 0, 0);
  bar->addWidget(status_, 1);
  setStatusBar(bar);
  docks_ = new Docks(*work_, this);
  questions_ = new Questions(
      *work_, graph_->banner(), [this](SessionController* source) { return opening_->askSaveRecipe(source); },
      this);
  opening_ = new Opening(*work_, graph_, questions_, this);
  drawn_model_ = new DrawnModel(*work_, graph_, outlinePanel(), this);
  layout_ = new WindowLayout(
      this, [this] { docks_->place(); }, [this] { docks_->shareOut(); });
  connect(layout_, &WindowLayout::placed, docks_, &Docks::refresh);
  connect(layout_, &WindowLayout::restored, docks_, &Docks::findFront);
  connect(docks_, &Docks::shown, layout_, &WindowLayout::settle);
  workspaces_ = new WorkspaceSwitch(*work_, docks_, layout_, drawn_model_, graph_, this);
}

void MainWindow::setupCommands() {
  commands_->add(opening_->commands());
  commands_->add(drawn_model_->commands());
  commands_->add(drawn_model_->partCommands());
  commands_->add(workspaces_->commands());
  commands_->add(docks_->commands());
  commands_->add(ownCommands());
  commands_->add(themeCommands());
  commands_->restoreKeys(work_->settings().keys);
  palette_ = new CommandPalette(work_->theme(), *commands_, this);
}

void MainWindow::setupMenus() {
  auto* logo = new IconLabel(work_->theme(), "logo", this);
  logo->setContentsMargins(8, 2, 2, 2);
  menuBar()->setCornerWidget(logo, Qt::TopLeftCorner);
  menuBar()->setCornerWidget(workspaces_->control(), Qt::TopRightCorner);
  commands_->fill(menuBar(), {{Menu::file, 0, opening_->recentMenu()}});
}

void MainWindow::setupTools() {
  tools_ =
      new MainToolBar(work_->theme(), commands_->tools(Tools::left), commands_->tools(Tools::graph), this);
  addToolBar(Qt::TopToolBarArea, tools_);
  drawn_model_->setTools(tools_);
  device_ = new DeviceChoice(*work_, tools_, options_->both, this);
  opening_->offerModels(tools_->modelButton()->menu(), action("file.open"));
  connect(tools_, &MainToolBar::runAsked, action("chat.run"), &QAction::trigger);
  connect(tools_, &MainToolBar::stopAsked, work_, &Workspace::stop);
  const auto showKeys = [this] {
    tools_->setKeys(action("chat.run")->shortcut(), action("run.stop")->shortcut(),
                    action("edit.find")->shortcut());
    const auto keys = [this](const char* id) {
      return action(id)->shortcut().toString(QKeySequence::NativeText);
    };
    graph_->setHints({{keys("graph.insert"), "ops"},
                      {keys("graph.bypass"), "bypass"},
                      {keys("graph.cutWires"), "cut"},
                      {keys("graph.frame"), "frame"}});
    workspaces_->showKeys(*commands_);
  };
  connect(commands_, &Commands::keysChanged, this, showKeys);
  showKeys();
  walk_ = std::make_unique<FocusWalk>(*this, tools_, docks_->keeper());
}

/// What is told of the window, and what the banner says.
void MainWindow::setupNews() {
  connect(work_, &Workspace::changed, this, &MainWindow::refresh);
  connect(work_, &Workspace::ticked, this, [this] { status_->setFacts(words_->factsOf(*work_)); });
  connect(work_, &Workspace::failed, graph_->banner(), &Banner::showError);
  connect(work_, &Workspace::noticed, this,
          [this](const QString& words) { graph_->banner()->showNotice(words); });
  connect(opening_, &Opening::opened, docks_, &Docks::showModel);
  connect(status_, &StatusStrip::precisionAsked, this, &MainWindow::choosePrecision);
  connect(graph_->hint(), &DropHint::openAsked, work_, &Workspace::fileAsked);
  connect(graph_->hint(), &DropHint::libraryAsked, docks_, [this] { docks_->show("library"); });
}

/// Of the drawn model: all of its nodes.
void MainWindow::choosePrecision(const QPoint& at) {
  const SessionPtr session = work_->drawn()->session();
  if (!session) return;
  QMenu menu;
  work_->precisions()->fill(&menu, *session, "*");
  menu.exec(at - QPoint(0, menu.sizeHint().height()));
}

void MainWindow::refresh() {
  commands_->refresh();
  tools_->setRunning(work_->running(), action("chat.run")->isEnabled());
  status_->setFacts(words_->factsOf(*work_));
}

/// The strip over the graph: what the chat's model and the one beside it load, and edits that take their
/// time.
void MainWindow::setupLoads() {
  ProgressStrip* strip = graph_->progress();
  SecondDevice* both = work_->both();
  const auto hideIdle = [=, this] {
    const bool loading = work_->session()->loading() || both->second()->loading();
    strip->setVisible(loading || work_->session()->changing() || work_->classifier()->changing());
  };
  for (SessionController* source : {work_->session(), both->second()}) {
    connect(source, &SessionController::loadStarted, this, [=, this](const QString& name) {
      graph_->banner()->dismiss();
      strip->begin("Loading " + name +
                   (source == both->second() ? " on " + deviceTitle(both->place()) : QString()));
    });
    connect(source, &SessionController::loadProgress, strip, &ProgressStrip::setProgress);
    connect(source, &SessionController::loadEnded, strip, hideIdle);
  }
  for (SessionController* source : {work_->session(), work_->classifier()}) {
    connect(source, &SessionController::changeStarted, this,
            [=] { strip->begin("Changing " + source->title()); });
    connect(source, &SessionController::changeProgress, strip, &ProgressStrip::setProgress);
    connect(source, &SessionController::changeEnded, strip, hideIdle);
    connect(strip, &ProgressStrip::cancelled, source, &SessionController::cancelChanges);
  }
  connect(strip, &ProgressStrip::cancelled, work_->session(), &SessionController::cancelLoad);
  connect(strip, &ProgressStrip::cancelled, both, [both] {
    if (both->second()->loading()) both->close();
  });
}

void MainWindow::setupDrops() {
  preview_ = new DropPreview(work_->theme(), graph_);
  auto* drops = new FileDrops(this);
  connect(drops, &FileDrops::entered, this,
          [this](const QStringList& paths) { preview_->showPlan(planOf(paths, work_->drawn()->title())); });
  connect(drops, &FileDrops::left, preview_, &QWidget::hide);
  connect(drops, &FileDrops::dropped, this, &MainWindow::openPaths);
}

void MainWindow::setupLayout() {
  workspaces_->start(options_->workspace);
  layout_->restore(work_->settings().geometry, work_->settings().state, {kFirstWidth, kFirstHeight});
}

void MainWindow::setThemeChoice(ThemeChoice choice) {
  work_->settings().theme = choice;
  const Theme theme = themeFor(choice, options_->systemMode);
  work_->setTheme(theme);
  applyTheme(*qobject_cast<QApplication*>(QCoreApplication::instance()), theme);
  propagateTheme(this, theme);
  setWindowIcon(icon(u"logo", theme));
  docks_->refresh();
}

bool MainWindow::focusNextPrevChild(bool next) { return walk_->step(next, docks_->front()); }

void MainWindow::closeEvent(QCloseEvent* event) {
  const bool asked = std::exchange(quitting_, false);
  const auto quit = [this] {
    quitting_ = true;
    close();
  };
  if (!opening_->metadataMayClose() || !opening_->exportMayClose() ||
      (!asked && !questions_->mayQuit(docks_->unsaved(), quit)))
    return event->ignore();
  WindowSettings& settings = work_->settings();
  settings.geometry = layout_->geometry();
  settings.keys = commands_->changedKeys();
  emit work_->settingsAsked();
  workspaces_->keep();
  file_->save(settings);
  work_->stop();
  event->accept();
}

}  // namespace orrery::ui
