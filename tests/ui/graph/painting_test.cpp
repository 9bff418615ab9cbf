// What makes frames fast draws what the plain way would: lines from far, wires, boxes kept as pixels, words.
#include <gtest/gtest.h>

#include <QImage>
#include <QPainter>
#include <functional>

#include "tests/ui/graph/sample_graphs.h"
#include "ui/graph/graph_view.h"
#include "ui/graph/node_painter.h"
#include "ui/graph/pixel_lines.h"
#include "ui/graph/wire_strokes.h"
#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

QImage picture(int width, int height, const std::function<void(QPainter&)>& paint) {
  QImage image(width, height, QImage::Format_RGB32);
  image.fill(Qt::black);
  QPainter painter(&image);
  painter.setRenderHint(QPainter::Antialiasing);
  paint(painter);
  return image;
}

/// The largest difference of a pixel's green.
int difference(const QImage& a, const QImage& b) {
  int most = 0;
  for (int y = 0; y < a.height(); ++y)
    for (int x = 0; x < a.width(); ++x)
      most = std::max(most, std::abs(qGreen(a.pixel(x, y)) - qGreen(b.pixel(x, y))));
  return most;
}

int countOf(const QImage& image, const QColor& color) {
  int count = 0;
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x) count += image.pixelColor(x, y) == color;
  return count;
}

TEST(PixelLinesTest, ManyLinesOnTheSamePixelsArePaintedOnce) {
  PixelLines lines(QTransform::fromScale(0.01, 0.01), {0, 0, 2000, 2000});
  for (int i = 0; i < 1000; ++i) lines.add({{110, 100.0 + i % 5}, {110, 310}, {450, 310}}, false);
  EXPECT_LE(lines.rects().size(), 3);
  const QImage image = picture(20, 20, [&](QPainter& painter) { lines.paint(painter, Qt::white); });
  EXPECT_EQ(countOf(image, Qt::white), 3 + 3) << "three down, three on, the corner once";
  EXPECT_EQ(image.pixelColor(1, 1), QColor(Qt::white));
  EXPECT_EQ(image.pixelColor(4, 3), QColor(Qt::white));
}

TEST(PixelLinesTest, WhatIsOutsideIsCutAndALineOfNoLengthIsAPixel) {
  PixelLines lines({}, {0, 0, 50, 50});
  lines.add({{10, -1e6}, {10, 1e6}}, false);
  lines.add({{30.2, 30.1}, {30.4, 30.3}}, false);
  const QImage image = picture(50, 50, [&](QPainter& painter) { lines.paint(painter, Qt::white); });
  EXPECT_EQ(countOf(image, Qt::white), 50 + 1);
  for (const QRect& rect : lines.rects()) EXPECT_LE(rect.height(), 53);
}

TEST(PixelLinesTest, DotsAreTwoOfFivePixelsAndMoveWithTheDrawing) {
  const auto dots = [](double shift) {
    PixelLines lines(QTransform::fromTranslate(0, shift), {0, -50, 50, 200});
    lines.add({{10, 0}, {10, 100}}, true);
    return picture(50, 50, [&](QPainter& painter) { lines.paint(painter, Qt::white); });
  };
  EXPECT_EQ(countOf(dots(0), Qt::white), 20);
  EXPECT_EQ(dots(-7).copy(0, 0, 50, 40), dots(0).copy(0, 7, 50, 40));
}

TEST(WireStrokesTest, StretchesOnOneAnotherBecomeOne) {
  Stretches stretches;
  stretches.add({5, 0}, {5, 10});
  stretches.add({5, 30}, {5, 6});
  stretches.add({5, 40}, {5, 50});
  stretches.add({9, 0}, {9, 10});
  stretches.add({0, 5}, {10, 5});
  EXPECT_EQ(stretches.rects(2), (QList<QRectF>{{0, 4, 10, 2}, {4, 0, 2, 30}, {4, 40, 2, 10}, {8, 0, 2, 10}}));
}

