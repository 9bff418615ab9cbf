// The window answers within a frame whatever it does: no event keeps the GUI thread for longer. The real
// engine, the default model and the test device.
#include <QMenu>
#include <QScrollBar>
#include <QTest>
#include <cstdio>

#include "support/event_watch.h"
#include "support/real_services.h"
#include "support/window_fixture.h"
#include "ui/frame/workspace.h"

namespace orrery::ui::testing {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double kMostMs = 200;  // instrumented code is several times slower
#else
constexpr double kMostMs = 16;  // a frame; of the processor, as the engine uses every core meanwhile
#endif

class EventLoopTest : public WindowTest {
 protected:
  void SetUp() override {
    WindowTest::SetUp();
    Services services = realServices();
    services.cudaRefusal.clear();
    services.listDevices = api::list_devices;
    services.memoryDemand = api::memory_demand;
    window_ = makeWindow(services, ThemeChoice::dark);
    settle();
    app().watch();
  }
  static WatchedApplication& app() { return *WatchedApplication::instance(); }
  static void settle() {
    waitUntil([] { return false; }, 400);
  }
  /// Prints what took longest and holds the bar.
  static void holdBar(const char* doing) {
    settle();
    const std::vector<EventTime> longest = app().longest();
    ASSERT_FALSE(longest.empty());
    std::printf("%s:\n%s", doing, told(longest).c_str());
    EXPECT_LE(longest.front().cpuMs, kMostMs) << doing << ":\n" << told(longest);
    app().watch();
  }
  void load() {
    ASSERT_TRUE(opened(*window_, "smollm2")) << window_->graphPage()->banner()->body().toStdString();
    ASSERT_TRUE(window_->graphPage()->view()->waitForLayout());
  }
  void say(const QString& text, int tokens) {
    api::SamplingOptions greedy;
    greedy.temperature = 0;
    window_->chatPage()->sampling()->setSampling(greedy);
    window_->chatPage()->sampling()->setMaximumTokens(tokens);
    app().during("send", [&] { window_->chatPage()->send(text); });
  }
  bool idle() const {
    return waitUntil([&] { return !window_->session()->running(); }, 60000);
  }
  size_t edits() const { return window_->session()->recipe().size(); }
  std::unique_ptr<MainWindow> window_;
};

TEST_F(EventLoopTest, WhileAModelLoads) {
  load();
  holdBar("loading");
}

TEST_F(EventLoopTest, WhileAReplyIsWritten) {
  load();
  settle();
  app().watch();
  say("Why do planets farther from the Sun move more slowly?", 48);
  ASSERT_TRUE(idle());
  holdBar("a reply");
}

TEST_F(EventLoopTest, WhileGroupsOpenAndThingsAreChosen) {
  load();
  settle();
  app().watch();
  GraphPage* graph = window_->graphPage();
  for (const bool fused : {false, true}) {
    app().during("another tab", [&] { graph->showTab(fused); });
    ASSERT_TRUE(graph->view()->waitForLayout());
    app().during("open all groups", [&] { window_->action("graph.openAll")->trigger(); });
    ASSERT_TRUE(graph->view()->waitForLayout());
    settle();
    for (const char* scope : {"layers.3", "layers.7.attention", "layers.0-29"}) {
      app().during("choose a scope", [&] {
        graph->view()->selectScope(scope);
        emit window_->work().scopeChosen(scope, fused);
      });
      settle();
    }
    const NodeId node =
        (fused ? window_->session()->session()->fused_graph() : window_->session()->session()->model_graph())
            ->order()
            .back();
    app().during("choose a node", [&] { emit window_->work().nodeAsked(node, fused); });
    settle();
    app().during("find", [&] { window_->toolBar()->find()->setText("norm"); });
    settle();
    app().during("fit", [&] { window_->action("graph.fit")->trigger(); });
    app().during("fold all groups", [&] { window_->action("graph.foldAll")->trigger(); });
    ASSERT_TRUE(graph->view()->waitForLayout());
    window_->toolBar()->find()->clear();
  }
  holdBar("looking at the graph");
}

TEST_F(EventLoopTest, WhileTheGraphIsEdited) {
  load();
  settle();
  app().watch();
  for (const char* scope : {"layers.3", "layers.4-7"}) {
    const size_t before = edits();
    app().during("bypass", [&] { window_->applyEdit("bypass", scope); });
    ASSERT_TRUE(waitUntil([&] { return edits() == before + 1; }));
    ASSERT_TRUE(window_->graphPage()->view()->waitForLayout());
  }
  for (size_t left = 2; left-- > 0;) {
    app().during("undo", [&] { window_->action("edit.undo")->trigger(); });
    ASSERT_TRUE(waitUntil([&] { return edits() == left; }));
  }
  holdBar("edits");
}

TEST_F(EventLoopTest, WhileLayersArePlacedOnACard) {
  load();
  ASSERT_TRUE(waitUntil([&] { return window_->toolBar()->cuda() == "cuda:0"; }));
  settle();
  app().watch();
  app().during("place", [&] { window_->applyEdit("place", "layers.0-14", "cuda:0"); });
  ASSERT_TRUE(waitUntil([&] { return edits() == 1; }, 60000))
      << window_->graphPage()->banner()->body().toStdString();
  ASSERT_TRUE(window_->graphPage()->view()->waitForLayout());
  say("Why is the sky blue?", 8);
  ASSERT_TRUE(idle());
  app().during("undo", [&] { window_->action("edit.undo")->trigger(); });
  ASSERT_TRUE(waitUntil([&] { return edits() == 0; }));
  holdBar("placement");
}

TEST_F(EventLoopTest, WhileTheThemeOrThePaletteIsAskedFor) {
  load();
  settle();
  app().watch();
  app().during("palette", [&] { window_->action("window.palette")->trigger(); });
  settle();
  app().during("typing", [&] { QTest::keyClick(QApplication::focusWidget(), Qt::Key_T); });
  settle();
  holdBar("the palette");
}

}  // namespace
}  // namespace orrery::ui::testing
