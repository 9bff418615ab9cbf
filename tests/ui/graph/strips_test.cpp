// What stands around the drawing: readable, in nobody's way, gone when asked.
#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QSignalSpy>
#include <QTest>

#include "tests/ui/graph/sample_graphs.h"
#include "tests/ui/graph/written.h"
#include "ui/graph/breadcrumb.h"
#include "ui/graph/graph_strip.h"
#include "ui/graph/graph_view.h"
#include "ui/graph/step_strip.h"

namespace orrery::ui {
namespace {

using testing::Written;

using samples::kStep;

class StripsTest : public ::testing::Test {
 protected:
  void show(const graph::GraphVersion& graph, const QSize& size) {
    graph_ = graph;
    view.setReducedMotion(true);
    view.resize(size);
    view.show();
    view.setGraph(graph, {}, "sample");
    ASSERT_TRUE(view.waitForLayout());
    view.setTimings(samples::plausibleFigures(*graph, kStep, false));
    QTest::qWait(130);  // with the next frame
  }
  void openAll() {
    view.expandAll();
    ASSERT_TRUE(view.waitForLayout());
  }
  template <class Part>
  Part* part() const {
    return view.findChild<Part*>();
  }
  template <class Part>
  std::vector<Written> writtenIn() const {
    return testing::writtenBy(part<Part>()->size(),
                              [this](QPainter& painter) { part<Part>()->render(&painter); });
  }