TEST(WireStrokesTest, LooksLikeOneStroke) {
  const std::vector<Point> wire{{20.3, 5}, {20.3, 40}, {95, 40}, {95, 90}};
  for (const double scale : {0.4, 0.84, 1.0, 2.0}) {
    constexpr double kWidth = 2.3;
    WireStrokes strokes(kWidth);
    for (int i = 0; i < 3; ++i) strokes.add(wire, 8, {0, 0, 1000, 1000});
    const QImage fast = picture(240, 240, [&](QPainter& painter) {
      painter.scale(scale, scale);
      strokes.paint(painter, Qt::white);
    });
    const QImage plain = picture(240, 240, [&](QPainter& painter) {
      painter.scale(scale, scale);
      painter.setPen(wirePen(Qt::white, kWidth, Stroke::solid));
      painter.drawPath(roundedPath(wire, 8));
    });
    EXPECT_LT(difference(fast, plain), 80) << "smoothing of a corner's ends, at " << scale;
  }
}

TEST(WireStrokesTest, DotsGoOnAroundCornersAndOutsideOfWhatIsSeen) {
  const std::vector<Point> wire{{20, -1e3}, {20, 40}, {220, 40}};
  const auto draw = [&](const Rect& seen) {
    WireStrokes strokes(2, Stroke::dotted);
    strokes.add(wire, 8, seen);
    return picture(240, 80, [&](QPainter& painter) { strokes.paint(painter, Qt::white); });
  };
  const QImage plain = picture(240, 80, [&](QPainter& painter) {
    painter.setPen(wirePen(Qt::white, 2, Stroke::dotted));
    painter.drawPath(roundedPath(wire, 8));
  });
  EXPECT_LT(difference(draw({0, -2e3, 240, 4e3}), plain), 80);
  EXPECT_LT(difference(draw({0, 0, 240, 80}), plain), 80);
}

class NodeSpritesTest : public testing::TestWithParam<Detail> {
 protected:
  QImage draw(const NodeLook& look, double scale = 1) const {
    return picture(300, 80, [&](QPainter& painter) {
      painter.scale(scale, scale);
      nodes.paint(painter, look, GetParam(), scale);
    });
  }
  static NodeLook plain() {
    NodeLook look;
    look.box = {20, 20, 180, 34};
    look.family = graph::OpFamily::linear;
    look.body = QColor(200, 120, 60);
    return look;
  }
  NodePainter nodes{Theme()};
};

TEST_P(NodeSpritesTest, ACopyLooksAsWhenItWasMade) {
  const QImage made = draw(plain());
  EXPECT_EQ(draw(plain()), made);
  NodeLook moved = plain();
  moved.box.translate(7, 3);
  EXPECT_EQ(draw(moved).copy(7, 3, 290, 70), made.copy(0, 0, 290, 70));
}

TEST_P(NodeSpritesTest, WhatMakesABoxLookDifferentIsNotTakenFromAnother) {
  const std::function<void(NodeLook&)> changes[] = {
      [](NodeLook& look) { look.family = graph::OpFamily::norm; },
      [](NodeLook& look) { look.body = QColor(60, 120, 200); },
      [](NodeLook& look) { look.body = QColor(); },
      [](NodeLook& look) { look.plates = 1; },
      [](NodeLook& look) { look.plates = 2; },
      [](NodeLook& look) { look.fused = true; },
      [](NodeLook& look) { look.edited = true; },
      [](NodeLook& look) { look.bypassed = true; },
      [](NodeLook& look) { look.fellBack = true; },
      [](NodeLook& look) { look.transfer = true; },
      [](NodeLook& look) { look.selected = true; },
      [](NodeLook& look) { look.box.setWidth(170); },
  };
  const QImage first = draw(plain());
  for (size_t i = 0; i < std::size(changes); ++i) {
    NodeLook look = plain();
    changes[i](look);
    EXPECT_NE(draw(look), first) << "change " << i;
  }
  EXPECT_NE(draw(plain(), 1.25), first);
}

