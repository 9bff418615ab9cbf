// What floats over the drawing: readable, out of its way where there is room, gone when asked.
#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QApplication>
#include <QEnterEvent>
#include <QSignalSpy>
#include <QTest>

#include "tests/ui/graph/sample_graphs.h"
#include "tests/ui/graph/written.h"
#include "ui/graph/graph_view.h"
#include "ui/graph/layout_worker.h"
#include "ui/graph/legend.h"
#include "ui/graph/overlays.h"
#include "ui/graph/scene_painter.h"

namespace orrery::ui {
namespace {

using testing::Written;


class OverlaysTest : public ::testing::Test {
 protected:
  void show(const graph::GraphVersion& graph, const QSize& size) {
    graph_ = graph;
    view.setReducedMotion(true);
    view.resize(size);
    view.show();
    view.setGraph(graph, {}, "sample");
    ASSERT_TRUE(view.waitForLayout());
    view.setTimings(samples::plausibleFigures(*graph, samples::kStep, false));
    // With the next frame, unless there is no room for it.
    static_cast<void>(QTest::qWaitFor([&] { return card<Legend>()->isVisible(); }, 150));
  }
  template <class Card>
  Card* card() const {
    return view.findChild<Card*>();
  }
  /// The outermost boxes, in the view's pixels.
  std::vector<QRect> boxes() const {
    const ScenePainter painter{Theme()};
    const auto scene = makeScene(graph_, samples::kStep, {});
    const auto layout = Hierarchy(painter.textWidths()).layout(*scene, firstOpen(*scene));
    std::vector<QRect> boxes;
    for (const Placed& placed : layout->items)
      boxes.emplace_back(view.mapFromScene(QPointF(placed.box.x, placed.box.y)),
                         view.mapFromScene(QPointF(placed.box.right(), placed.box.bottom())));
    return boxes;
  }

