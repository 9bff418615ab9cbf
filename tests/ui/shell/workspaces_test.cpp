// Workspaces on the real window: by key and by click, what each keeps, old layouts, narrow windows.
#include <QHelpEvent>
#include <QMenu>
#include <QMenuBar>
#include <QTest>
#include <QToolTip>
#include <cstdio>

#include "support/event_watch.h"
#include "support/read_texts.h"
#include "support/window_fixture.h"
#include "ui/frame/workspace.h"
#include "ui/shell/commands.h"
#include "ui/shell/workspace_control.h"
#include "ui/shell/workspace_switch.h"

namespace orrery::ui::testing {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
constexpr double kOwnMs = 160;  // what is instrumented
#else
constexpr double kOwnMs = 16;
#endif

class WorkspacesTest : public WindowTest {
 protected:
  /// As it was left; where nothing is remembered, in See.
  void start(ThemeChoice theme = ThemeChoice::dark) {
    start(theme, QFile::exists(SettingsFile(folder_.path()).path()) ? "" : "see");
  }
  void start(ThemeChoice theme, const QString& workspace) {
    WindowOptions options;
    options.configFolder = folder_.path();
    options.theme = theme;
    options.workspace = workspace;
    window_ = std::make_unique<MainWindow>(engine_.services(), options);
    window_->show();
    settle();
  }
  static void settle() {
    for (int turn = 0; turn < 4; ++turn) QApplication::processEvents();
  }
  void again() {
    quit(*window_);
    window_.reset();
    start();
  }
  void key(int digit) {
    QTest::keyClick(window_.get(), static_cast<Qt::Key>(Qt::Key_0 + digit),
                    Qt::ControlModifier | Qt::AltModifier);
    settle();
  }
  Segmented* choice() const { return window_->workspaces()->control()->choice(); }
  QPoint middleOf(const QString& title) const {
    for (const ReadText& text : readTexts(*choice()))
      if (text.text == title) return (text.at + QPointF(4, -2)).toPoint();
    ADD_FAILURE() << title.toStdString();
    return {};
  }
  void click(const QString& title) {
    QTest::mouseClick(choice(), Qt::LeftButton, Qt::NoModifier, middleOf(title));
    settle();
  }
  std::string current() const { return window_->workspaces()->current().toStdString(); }
  /// "library outline": those that are open, by the list of pages.
  std::string open() const {
    QStringList ids;
    for (const DockFrame* dock : window_->findChildren<DockFrame*>())
      if (!dock->isHidden()) ids += dock->objectName();
    ids.sort();
    return ids.join(' ').toStdString();
  }
  QRect placeOf(const char* page) const {
    const QWidget* dock = window_->dock(page);
    return {dock->mapTo(window_.get(), QPoint()), dock->size()};
  }
  /// Not behind another tab, which Qt does by moving it out of the window.
  bool seen(const char* page) const {
    return window_->dock(page)->isVisible() && window_->rect().intersects(placeOf(page));
  }
  QRect graph() const {
    return {window_->graphPage()->mapTo(window_.get(), QPoint()), window_->graphPage()->size()};
  }
  HeatMode heat() const { return window_->graphPage()->view()->heatMode(); }
  void chooseHeat(HeatMode mode) {
    emit window_->toolBar()->heatChosen(mode);
    window_->toolBar()->setHeatMode(mode);
  }
  void width(int pixels) {
    window_->resize(pixels, window_->height());
    settle();
  }