TEST_P(NodeSpritesTest, APrecisionIsATagOfItsOwn) {
  NodeLook look = plain();
  look.device = "CUDA 0";
  look.mark = DeviceMark::cuda;
  const QImage device = draw(look);
  look.precision = "int8";
  const QImage both = draw(look);
  EXPECT_EQ(both != device, GetParam() == Detail::near);
  EXPECT_EQ(both.copy(120, 0, 180, 80), device.copy(120, 0, 180, 80)) << "the device's stays where it is";
  look.precision = "bf16";
  EXPECT_EQ(draw(look) != both, GetParam() == Detail::near);
}

INSTANTIATE_TEST_SUITE_P(Details, NodeSpritesTest, testing::Values(Detail::mid, Detail::near));

TEST(LabelTest, LooksLikePlainText) {
  const QFont font = Theme().textFont(12, QFont::DemiBold);
  for (const QString& text : {QStringLiteral("gate_proj"), QStringLiteral("≈ 26.3 µs"), QString()}) {
    const auto in = [&](bool plain) {
      return picture(120, 30, [&](QPainter& painter) {
        painter.setPen(Qt::white);
        painter.setFont(font);
        plain ? painter.drawText(QPointF(5, 20), text) : drawLabel(painter, QPointF(5, 20), text, font);
      });
    };
    EXPECT_LT(difference(in(true), in(false)), 40) << text.toStdString();
  }
}

TEST(FarTest, BypassedNodesOfLessThanAPixelAreSeen) {
  GraphView view{Theme()};
  view.setReducedMotion(true);
  view.resize(400, 300);
  view.show();
  view.setGraph(samples::flatGraph(2000));
  ASSERT_TRUE(view.waitForLayout());
  view.fit();
  EXPECT_GT(countOf(view.grab().toImage(), Theme()(Token::text3)), 100);
}

TEST(FarTest, AChosenBoxHasALineOfTwoPixelsAroundIt) {
  const Theme theme;
  NodeLook look;
  look.box = QRectF(100, 100, 200, 100);
  look.selected = true;
  constexpr double kScale = 0.1;
  const QImage filled = picture(60, 40, [&](QPainter& painter) {
    painter.scale(kScale, kScale);
    NodePainter(theme).paint(painter, look, Detail::far, kScale);
  });
  look.selected = false;
  const QImage stroked = picture(60, 40, [&](QPainter& painter) {
    painter.scale(kScale, kScale);
    NodePainter(theme).paint(painter, look, Detail::far, kScale);
    QPen pen(theme(Token::accent), 2);
    pen.setCosmetic(true);
    pen.setJoinStyle(Qt::MiterJoin);
    painter.setPen(pen);
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(look.box.adjusted(-15, -15, 15, 15));
  });
  EXPECT_EQ(filled, stroked);
  EXPECT_EQ(countOf(filled, theme(Token::accent)), 25 * 15 - 21 * 11);
}

TEST(FadeTest, TheOldPictureStaysUntilTheNewOneIsLaidOut) {
  constexpr int kRounding = 2;  // a picture is drawn on its like
  GraphView view{Theme()};
  view.resize(600, 400);
  view.show();
  view.setGraph(samples::layeredGraph(4));
  ASSERT_TRUE(view.waitForLayout());
  view.setReducedMotion(true);
  const QImage before = view.viewport()->grab().toImage();
  view.setReducedMotion(false);
  view.expandAll();
  EXPECT_LE(difference(view.viewport()->grab().toImage(), before), kRounding);
  ASSERT_TRUE(view.waitForLayout());
  view.setReducedMotion(true);  // ends what fades
  EXPECT_GT(difference(view.viewport()->grab().toImage(), before), kRounding);
}

}  // namespace
}  // namespace orrery::ui