  graph::GraphVersion graph_;
  GraphView view{Theme()};
};

TEST_F(OverlaysTest, KeysHideThemAndShowThemAgain) {
  show(samples::layeredGraph(12), {984, 632});
  QSignalSpy changed(&view, &GraphView::overlaysChanged);
  ASSERT_TRUE(card<Minimap>()->isVisible());
  ASSERT_TRUE(card<Legend>()->isVisible());
  QTest::keyClick(&view, Qt::Key_M);
  EXPECT_FALSE(card<Minimap>()->isVisible());
  EXPECT_TRUE(card<Legend>()->isVisible());
  QTest::keyClick(&view, Qt::Key_M, Qt::ShiftModifier);
  EXPECT_FALSE(card<Legend>()->isVisible());
  EXPECT_EQ(view.overlays(), GraphView::Overlays());
  view.setTimings(samples::plausibleFigures(*graph_, samples::kStep, false));
  view.resize(1000, 640);
  EXPECT_FALSE(card<Minimap>()->isVisible()) << "stays hidden";
  EXPECT_FALSE(card<Legend>()->isVisible());
  QTest::keyClick(&view, Qt::Key_M);
  EXPECT_TRUE(card<Minimap>()->isVisible());
  EXPECT_EQ(changed.count(), 3);
  view.setOverlays(GraphView::Overlay::legend);
  EXPECT_FALSE(card<Minimap>()->isVisible());
  EXPECT_TRUE(card<Legend>()->isVisible());
  EXPECT_EQ(changed.count(), 3) << "only what the person does is told";
}

TEST_F(OverlaysTest, TheCrossInTheCornerHidesItsCard) {
  show(samples::layeredGraph(12), {984, 632});
  QSignalSpy changed(&view, &GraphView::overlaysChanged);
  for (FloatingCard* floating :
       {static_cast<FloatingCard*>(card<Minimap>()), static_cast<FloatingCard*>(card<Legend>())}) {
    auto* cross = floating->findChild<QAbstractButton*>();
    EXPECT_FALSE(cross->isVisible()) << "only under the pointer";
    QEnterEvent enter(QPointF(20, 20), QPointF(20, 20), QPointF(20, 20));
    QApplication::sendEvent(floating, &enter);
    ASSERT_TRUE(cross->isVisible());
    EXPECT_TRUE(floating->rect().contains(cross->geometry()));
    QTest::mouseClick(cross, Qt::LeftButton);
    EXPECT_FALSE(floating->isVisible());
  }
  EXPECT_EQ(changed.count(), 2);
}

TEST_F(OverlaysTest, FitLeavesRoomForThem) {
  const auto smol = samples::modelGraph("smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", true);
  ASSERT_TRUE(smol.ok()) << smol.error().to_string();
  for (const graph::GraphVersion& graph : {*smol, samples::layeredGraph(12), samples::flatGraph(40)})
    for (const QSize& size :
         {QSize(660, 371), QSize(984, 632), QSize(1500, 500), QSize(700, 900), QSize(470, 300)}) {
      show(graph, size);
      view.fit();
      for (const QRect& box : boxes()) {
        EXPECT_TRUE(view.rect().contains(box)) << size.width();
        for (const QWidget* floating :
             {static_cast<QWidget*>(card<Minimap>()), static_cast<QWidget*>(card<Legend>()),
              static_cast<QWidget*>(card<Breadcrumb>())})
          EXPECT_FALSE(floating->isVisible() && floating->geometry().intersects(box))
              << floating->metaObject()->className() << " at " << size.width();
      }
    }
}

TEST_F(OverlaysTest, ThePlaceInTheGraphIsCutToTheView) {
  const auto smol = samples::modelGraph("smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", true);
  ASSERT_TRUE(smol.ok()) << smol.error().to_string();
  show(*smol, {300, 300});
  view.setGraph(*smol, {}, "A model whose name is longer than the view is wide");
  ASSERT_TRUE(view.waitForLayout());
  view.select((*smol)->find_path("layers.0.mlp.down_proj"));
  ASSERT_TRUE(view.waitForLayout());
  EXPECT_LE(card<Breadcrumb>()->geometry().right(), view.width());
  const auto written = testing::writtenBy(card<Breadcrumb>()->size(),
                                          [&](QPainter& painter) { card<Breadcrumb>()->render(&painter); });
  ASSERT_EQ(written.size(), 4U);
  EXPECT_TRUE(testing::isCut(written.front().text));
  EXPECT_EQ(written.back().text, "down_proj");
}

TEST(LegendTest, WordsAndTicksLieOnNoOthersAndInTheCard) {
  const std::vector<std::pair<QString, std::vector<QString>>> scales = {
      {"Time", {"0.5 µs", "32 µs", "2 ms"}},
      {"Share of step", {"0.001 %", "0.32 %", "100 %"}},
      {"Share of step", {"0.001 %", "0.001 %", "0.001 %"}},
      {"Bytes", {"0", "152 MB", "303 MB"}},
      {"Share of step", {"0.001000 %", "0.03162 %", "100.00 %"}}};
  for (const int body : {11, 13, 18})
    for (const auto& [title, ticks] : scales) {
      Legend legend(Theme(Theme::Mode::dark, body), nullptr);
      legend.setScale(title, ticks, true);
      legend.resize(legend.sizeHint());
      const std::vector<Written> written =
          testing::writtenBy(legend.size(), [&](QPainter& painter) { legend.render(&painter); });
      ASSERT_EQ(written.size(), 6U) << "a title, the switch's two, the ticks";
      EXPECT_EQ(testing::overlaps(written).join(", ").toStdString(), "") << body;
      for (const Written& one : written)
        EXPECT_TRUE(QRectF(legend.rect()).contains(one.area)) << one.text.toStdString();
      for (size_t tick = 1; tick < ticks.size(); ++tick)
        EXPECT_GT(written[3 + tick].area.left() - written[2 + tick].area.right(), 4) << "apart";
    }
}

TEST(LegendTest, SidesAreNamedWholeAsLongAsTheirNamesAreNotTooLong) {
  const auto write = [](const SideLooks& sides) {
    Legend legend(Theme(), nullptr);
    legend.setRatio(sides, {"16×", "4×", "1", "4×", "16×"});
    legend.resize(legend.sizeHint());
    EXPECT_LE(legend.width(), 300);
    const std::vector<Written> written =
        testing::writtenBy(legend.size(), [&](QPainter& painter) { legend.render(&painter); });
    EXPECT_EQ(written.size(), 7U);
    EXPECT_EQ(testing::overlaps(written).join(", ").toStdString(), "");
    return std::pair(written[0].text, written[1].text);
  };
  EXPECT_EQ(write(sideLooks({"CPU", "CPU, exact"}, {false, false})),
            std::pair(QString("CPU faster"), QString("CPU, exact faster")));
  const auto [first, second] =
      write(sideLooks({"a recipe with a long name", "another one with a long name"}, {false, false}));
  EXPECT_TRUE(testing::isCut(first) && testing::isCut(second));
}

TEST(LegendTest, ItsWidthDoesNotFollowTheTimes) {
  Legend legend(Theme(), nullptr);
  legend.setScale("Time", {"1 µs", "9 µs", "1 ms"}, true);
  const QSize before = legend.sizeHint();
  legend.setScale("Time", {"0.5 µs", "999 µs", "100 ms"}, true);
  EXPECT_EQ(legend.sizeHint(), before);
}

}  // namespace
}  // namespace orrery::ui