  graph::GraphVersion graph_;
  GraphView view{Theme()};
};

TEST_F(StripsTest, KeysHideThemAndShowThemAgain) {
  show(samples::layeredGraph(12), {984, 632});
  QSignalSpy changed(&view, &GraphView::partsChanged);
  ASSERT_TRUE(part<Minimap>()->isVisible());
  ASSERT_TRUE(part<Legend>()->isVisible());
  const int high = view.viewport()->height();
  QTest::keyClick(&view, Qt::Key_M);
  EXPECT_FALSE(part<Minimap>()->isVisible());
  EXPECT_TRUE(part<Legend>()->isVisible());
  QTest::keyClick(&view, Qt::Key_M, Qt::ShiftModifier);
  EXPECT_FALSE(part<GraphStrip>()->isVisible());
  EXPECT_GT(view.viewport()->height(), high) << "the drawing has the room";
  view.resize(1000, 640);
  EXPECT_FALSE(part<GraphStrip>()->isVisible()) << "stays hidden";
  QTest::keyClick(&view, Qt::Key_M, Qt::ShiftModifier);
  EXPECT_TRUE(part<Legend>()->isVisible());
  EXPECT_FALSE(part<Minimap>()->isVisible());
  QTest::keyClick(&view, Qt::Key_M);
  EXPECT_TRUE(part<Minimap>()->isVisible());
  EXPECT_EQ(changed.count(), 4);
  view.setParts(GraphView::Part::strip);
  EXPECT_FALSE(part<Minimap>()->isVisible());
  EXPECT_FALSE(part<StepStrip>()->isVisible());
  EXPECT_EQ(changed.count(), 4) << "only what the person does is told";
}

TEST_F(StripsTest, TheCrossHidesTheMinimap) {
  show(samples::layeredGraph(12), {984, 632});
  QSignalSpy changed(&view, &GraphView::partsChanged);
  auto* cross = part<Minimap>()->findChild<QAbstractButton*>();
  ASSERT_TRUE(cross->isVisible());
  EXPECT_TRUE(part<Minimap>()->rect().contains(cross->geometry()));
  QTest::mouseClick(cross, Qt::LeftButton);
  EXPECT_FALSE(part<Minimap>()->isVisible());
  EXPECT_EQ(changed.count(), 1);
}

TEST_F(StripsTest, NothingCoversTheDrawing) {
  for (const QSize& size :
       {QSize(660, 371), QSize(984, 632), QSize(1500, 500), QSize(700, 900), QSize(330, 240)}) {
    show(samples::decoderGraph(12), size);
    openAll();
    view.fit();
    const QRect drawn(view.viewport()->mapTo(&view, QPoint()), view.viewport()->size());
    for (const QWidget* around :
         {static_cast<QWidget*>(part<GraphStrip>()), static_cast<QWidget*>(part<StepStrip>())})
      EXPECT_FALSE(around->isVisible() && around->geometry().intersects(drawn)) << size.width();
    EXPECT_GT(view.viewport()->width(), size.width() / 2);
    EXPECT_GT(view.viewport()->height(), size.height() / 2);
  }
}

TEST_F(StripsTest, ItsPartsStandBesideEachOtherAndWriteNothingOverOthers) {
  for (const int width : {420, 660, 984, 1400, 1900}) {
    show(samples::decoderGraph(12, 5), {width, 700});
    openAll();
    QTest::qWait(130);
    auto* strip = part<GraphStrip>();
    ASSERT_TRUE(strip->isVisible());
    int right = 0;
    for (QWidget* section :
         {static_cast<QWidget*>(strip->legend()), static_cast<QWidget*>(strip->shapes()),
          static_cast<QWidget*>(strip->marks()), static_cast<QWidget*>(strip->minimap())}) {
      if (!section->isVisible()) continue;
      EXPECT_GE(section->x(), right) << width;
      right = section->geometry().right();
      EXPECT_LT(right, width);
    }
    std::vector<Written> written;
    for (QWidget* section : strip->findChildren<StripSection*>())
      if (section->isVisible())
        for (Written one :
             testing::writtenBy(section->size(), [&](QPainter& painter) { section->render(&painter); })) {
          one.area.translate(section->x(), 0);
          written.push_back(one);
        }
    EXPECT_EQ(testing::overlaps(written).join(", ").toStdString(), "") << width;
  }
}

TEST_F(StripsTest, ShapesTellWhichLayersAreNotLikeTheRestAndLightThem) {
  show(samples::decoderGraph(12, 5), {1160, 800});
  EXPECT_FALSE(part<ShapeList>()->isVisible()) << "no page, no shapes";
  openAll();
  view.collapseScope("layers.9");
  ASSERT_TRUE(view.waitForLayout());
  ASSERT_TRUE(part<ShapeList>()->isVisible());
  QStringList words;
  for (const Written& one : writtenIn<ShapeList>()) words << one.text;
  EXPECT_TRUE(words.contains("11 alike")) << words.join('|').toStdString();
  EXPECT_TRUE(words.contains("layers.5"));
  EXPECT_TRUE(words.contains("norm")) << "the op that differs";
  EXPECT_TRUE(words.contains("alike, folded"));
  const QImage before = view.viewport()->grab().toImage();
  QTest::mouseClick(part<ShapeList>(), Qt::LeftButton, {}, {130, 50});
  EXPECT_NE(view.viewport()->grab().toImage(), before) << "the others step back";
  QTest::mouseClick(part<ShapeList>(), Qt::LeftButton, {}, {130, 50});
  QTest::mouseMove(part<ShapeList>(), {600, 90});
  EXPECT_EQ(view.viewport()->grab().toImage(), before);
}

TEST_F(StripsTest, TheStepShowsTheSameChoiceAsTheDrawing) {
  show(samples::decoderGraph(12), {1160, 800});
  openAll();
  QTest::qWait(130);
  auto* step = part<StepStrip>();
  ASSERT_TRUE(step->isVisible());
  QSignalSpy nodes(&view, &GraphView::nodeSelected), scopes(&view, &GraphView::scopeSelected);
  // Half way down, in the lane of layers and in that of ops.
  const int middle = (24 + step->height() - 8) / 2;
  QTest::mouseClick(step, Qt::LeftButton, {}, {26, middle});
  ASSERT_EQ(scopes.count(), 1);
  EXPECT_TRUE(view.selectedScope().startsWith("layers.")) << view.selectedScope().toStdString();
  QTest::mouseClick(step, Qt::LeftButton, {}, {49, middle});
  ASSERT_EQ(nodes.count(), 1);
  EXPECT_TRUE(view.selectedNode().valid());
  const QImage chosen = step->grab().toImage();
  view.select(graph_->find_path("layers.0.attention.norm"));
  view.waitForLayout();
  EXPECT_NE(step->grab().toImage(), chosen) << "chosen in the drawing, marked in the step";
  const QImage drawing = view.viewport()->grab().toImage();
  QTest::mouseMove(step, {26, middle});
  EXPECT_NE(view.viewport()->grab().toImage(), drawing) << "pointed at in the step, ringed in the drawing";
}

TEST(BreadcrumbTest, IsCutToItsRoom) {
  Breadcrumb place(Theme(), nullptr);
  place.setParts({"A model whose name is longer than the view is wide", "layers.0", "mlp", "down_proj"},
                 {"", "", "", ""});
  place.setRoom(280);
  EXPECT_LE(place.width(), 280);
  const auto written = testing::writtenBy(place.size(), [&](QPainter& painter) { place.render(&painter); });
  ASSERT_EQ(written.size(), 4U);
  EXPECT_TRUE(testing::isCut(written.front().text));
  EXPECT_EQ(written.back().text, "down_proj");
}

TEST(LegendTest, WordsAndTicksLieOnNoOthersAndInTheStrip) {
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
      ASSERT_GE(written.size(), 6U) << "a title, the switch's two, ticks at both ends, a note";
      EXPECT_EQ(testing::overlaps(written).join(", ").toStdString(), "") << body;
      for (const Written& one : written)
        EXPECT_TRUE(QRectF(legend.rect()).contains(one.area)) << one.text.toStdString();
    }
}

TEST(LegendTest, SidesAreNamedWholeAsLongAsTheirNamesAreNotTooLong) {
  const auto write = [](const SideLooks& sides) {
    Legend legend(Theme(), nullptr);
    legend.setRatio(sides, {"16×", "4×", "1", "4×", "16×"});
    legend.resize(legend.sizeHint());
    const std::vector<Written> written =
        testing::writtenBy(legend.size(), [&](QPainter& painter) { legend.render(&painter); });
    EXPECT_EQ(written.size(), 8U);
    EXPECT_EQ(testing::overlaps(written).join(", ").toStdString(), "");
    return std::pair(written[0].text, written[1].text);
  };
  EXPECT_EQ(write(sideLooks({"CPU", "CUDA 0"}, {false, true})),
            std::pair(QString("CPU faster"), QString("CUDA 0 faster")));
  const auto [first, second] =
      write(sideLooks({"a recipe with a long name", "another one with a long name"}, {false, false}));
  EXPECT_TRUE(testing::isCut(first) && testing::isCut(second));
}

}  // namespace
}  // namespace orrery::ui