  std::unique_ptr<MainWindow> window_;
};

TEST_F(WorkspacesTest, TheFirstStartTalksBesideTheGraph) {
  start(ThemeChoice::dark, {});
  EXPECT_EQ(current(), "talk");
  EXPECT_EQ(open(), "chat inspector latency library");
  EXPECT_EQ(window_->size(), QSize(1600, 1000));
  EXPECT_EQ(choice()->current(), 0);
  ASSERT_TRUE(opened(*window_, "chat"));
  EXPECT_TRUE(window_->chatPage()->input()->edit()->hasFocus()) << "one sentence and Enter";
  EXPECT_FALSE(window_->graphPage()->view()->parts().testFlag(GraphView::Part::strip))
      << "the graph has the room";
  EXPECT_GT(graph().height(), 350);
}

TEST_F(WorkspacesTest, EditDrawsTheGraphThatIsEdited) {
  start();
  const GraphPage* graph = window_->graphPage();
  EXPECT_TRUE(graph->fusedShown());
  key(3);
  EXPECT_FALSE(graph->fusedShown());
  key(2);
  EXPECT_TRUE(graph->fusedShown());
  window_->graphPage()->showTab(false);
  key(3);
  window_->graphPage()->showTab(true);
  key(2);
  EXPECT_FALSE(graph->fusedShown()) << "as it was left";
  key(3);
  EXPECT_TRUE(graph->fusedShown());
  key(2);
  again();
  EXPECT_FALSE(window_->graphPage()->fusedShown()) << "from start to start";
  key(3);
  EXPECT_TRUE(window_->graphPage()->fusedShown());
}

TEST_F(WorkspacesTest, SeeIsTheGraphLarge) {
  start();
  EXPECT_EQ(current(), "see");
  EXPECT_EQ(open(), "inspector library outline");
  EXPECT_GT(graph().width(), 950);
  EXPECT_GT(graph().height(), 850);
}

TEST_F(WorkspacesTest, EachIsThereByItsKey) {
  start();
  ASSERT_TRUE(opened(*window_, "chat"));
  key(1);
  EXPECT_EQ(current(), "talk");
  EXPECT_EQ(open(), "chat inspector latency library");
  EXPECT_NEAR(placeOf("library").width(), 272, 12);
  EXPECT_NEAR(placeOf("chat").width(), 922, 24);
  EXPECT_LT(placeOf("library").right(), placeOf("chat").left());
  EXPECT_LT(placeOf("chat").right(), graph().left()) << "the graph is at the right";
  EXPECT_LT(graph().bottom(), placeOf("latency").top());
  EXPECT_LT(placeOf("latency").bottom(), placeOf("inspector").top());
  EXPECT_EQ(placeOf("latency").left(), graph().left()) << "a column under the graph";
  EXPECT_NEAR(placeOf("chat").height(), placeOf("library").height(), 2);
  EXPECT_TRUE(window_->chatPage()->input()->edit()->hasFocus()) << "typing goes to the chat";
  key(3);
  EXPECT_EQ(current(), "edit");
  EXPECT_EQ(open(), "change costs history inspector ops replies");
  EXPECT_LT(placeOf("history").bottom(), placeOf("ops").top());
  EXPECT_LT(placeOf("inspector").bottom(), placeOf("change").top());
  EXPECT_LT(placeOf("costs").right(), placeOf("replies").left());
  EXPECT_EQ(placeOf("costs").left(), 0) << "the foot goes across the window";
  EXPECT_LT(graph().bottom(), placeOf("costs").top());
  key(4);
  EXPECT_EQ(current(), "measure");
  EXPECT_EQ(open(), "compare depth inspector latency sweep");
  EXPECT_TRUE(window_->dock("sweep")->tabbed() && window_->dock("compare")->tabbed());
  EXPECT_TRUE(seen("sweep")) << "the sweep is in front";
  key(5);
  EXPECT_EQ(current(), "lab");
  EXPECT_EQ(open(), "lab own_ops");
  EXPECT_TRUE(seen("lab")) << "the kernels are in front";
  EXPECT_NEAR(placeOf("lab").width(), 1240, 24);
  EXPECT_LT(placeOf("lab").right(), graph().left()) << "the graph is at the right";
  key(2);
  EXPECT_EQ(current(), "see");
  EXPECT_EQ(open(), "inspector library outline");
  EXPECT_TRUE(window_->graphPage()->view()->hasFocus());
}

TEST_F(WorkspacesTest, TheControlSwitchesAndTellsNamesAndKeys) {
  start();
  EXPECT_GT(choice()->mapTo(window_.get(), QPoint(choice()->width(), 0)).x(), window_->width() - 16);
  EXPECT_LT(choice()->mapTo(window_.get(), QPoint(0, choice()->height())).y(),
            window_->menuBar()->geometry().bottom() + 2);
  for (const auto& [title, id] : {std::pair("Edit", "edit"),
                                  {"Talk", "talk"},
                                  {"Measure", "measure"},
                                  {"Lab", "lab"},
                                  {"See", "see"}}) {
    click(title);
    EXPECT_EQ(current(), id);
    EXPECT_TRUE(window_->action("workspace." + QString(id))->isChecked());
    EXPECT_TRUE(readTexts(*window_->workspaces()->control()).front().text.startsWith("Ctrl Alt "));
  }
  QHelpEvent help(QEvent::ToolTip, middleOf("Edit"), choice()->mapToGlobal(middleOf("Edit")));
  QApplication::sendEvent(choice(), &help);
  EXPECT_TRUE(QToolTip::text().startsWith("Edit: ")) << QToolTip::text().toStdString();
  EXPECT_TRUE(QToolTip::text().endsWith("(Ctrl+Alt+3)")) << QToolTip::text().toStdString();
  window_->commands().setKeys("workspace.edit", QKeySequence("Ctrl+Alt+E"));
  QApplication::sendEvent(choice(), &help);
  EXPECT_TRUE(QToolTip::text().endsWith("(Ctrl+Alt+E)")) << QToolTip::text().toStdString();
  QStringList words;
  for (const QMenu* menu : window_->menuBar()->findChildren<QMenu*>())
    if (menu->title().remove('&') == "Workspace")
      for (const QAction* action : menu->actions()) words += action->text().remove('&');
  EXPECT_EQ(words.join(", ").toStdString(), "Talk, See, Edit, Measure, Lab, Reset workspace");
}

TEST_F(WorkspacesTest, EachKeepsWhatWasDoneInIt) {
  start();
  window_->dock("library")->close();
  window_->resizeDocks({window_->dock("inspector")}, {411}, Qt::Horizontal);
  settle();
  key(3);
  window_->dock("ops")->close();
  window_->showPage("chat");
  window_->action("view.minimap")->trigger();
  settle();
  const std::string edited = open();
  EXPECT_EQ(edited, "change chat costs history inspector replies");
  key(2);
  EXPECT_EQ(open(), "inspector outline");
  EXPECT_EQ(placeOf("inspector").width(), 411);
  EXPECT_TRUE(window_->graphPage()->view()->parts().testFlag(GraphView::Part::minimap));
  key(3);
  EXPECT_EQ(open(), edited);
  EXPECT_FALSE(window_->graphPage()->view()->parts().testFlag(GraphView::Part::minimap));
  again();
  EXPECT_EQ(current(), "edit");
  EXPECT_EQ(open(), edited);
  EXPECT_FALSE(window_->graphPage()->view()->parts().testFlag(GraphView::Part::minimap));
  EXPECT_EQ(heat(), HeatMode::off);
  key(2);
  EXPECT_EQ(open(), "inspector outline") << "from start to start";
  EXPECT_EQ(placeOf("inspector").width(), 411);
}

TEST_F(WorkspacesTest, HeatIsOffWhereEditsAreMade) {
  start();
  ASSERT_TRUE(opened(*window_, "chat"));
  chooseHeat(HeatMode::bytes);
  key(3);
  EXPECT_EQ(heat(), HeatMode::off);
  chooseHeat(HeatMode::share);
  key(4);
  EXPECT_EQ(heat(), HeatMode::share) << "as where the person comes from";
  key(2);
  EXPECT_EQ(heat(), HeatMode::bytes);
  key(3);
  EXPECT_EQ(heat(), HeatMode::share);
  ScopeValues values;
  values.add("blocks.0", 1);
  key(2);
  emit window_->work().scopesMeasured(values);
  EXPECT_EQ(heat(), HeatMode::measure);
  key(4);
  EXPECT_EQ(heat(), HeatMode::measure) << "a sweep's colours go along";
  emit window_->work().scopesMeasured({});
  EXPECT_EQ(heat(), HeatMode::share);
}

TEST_F(WorkspacesTest, ResetTakesBackThisOneOnly) {
  start();
  window_->dock("outline")->close();
  key(1);
  window_->dock("latency")->setFloating(true);
  window_->dock("library")->close();
  window_->action("view.strip")->trigger();
  chooseHeat(HeatMode::off);
  settle();
  window_->action("view.reset")->trigger();
  settle();
  EXPECT_EQ(current(), "talk");
  EXPECT_EQ(open(), "chat inspector latency library");
  EXPECT_FALSE(window_->dock("latency")->isFloating());
  EXPECT_NEAR(placeOf("chat").width(), 922, 24);
  EXPECT_FALSE(window_->graphPage()->view()->parts().testFlag(GraphView::Part::strip));
  EXPECT_EQ(heat(), HeatMode::time);
  click("See");
  EXPECT_EQ(open(), "inspector library") << "the other one stays as it was left";
}

TEST_F(WorkspacesTest, ALayoutThatIsOlderIsThatOfTheWorkspaceLikeIt) {
  struct Older {
    QStringList opened;
    const char* becomes;
  };
  for (const auto& [opened, becomes] :
       {Older{{"chat", "latency"}, "see"}, Older{{"history", "ops", "change", "costs", "replies"}, "edit"}}) {
    QTemporaryDir folder;
    std::string before;
    {
      WindowOptions options;
      options.configFolder = folder.path();
      options.workspace = "see";
      window_ = std::make_unique<MainWindow>(engine_.services(), options);
      window_->show();
      settle();
      for (const QString& page : opened) window_->showPage(page);
      if (becomes == std::string("edit"))
        for (const char* page : {"library", "outline"}) window_->dock(page)->close();
      settle();
      before = open();
      quit(*window_);
    }
    WindowSettings settings = SettingsFile(folder.path()).load();
    settings.workspace.clear();
    settings.workspaces.clear();
    settings.heat = static_cast<int>(HeatMode::bytes);
    SettingsFile(folder.path()).save(settings);
    WindowOptions options;
    options.configFolder = folder.path();
    window_ = std::make_unique<MainWindow>(engine_.services(), options);
    window_->show();
    settle();
    EXPECT_EQ(current(), becomes);
    EXPECT_EQ(open(), before) << "nothing is lost";
    EXPECT_EQ(heat(), HeatMode::bytes);
    key(1);
    EXPECT_EQ(open(), "chat inspector latency library");
    window_->workspaces()->turnTo(becomes);
    settle();
    EXPECT_EQ(open(), before);
    quit(*window_);
    window_.reset();
  }
}

TEST_F(WorkspacesTest, ANarrowWindowMakesTabsOfWhatIsBesideTheGraph) {
  start();
  key(3);
  EXPECT_FALSE(window_->dock("inspector")->tabbed());
  width(1100);
  EXPECT_TRUE(window_->dock("inspector")->tabbed() && window_->dock("change")->tabbed());
  EXPECT_TRUE(seen("inspector")) << "the upper one is in front";
  key(1);
  EXPECT_TRUE(window_->dock("latency")->tabbed() && window_->dock("inspector")->tabbed());
  EXPECT_LT(placeOf("chat").right(), graph().left());
  again();
  EXPECT_EQ(window_->width(), 1100);
  EXPECT_TRUE(window_->dock("latency")->tabbed());
  width(1500);
  EXPECT_FALSE(window_->dock("latency")->tabbed()) << "with room they are below each other again";
  EXPECT_LT(placeOf("latency").bottom(), placeOf("inspector").top());
  key(3);
  EXPECT_FALSE(window_->dock("inspector")->tabbed());
  EXPECT_LT(placeOf("inspector").bottom(), placeOf("change").top());
  width(1100);
  window_->dock("change")->close();
  width(1500);
  EXPECT_TRUE(window_->dock("change")->isHidden()) << "what was closed meanwhile stays closed";
}

TEST_F(WorkspacesTest, EveryOneFitsASmallWindow) {
  start();
  ASSERT_TRUE(opened(*window_, "chat"));
  for (const auto& [wide, high] : {std::pair(1100, 800), {900, 700}}) {
    window_->resize(wide, high);
    settle();
    for (int digit = 1; digit <= 5; ++digit) {
      key(digit);
      SCOPED_TRACE(current() + " in " + std::to_string(wide));
      EXPECT_EQ(window_->size(), QSize(wide, high)) << "no page makes it wider";
      EXPECT_TRUE(isWhole(window_->graphPage()));
      EXPECT_TRUE(isWhole(window_->workspaces()->control()));
      EXPECT_GE(graph().width(), 180);
      EXPECT_GE(graph().height(), 100);
      for (const DockFrame* dock : window_->findChildren<DockFrame*>())
        if (!dock->visibleRegion().isEmpty()) {
          EXPECT_TRUE(isWhole(dock)) << dock->objectName().toStdString();
          EXPECT_GE(dock->width(), 180) << dock->objectName().toStdString();
        }
    }
  }
}

TEST_F(WorkspacesTest, AModelThatIsOpenedOpensNoChatWhereThereIsNone) {
  start();
  ASSERT_TRUE(opened(*window_, "chat"));
  ASSERT_TRUE(opened(*window_, writeFile(path("second.gguf"), "x")));
  EXPECT_EQ(open(), "inspector library outline");
  window_->action("page.chat")->trigger();
  settle();
  EXPECT_FALSE(window_->dock("chat")->isHidden());
  EXPECT_TRUE(window_->chatPage()->input()->edit()->hasFocus());
  EXPECT_NEAR(placeOf("chat").height(), 296, 4) << "a share of its own";
  window_->dock("latency")->toggleViewAction()->trigger();
  settle();
  EXPECT_NEAR(placeOf("latency").width(), 779, 8);
}

TEST_F(WorkspacesTest, WhatIsRememberedWronglyIsMadeAnew) {
  start();
  key(3);
  quit(*window_);
  WindowSettings settings = SettingsFile(folder_.path()).load();
  settings.workspaces["see"].docks = "no state";
  settings.workspaces["see"].heat = 77;
  settings.workspaces["gone"].docks = "of a later program";
  settings.state = "nor this";
  SettingsFile(folder_.path()).save(settings);
  start();
  EXPECT_EQ(current(), "edit");
  EXPECT_EQ(open(), "change costs history inspector ops replies");
  key(2);
  EXPECT_EQ(open(), "inspector library outline");
  EXPECT_EQ(heat(), HeatMode::time);
  quit(*window_);
  window_.reset();
  EXPECT_EQ(SettingsFile(folder_.path()).load().workspaces["gone"].docks, "of a later program");
  settings.workspace = "gone";
  SettingsFile(folder_.path()).save(settings);
  start();
  EXPECT_EQ(current(), "talk");
}

/// How often anything is painted.
class Paints : public QObject {
 public:
  Paints() { qApp->installEventFilter(this); }
  int count = 0;

