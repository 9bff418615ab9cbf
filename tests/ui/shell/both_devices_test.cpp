// "Both" in the window: the second device opens beside the first, every message runs on both, all follows.
#include <QTest>

#include "support/window_fixture.h"

namespace orrery::ui::testing {
namespace {

enum Choice { cpuChoice, cudaChoice, bothChoice };

class BothTest : public WindowTest {
 protected:
  void SetUp() override {
    WindowTest::SetUp();
    engine_.devices = {{"cpu", "AVX2", "", 16'000'000'000, 8'000'000'000},
                       {"cuda:0", "NVIDIA H200", "", 141'000'000'000, 140'000'000'000}};
  }
  std::unique_ptr<MainWindow> makeOpened(const Services& services) {
    auto window = makeWindow(services, ThemeChoice::dark);
    EXPECT_TRUE(opened(*window, "chat"));
    EXPECT_TRUE(waitUntil([&] { return window->comparePage()->settings().size() > 5; })) << "devices";
    return window;
  }
  std::unique_ptr<MainWindow> makeBoth() {
    auto window = makeOpened(engine_.services());
    press(*window, bothChoice);
    EXPECT_TRUE(waitUntil([&] { return window->both()->ready(); }));
    return window;
  }
  static void press(MainWindow& window, Choice choice) {
    Segmented* device = window.toolBar()->device();
    const int third = device->width() / 3;
    QTest::mouseClick(device, Qt::LeftButton, {}, QPoint(third * choice + third / 2, device->height() / 2));
  }
  static bool idle(MainWindow& window) {
    return waitUntil([&] { return !window.session()->running() && !window.both()->running(); });
  }
  static const FakeSession& second(MainWindow& window) {
    return dynamic_cast<const FakeSession&>(*window.both()->second()->session());
  }
};

TEST_F(BothTest, EveryMessageRunsOnBothAndBothAreShown) {
  auto window = makeBoth();
  EXPECT_EQ(window->toolBar()->device()->current(), bothChoice);
  EXPECT_EQ(second(*window).options().device, "cuda:0");
  window->chatPage()->send("Why?");
  EXPECT_TRUE(window->both()->running());
  ASSERT_TRUE(idle(*window));
  ASSERT_EQ(second(*window).requests().size(), 1U);
  EXPECT_EQ(second(*window).requests()[0].messages.back().content, "Why?");
  EXPECT_EQ(window->chatPage()->transcript()->messageCount(), 2U) << "the reply is the first one's";
  ASSERT_TRUE(window->latencyPage()->pairShown());
  EXPECT_EQ(window->latencyPage()->sides()[1].name, "CUDA 0");
  for (const bool b : {false, true}) EXPECT_EQ(window->latencyPage()->pairSeries(b).samples().size(), 23U);
  const ComparePage* page = window->comparePage();
  for (const api::Side side : {api::Side::a, api::Side::b})
    EXPECT_TRUE(page->card(side)->text().startsWith("Planets farther from the Sun"));
  ASSERT_TRUE(waitUntil([&] { return page->tile(0)->value() == "identical"; }));
  EXPECT_FALSE(page->stale());
  EXPECT_EQ(window->graphPage()->view()->heatMode(), HeatMode::ratio);
  EXPECT_TRUE(window->outlinePanel()->model()->compared());
  takePicture(*window, "both-dark");
}

TEST_F(BothTest, TheCardInUseTellsItsStateAtThePlotAndInTheStatusLine) {
  auto window = makeBoth();
  const VitalsStrip* vitals = window->latencyPage()->vitals();
  ASSERT_TRUE(waitUntil([&] { return vitals->isVisible(); }));
  ASSERT_EQ(vitals->lines().size(), 1U);
  const auto& figures = vitals->lines()[0].figures;
  ASSERT_EQ(figures.size(), 4U);
  EXPECT_EQ(figures[1], std::pair(QString("power"), QString("320 W")));
  EXPECT_EQ(figures[2], std::pair(QString("memory"), QString("211 MB / 141 GB")));
  EXPECT_TRUE(waitUntil([&] { return window->status()->facts().machine.contains("CUDA 0, AVX2, 1"); }));
  EXPECT_TRUE(window->status()->facts().machine.startsWith("CPU, 2 threads"));
  press(*window, cpuChoice);
  EXPECT_TRUE(waitUntil([&] { return !vitals->isVisible(); }));
}

TEST_F(BothTest, EachCardThatAModelIsSpreadOverTellsItsState) {
  engine_.chat.cards = {"cuda:1", "cuda:2"};
  auto window = makeOpened(engine_.services());
  const VitalsStrip* vitals = window->latencyPage()->vitals();
  ASSERT_TRUE(waitUntil([&] { return vitals->isVisible(); }));
  const int of_one = vitals->height() / 2;
  ASSERT_EQ(vitals->lines().size(), 2U);
  EXPECT_EQ(vitals->lines()[0].title, "CUDA 1");
  EXPECT_EQ(vitals->lines()[1].title, "CUDA 2");
  EXPECT_EQ(vitals->lines()[1].figures[2], std::pair(QString("memory"), QString("64 MB / 24 GB")));
  EXPECT_TRUE(waitUntil([&] {
    const QString machine = window->status()->facts().machine;
    return machine.startsWith("CPU, 2 threads") && machine.contains(" + CUDA 1, Test device, 1") &&
           machine.contains(" + CUDA 2, Test device, 1");
  }));
  EXPECT_TRUE(
      window->status()->facts().memoryTip.contains("On CUDA 2 all programs together hold 64 MB of 24 GB"));
  takePicture(*window, "many-cards-dark");
  press(*window, cudaChoice);
  ASSERT_TRUE(waitUntil([&] { return vitals->lines().size() == 3; })) << "its own card before the others";
  EXPECT_EQ(vitals->lines()[0].title, "CUDA 0");
  EXPECT_EQ(vitals->height(), 3 * of_one);
}

TEST_F(BothTest, GoingBackGivesTheSecondOnesMemoryBack) {
  auto window = makeBoth();
  EXPECT_EQ(*engine_.openSessions, 2);
  press(*window, cpuChoice);
  EXPECT_EQ(window->toolBar()->device()->current(), cpuChoice);
  EXPECT_TRUE(waitUntil([&] { return *engine_.openSessions == 1; }));
  window->chatPage()->send("Why?");
  ASSERT_TRUE(idle(*window));
  EXPECT_FALSE(window->latencyPage()->pairShown());
}

TEST_F(BothTest, TheSecondOneFollowsEditsAndModels) {
  auto window = makeBoth();
  window->applyEdit("bypass", "layers.1");
  EXPECT_TRUE(waitUntil([&] { return second(*window).recipe().size() == 1; }));
  window->session()->undo();
  EXPECT_TRUE(waitUntil([&] { return second(*window).recipe().empty(); }));
  window->session()->redo();
  EXPECT_TRUE(waitUntil([&] { return second(*window).recipe().size() == 1; }));
  window->openPaths({writeFile(
      path("two.json"),
      R"({"orrery_recipe": 1, "edits": [{"op": "bypass", "scope": "layers.2"}, {"op": "bypass", "scope": "layers.3"}]})")});
  ASSERT_TRUE(waitUntil([&] { return second(*window).recipe().size() == 3; }));
  EXPECT_EQ(second(*window).recipe(), window->session()->recipe());
  window->session()->restore("layers.1");
  ASSERT_TRUE(waitUntil([&] { return second(*window).recipe().size() == 2; }));
  EXPECT_EQ(second(*window).recipe(), window->session()->recipe());
  window->openModel("other");
  ASSERT_TRUE(ui::testing::press(window->graphPage()->banner(), "Open without saving"));
  ASSERT_TRUE(waitUntil([&] { return window->both()->ready() && second(*window).info().path == "other"; }));
  EXPECT_EQ(*engine_.openSessions, 2);
  EXPECT_EQ(window->toolBar()->device()->current(), bothChoice);
}

TEST_F(BothTest, BesideACardTheSecondOneIsTheCpu) {
  auto window = makeOpened(engine_.services());
  press(*window, cudaChoice);
  ASSERT_TRUE(waitUntil([&] { return window->session()->session()->options().device == "cuda:0"; }));
  press(*window, bothChoice);
  ASSERT_TRUE(waitUntil([&] { return window->both()->ready(); }));
  EXPECT_EQ(second(*window).options().device, "cpu");
  window->chatPage()->send("Why?");
  ASSERT_TRUE(idle(*window));
  EXPECT_EQ(window->latencyPage()->sides()[0].name, "CPU") << "A is the CPU wherever the chat runs";
}

TEST_F(BothTest, ANewMessageDoesNotWaitForTheSlowerSide) {
  auto window = makeBoth();
  window->chatPage()->send("One");
  ASSERT_TRUE(waitUntil([&] { return !window->session()->running(); }));
  window->chatPage()->send("Two");
  ASSERT_TRUE(idle(*window));
  ASSERT_EQ(second(*window).requests().size(), 2U);
  EXPECT_EQ(second(*window).requests()[1].messages.back().content, "Two");
  window->chatPage()->send("Three");
  window->action("Stop")->trigger();
  EXPECT_TRUE(idle(*window)) << "both stop";
}

TEST_F(BothTest, ADeviceThatRefusesIsToldAndTheModelStays) {
  Services services = engine_.services();
  services.open = [open = services.open](const api::OpenOptions& options, const ProgressCallback& progress,
                                         std::stop_token stop) -> Result<SessionPtr> {
    if (options.device != "cpu")
      return Error{ErrorCode::out_of_memory, "The weights do not fit", "cuda:0", "close other programs"};
    return open(options, progress, stop);
  };
  auto window = makeOpened(services);
  press(*window, bothChoice);
  ASSERT_TRUE(waitUntil([&] { return window->graphPage()->banner()->isVisible(); }));
  EXPECT_EQ(window->graphPage()->banner()->title(), "Could not open chat on CUDA 0");
  EXPECT_FALSE(window->both()->wanted());
  EXPECT_EQ(window->toolBar()->device()->current(), cpuChoice);
  EXPECT_FALSE(window->graphPage()->progress()->isVisible());
}

TEST_F(BothTest, OfSeveralCardsOneIsChosenFromAMenu) {
  engine_.devices.push_back({"cuda:1", "NVIDIA H200", "", 141'000'000'000, 1});
  auto window = makeOpened(engine_.services());
  press(*window, cudaChoice);
  auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
  ASSERT_NE(menu, nullptr);
  ASSERT_EQ(menu->actions().size(), 2);
  menu->actions()[1]->trigger();
  menu->close();
  ASSERT_TRUE(waitUntil([&] { return window->session()->session()->options().device == "cuda:1"; }));
  EXPECT_EQ(window->toolBar()->device()->text(cudaChoice), "CUDA 1");
  EXPECT_EQ(window->toolBar()->device()->current(), cudaChoice);
}

}  // namespace
}  // namespace orrery::ui::testing
