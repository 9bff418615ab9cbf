// Devices and Compare in the window: the device switch, the two sides, what they show and how they end.
#include <QHelpEvent>
#include <QLineEdit>
#include <QTest>

#include "support/read_texts.h"
#include "support/window_fixture.h"

namespace orrery::ui::testing {
namespace {

class CompareTest : public WindowTest {
 protected:
  void giveDevice() {
    engine_.devices = {{"cpu", "AVX2", "", 16'000'000'000, 8'000'000'000},
                       {"cuda:0", "NVIDIA H200", "", 141'000'000'000, 140'000'000'000}};
  }
  static bool deviceOffered(MainWindow& window) {
    return waitUntil([&] {
      for (const CompareSetting& setting : window.comparePage()->settings())
        if (setting.device) return true;
      return false;
    });
  }
  static bool idle(MainWindow& window) {
    return waitUntil([&] { return !window.session()->running() && !window.session()->loading(); });
  }
  static bool compared(MainWindow& window) {
    return waitUntil([&] { return !window.comparePage()->controller()->running(); });
  }
};

TEST_F(CompareTest, ARefusedDeviceCannotBeChosen) {
  engine_.devices = {{"cpu", "AVX2", "", 16, 8}, {"cuda:0", "", "the NVIDIA driver is not loaded", 0, 0}};
  auto window = makeWindow();
  ASSERT_TRUE(opened(*window, "chat"));
  waitUntil([] { return false; }, 200);
  Segmented* device = window->toolBar()->device();
  QTest::keyClick(device, Qt::Key_Right);
  EXPECT_EQ(device->current(), 0);
  EXPECT_EQ(window->session()->session()->options().device, "cpu");
  for (const CompareSetting& setting : window->comparePage()->settings()) EXPECT_FALSE(setting.device);
}

TEST_F(CompareTest, SwitchingTheDeviceKeepsChatAndEdits) {
  giveDevice();
  auto window = makeWindow();
  ASSERT_TRUE(opened(*window, "chat"));
  ASSERT_TRUE(deviceOffered(*window));
  window->chatPage()->send("One");
  ASSERT_TRUE(idle(*window));
  window->applyEdit("bypass", "layers.1");
  ASSERT_TRUE(waitUntil([&] { return window->session()->canUndo(); }));
  QTest::keyClick(window->toolBar()->device(), Qt::Key_Right);
  ASSERT_TRUE(waitUntil([&] { return window->session()->session()->options().device == "cuda:0"; }));
  EXPECT_EQ(window->chatPage()->transcript()->messageCount(), 2U) << "the text stays";
  ASSERT_EQ(window->session()->session()->recipe().size(), 1U);
  EXPECT_EQ(window->session()->session()->recipe()[0].fields.at("scope"), "layers.1");
  window->chatPage()->send("Two");
  ASSERT_TRUE(idle(*window));
  const auto* session = dynamic_cast<FakeSession*>(window->session()->session().get());
  ASSERT_EQ(session->requests().size(), 1U);
  EXPECT_EQ(session->requests()[0].messages.size(), 3U) << "the whole conversation is read again";
  EXPECT_TRUE(waitUntil([&] { return window->status()->facts().machine.contains("320 W"); }));
  EXPECT_TRUE(window->status()->facts().machine.startsWith("CUDA 0, AVX2, 1"));
  EXPECT_TRUE(window->status()->facts().memory.endsWith("141 GB"));
  window->openModel("other");
  ASSERT_TRUE(press(window->graphPage()->banner(), "Open without saving"));
  ASSERT_TRUE(waitUntil([&] { return !window->session()->loading(); }));
  EXPECT_EQ(window->session()->session()->options().device, "cuda:0") << "the choice holds";
  EXPECT_EQ(window->chatPage()->transcript()->messageCount(), 4U) << "the conversation goes on";
}

TEST_F(CompareTest, ADeviceThatFailsLeavesTheModelWhereItWas) {
  giveDevice();
  Services services = engine_.services();
  services.open = [open = services.open](const api::OpenOptions& options, const ProgressCallback& progress,
                                         std::stop_token stop) -> Result<SessionPtr> {
    if (options.device != "cpu")
      return Error{ErrorCode::device, "The card cannot be opened", "cuda:0", "close other programs"};
    return open(options, progress, stop);
  };
  auto window = makeWindow(services, ThemeChoice::dark);
  ASSERT_TRUE(opened(*window, "chat"));
  ASSERT_TRUE(deviceOffered(*window));
  QTest::keyClick(window->toolBar()->device(), Qt::Key_Right);
  ASSERT_TRUE(waitUntil([&] { return window->graphPage()->banner()->isVisible(); }));
  EXPECT_EQ(window->session()->session()->options().device, "cpu");
  EXPECT_EQ(window->toolBar()->device()->current(), 0);
}

TEST_F(CompareTest, BothSidesStreamAndTheFindingsAreShown) {
  giveDevice();
  auto window = makeWindow(ThemeChoice::light);
  ASSERT_TRUE(opened(*window, "chat"));
  ASSERT_TRUE(deviceOffered(*window));
  window->showPage("compare");
  ComparePage* page = window->comparePage();
  EXPECT_EQ(page->settingTitle(api::Side::a), "CPU");
  EXPECT_EQ(page->settingTitle(api::Side::b), "CUDA 0");
  QTest::keyClicks(page->field(), "Why do planets move?");
  QTest::keyClick(page->field(), Qt::Key_Return);
  ASSERT_TRUE(page->controller()->running());
  EXPECT_EQ(page->runButton()->text(), "Stop both");
  ASSERT_TRUE(compared(*window));
  ASSERT_TRUE(page->result());
  for (const api::Side side : {api::Side::a, api::Side::b})
    EXPECT_TRUE(page->card(side)->text().startsWith("Planets farther from the Sun"));
  EXPECT_TRUE(page->card(api::Side::b)->figures().contains("tok/s"));
  EXPECT_EQ(page->tile(0)->value(), "identical");
  EXPECT_EQ(page->tile(1)->mark(), CompareTile::Mark::warn) << "KL 0.4";
  EXPECT_EQ(page->tile(2)->mark(), CompareTile::Mark::check);
  EXPECT_EQ(page->tile(3)->value(), "head");
  EXPECT_EQ(page->nodes()->index(0, CompareNodesModel::nodeColumn).data().toString(), "head") << "most gain";
  EXPECT_EQ(page->nodes()->index(0, CompareNodesModel::ratioColumn).data().toString(), ratioText(2, 1));
  EXPECT_TRUE(window->latencyPage()->pairShown());
  for (const bool b : {false, true}) EXPECT_EQ(window->latencyPage()->pairSeries(b).samples().size(), 23U);
  EXPECT_EQ(window->graphPage()->modelView()->heatMode(), HeatMode::ratio);
  waitUntil([] { return false; }, 400);
  takePicture(*window, "compare-light");
  window->chatPage()->send("And why?");
  ASSERT_TRUE(idle(*window));
  EXPECT_FALSE(window->latencyPage()->pairShown()) << "the plot is the chat's again";
}

TEST_F(CompareTest, ARunWaitsForTheDevicesAndIsCalledWhatItRan) {
  giveDevice();
  *engine_.devicesHeld = true;
  auto window = makeWindow();
  ASSERT_TRUE(opened(*window, "chat"));
  ComparePage* page = window->comparePage();
  page->field()->setText("Why?");
  page->compare();
  EXPECT_TRUE(page->waiting());
  EXPECT_FALSE(page->controller()->running()) << "B is not known yet";
  EXPECT_EQ(page->runButton()->text(), "Stop both");
  page->stop();
  EXPECT_EQ(page->runButton()->text(), "Run both");
  page->compare();
  *engine_.devicesHeld = false;
  ASSERT_TRUE(waitUntil([&] { return page->controller()->running(); }));
  page->choose(api::Side::b, 0);
  ASSERT_TRUE(compared(*window));
  const SideLooks ran = page->controller()->sides();
  EXPECT_EQ(ran[0].name, "CPU");
  EXPECT_EQ(ran[1].name, "CUDA 0") << "what was chosen meanwhile is for the next run";
  EXPECT_EQ(ran[1].token, Token::cuda);
  EXPECT_EQ(window->latencyPage()->sides(), ran);
  EXPECT_TRUE(page->stale());
  EXPECT_NE(window->graphPage()->modelView()->heatMode(), HeatMode::ratio);
}

TEST_F(CompareTest, AnotherSettingMakesTheResultStale) {
  giveDevice();
  auto window = makeWindow();
  ASSERT_TRUE(opened(*window, "chat"));
  ASSERT_TRUE(deviceOffered(*window));
  ComparePage* page = window->comparePage();
  page->field()->setText("Why?");
  page->compare();
  ASSERT_TRUE(compared(*window));
  const GraphView* graph = window->graphPage()->view();
  ASSERT_TRUE(window->outlinePanel()->model()->compared());
  ASSERT_TRUE(graph->divergence());
  EXPECT_EQ(graph->divergence()->path, "head");
  page->choose(api::Side::b, 1);
  EXPECT_TRUE(page->stale());
  EXPECT_TRUE(page->card(api::Side::b)->stale());
  EXPECT_FALSE(page->card(api::Side::a)->stale());
  EXPECT_FALSE(window->outlinePanel()->model()->compared());
  EXPECT_EQ(graph->heatMode(), HeatMode::time) << "as it was";
  for (size_t i = 0; i < page->settings().size(); ++i)
    if (page->settings()[i].title == "CUDA 0") page->choose(api::Side::b, static_cast<int>(i));
  EXPECT_FALSE(page->stale());
  EXPECT_TRUE(window->outlinePanel()->model()->compared());
  EXPECT_EQ(graph->heatMode(), HeatMode::ratio);
}

TEST_F(CompareTest, TheColumnsOfBothSidesStandInOutlineAndInspector) {
  giveDevice();
  auto window = makeWindow();
  ASSERT_TRUE(opened(*window, "chat"));
  ASSERT_TRUE(deviceOffered(*window));
  ComparePage* page = window->comparePage();
  page->field()->setText("Why?");
  page->compare();
  ASSERT_TRUE(compared(*window));
  const OutlineModel* outline = window->outlinePanel()->model();
  EXPECT_EQ(outline->headerData(OutlineModel::timeColumn, Qt::Horizontal, Qt::DisplayRole), "CPU");
  EXPECT_EQ(outline->headerData(OutlineModel::otherColumn, Qt::Horizontal, Qt::DisplayRole), "CUDA 0");
  const QModelIndex layer = outline->indexOfScope("layers.0");
  EXPECT_EQ(layer.siblingAtColumn(OutlineModel::timeColumn).data(), "60.0 µs") << "10 + 20 + 30";
  EXPECT_EQ(layer.siblingAtColumn(OutlineModel::otherColumn).data(), "30.0 µs");
  EXPECT_EQ(layer.siblingAtColumn(OutlineModel::shareColumn).data(), "2.0×");
  emit page->nodeAsked("head");
  const graph::GraphVersion graph = window->session()->session()->fused_graph();
  EXPECT_EQ(window->graphPage()->view()->selectedNode(), graph->find_path("head"));
  const auto shown = [&](const QString& text) {
    for (const Text* cell : window->inspectorPage()->findChildren<Text*>())
      if (cell->text() == text) return true;
    return false;
  };
  EXPECT_TRUE(waitUntil([&] { return shown("1.00e-01"); })) << "the head's NMSE";
  page->choose(api::Side::b, 0);
  EXPECT_TRUE(waitUntil([&] { return !shown("1.00e-01"); }));
}

TEST_F(CompareTest, EveryUsableDeviceIsOffered) {
  giveDevice();
  engine_.devices.push_back({"cuda:1", "NVIDIA H200", "", 1, 1});
  engine_.devices.push_back({"cuda:2", "NVIDIA H200", "it is used by another program", 1, 1});
  auto window = makeWindow();
  ASSERT_TRUE(opened(*window, "chat"));
  ASSERT_TRUE(deviceOffered(*window));
  QStringList titles;
  for (const CompareSetting& setting : window->comparePage()->settings()) titles += setting.title;
  EXPECT_EQ(titles, QStringList({"CPU", "CPU, exact", "CPU, not fused", "CPU, 1 thread", "CPU, as Q8_0",
                                 "CPU, as Q5_0", "CPU, as Q4_0", "CUDA 0", "CUDA 1", "CUDA 0, not fused"}));
}

TEST_F(CompareTest, WithoutADeviceOneCpuSettingIsComparedWithAnother) {
  auto window = makeWindow();
  ASSERT_TRUE(opened(*window, "chat"));
  ComparePage* page = window->comparePage();
  EXPECT_EQ(page->settingTitle(api::Side::b), "CPU, exact");
  window->applyEdit("bypass", "layers.1");
  ASSERT_TRUE(waitUntil([&] { return page->settings().back().title == "CPU, edited"; }));
  page->choose(api::Side::b, static_cast<int>(page->settings().size()) - 1);
  page->field()->setText("Hello");
  page->compare();
  ASSERT_TRUE(compared(*window));
  EXPECT_TRUE(page->result());
  EXPECT_EQ(engine_.openSessions->load(), 3) << "the chat's and both sides";
  page->compare();
  ASSERT_TRUE(compared(*window));
  window->openModel("other");
  ASSERT_TRUE(press(window->graphPage()->banner(), "Open without saving"));
  ASSERT_TRUE(waitUntil([&] { return engine_.openSessions->load() == 1; })) << "the sides are closed";
}

TEST_F(CompareTest, AComparisonStopsAndFailsWithWords) {
  engine_.chat.tokens = 100000;
  auto window = makeWindow();
  ASSERT_TRUE(opened(*window, "chat"));
  ComparePage* page = window->comparePage();
  page->field()->setText("Go on");
  page->compare();
  ASSERT_TRUE(waitUntil([&] { return !page->card(api::Side::a)->text().isEmpty(); }));
  QTest::keyClick(page->field(), Qt::Key_Escape);
  ASSERT_TRUE(compared(*window));
  EXPECT_FALSE(page->result());
  EXPECT_EQ(page->runButton()->text(), "Run both");
  window->close();
  engine_.chat = {};
  engine_.chat.failReply = true;
  auto failing = makeWindow();
  ASSERT_TRUE(opened(*failing, "chat"));
  failing->showPage("compare");
  failing->comparePage()->field()->setText("Go on");
  failing->comparePage()->compare();
  ASSERT_TRUE(compared(*failing));
  EXPECT_TRUE(failing->comparePage()->banner()->body().contains("smaller context"));
}

/// Whether any pixel of a picture has this colour.
bool shows(const QImage& picture, const QColor& color) {
  for (int y = 0; y < picture.height(); ++y)
    for (int x = 0; x < picture.width(); ++x)
      if (picture.pixelColor(x, y) == color) return true;
  return false;
}

TEST_F(CompareTest, ASideHasOneColourAndItsWordsAreWhole) {
  auto window = makeWindow();
  window->resize(1280, 800);
  ASSERT_TRUE(opened(*window, "chat"));
  window->showPage("compare");
  ComparePage* page = window->comparePage();
  page->choose(api::Side::b, 2);
  page->field()->setText("Why?");
  page->compare();
  ASSERT_TRUE(compared(*window));
  waitUntil([] { return false; }, 200);
  takePicture(*window, "compare-cpus-dark");
  const Theme theme(Theme::Mode::dark);
  const QColor b = theme(Token::cuda);
  EXPECT_TRUE(shows(page->card(api::Side::b)->grab().toImage(), b));
  EXPECT_TRUE(shows(window->latencyPage()->plot()->grab().toImage(), b));
  EXPECT_FALSE(shows(window->graphPage()->view()->viewport()->grab().toImage(), theme(Token::edited)))
      << "nothing was edited";
  for (const api::Side side : {api::Side::a, api::Side::b})
    for (const ReadText& text : readTexts(*page->card(side)))
      EXPECT_FALSE(text.text.contains(QChar(0x2026))) << text.text.toStdString();
  for (int tile = 0; tile < 4; ++tile)
    EXPECT_TRUE(page->tile(tile)->visibleRegion().contains(page->tile(tile)->rect().center())) << "in sight";
  for (int tile = 0; tile < 4; ++tile)
    for (const ReadText& text : readTexts(*page->tile(tile)))
      EXPECT_FALSE(text.text.contains(QChar(0x2026))) << text.text.toStdString();
}

TEST(CompareTableTest, ShortenedPathsTellLayerAndPart) {
  auto result = std::make_shared<api::CompareResult>();
  const char* paths[] = {"layers.4.attention.norm", "layers.14.attention.norm", "layers.14.mlp.norm",
                         "layers.14.attention.residual", "embedding"};
  for (const char* path : paths) {
    api::NodeComparison& node = result->nodes.emplace_back();
    node.node = path;
    node.a_us = 2;
    node.b_us = 1;
  }
  CompareNodesModel nodes;
  nodes.setResult(result);
  const auto shown = [&](int width) {
    CompareTable table(Theme(), &nodes);
    table.fit(width);
    table.resize(table.width(), 240);
    QStringList names;
    for (const ReadText& text : readTexts(*table.viewport()))
      if (!text.mono) names += text.text;
    return names;
  };
  EXPECT_EQ(shown(640).join(", ").toStdString(), "4…norm, 14…norm, 14.mlp.norm, 14…residual, embedding");
  for (const QString& name : shown(1200))
    EXPECT_TRUE(std::count(std::begin(paths), std::end(paths), name.toStdString())) << name.toStdString();
}

}  // namespace
}  // namespace orrery::ui::testing