 protected:
  bool eventFilter(QObject*, QEvent* event) override {
    count += event->type() == QEvent::Paint;
    return false;
  }
};

TEST_F(WorkspacesTest, ASwitchIsOnePicture) {
  start();
  ASSERT_TRUE(opened(*window_, "chat"));
  for (int digit = 1; digit <= 5; ++digit) key(digit);
  for (const char* id : {"talk", "edit", "see", "lab", "measure"}) {
    const Paints paints;
    window_->workspaces()->turnTo(id);
    EXPECT_EQ(paints.count, 0) << "nothing is shown half way, to " << id;
    const QImage first = window_->grab().toImage();
    settle();
    EXPECT_TRUE(first == window_->grab().toImage()) << "and nothing moves after, to " << id;
  }
}

TEST_F(WorkspacesTest, SwitchesLeaveNothingBehind) {
  start();
  const auto round = [&] {
    for (const char* id : {"talk", "edit", "see", "lab", "measure"}) {
      window_->workspaces()->turnTo(id);
      window_->workspaces()->reset();
      settle();
    }
    return window_->findChildren<QTabBar*>(QString(), Qt::FindDirectChildrenOnly).size();
  };
  round();
  const qsizetype first = round();
  for (int i = 0; i < 5; ++i) EXPECT_LE(round(), first);
}

TEST_F(WorkspacesTest, ASwitchTakesLittleBeyondQtsLayout) {
  start();
  ASSERT_TRUE(opened(*window_, "chat"));
  for (int digit = 1; digit <= 5; ++digit) key(digit);
  const auto cost = [](const std::function<void()>& act) {
    WatchedApplication::instance()->watch();
    WatchedApplication::instance()->during("act", act);
    const double cpuMs = WatchedApplication::instance()->longest().front().cpuMs;
    settle();
    return cpuMs;
  };
  double own = 0, layout = 0;
  for (const char* id : {"talk", "edit", "see", "measure", "see", "talk", "measure", "edit"}) {
    const QByteArray before = window_->saveState(1);
    const double all = cost([&] { window_->workspaces()->turnTo(id); });
    const QByteArray after = window_->saveState(1);
    window_->restoreState(before, 1);
    settle();
    const double qt = cost([&] { window_->restoreState(after, 1); });
    own = std::max(own, all - qt);
    layout = std::max(layout, qt);
  }
  std::printf("  at most %.2f ms beyond Qt's layout, which takes %.2f ms\n", own, layout);
  EXPECT_LE(own, kOwnMs);
}

TEST_F(WorkspacesTest, PicturesOfEach) {
  for (const ThemeChoice theme : {ThemeChoice::dark, ThemeChoice::light}) {
    start(theme);
    ASSERT_TRUE(opened(*window_, "chat"));
    for (const QSize& size : {QSize(1600, 1000), QSize(1100, 800)}) {
      window_->resize(size);
      settle();
      for (int digit = 1; digit <= 5; ++digit) {
        key(digit);
        window_->graphPage()->view()->waitForLayout();
        settle();
        takePicture(*window_,
                    QString("workspace-%1-%2-%3")
                        .arg(window_->workspaces()->current(), theme == ThemeChoice::dark ? "dark" : "light")
                        .arg(size.width()));
      }
    }
    quit(*window_);
    window_.reset();
  }
}

}  // namespace
}  // namespace orrery::ui::testing
