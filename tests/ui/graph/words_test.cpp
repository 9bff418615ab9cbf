// What a person reads in the drawing at any zoom: whole names where there is room, values with their units,
// and no words on other words.
#include <gtest/gtest.h>

#include <QFontMetricsF>
#include <QPainter>
#include <QRegularExpression>

#include "tests/ui/graph/sample_graphs.h"
#include "tests/ui/graph/written.h"
#include "ui/graph/layout_worker.h"
#include "ui/graph/scene_painter.h"
#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

using testing::isCut;
using testing::Written;

/// SmolLM2 with times, the first layer and the tenth open, written down at a zoom.
class Words : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    const auto built = samples::modelGraph(samples::kSmol, GetParam());
    ASSERT_TRUE(built.ok()) << built.error().to_string();
    graph_ = *built;
    drawing_.scene = makeScene(graph_, samples::kStep, {});
    open_ = firstOpen(*drawing_.scene);
    open_.insert({"layers.10", "layers.10.attention", "layers.10.mlp"});
    Hierarchy hierarchy(painter_.textWidths());
    drawing_.layout = hierarchy.layout(*drawing_.scene, open_);
    heat_.setScene(drawing_.scene);
    heat_.setFigures(samples::plausibleFigures(*graph_, samples::kStep, !GetParam()));
  }

  std::vector<Written> write(double scale) const {
    const Rect box = drawing_.bounds();
    PaintJob job;
    job.drawing = &drawing_;
    job.heat = &heat_;
    job.bindings = &samples::kStep;
    job.visible = box;
    job.scale = scale;
    job.detail = detailAt(scale, scale < 0.8 ? Detail::mid : Detail::near);
    return testing::writtenBy(QSize(qRound(box.w * scale), qRound(box.h * scale)), [&](QPainter& painter) {
      painter.scale(scale, scale);
      painter.translate(-box.x, -box.y);
      painter_.paint(painter, job);
    });
  }
  std::vector<QString> texts(double scale) const {
    std::vector<QString> texts;
    for (const Written& one : write(scale)) texts.push_back(one.text);
    return texts;
  }

  std::unordered_set<std::string> open_;
  graph::GraphVersion graph_;
  ScenePainter painter_{Theme()};
  Drawing drawing_;
  HeatModel heat_;
};

TEST_P(Words, LieOnNoOthers) {
  for (const HeatMode mode : {HeatMode::time, HeatMode::bytes, HeatMode::share})
    for (const double scale : {0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.79, 0.83, 1.0, 1.5, 3.0}) {
      heat_.setMode(mode);
      const std::vector<Written> written = write(scale);
      EXPECT_GT(written.size(), 40U);
      EXPECT_EQ(testing::overlaps(written).join(", ").toStdString(), "")
          << "at " << scale << " in mode " << int(mode);
    }
}

TEST_P(Words, StayInTheirBoxes) {
  const Rect bounds = drawing_.bounds();
  for (const double scale : {0.36, 0.5, 0.7, 1.0}) {
    std::vector<QRectF> boxes;
    for (const Hit& hit : walkOrder(drawing_))
      boxes.emplace_back((hit.box.x - bounds.x) * scale, (hit.box.y - bounds.y) * scale, hit.box.w * scale,
                         hit.box.h * scale);
    for (const Written& one : write(scale))
      for (const QRectF& box : boxes)
        EXPECT_TRUE(!box.intersects(one.area) || box.adjusted(-0.5, -0.5, 0.5, 0.5).contains(one.area))
            << one.text.toStdString() << " at " << scale;
  }
}

TEST_P(Words, AreWholeFromNear) {
  for (const double scale : {0.85, 1.0, 1.5, 2.0})
    for (const QString& text : texts(scale)) EXPECT_FALSE(isCut(text)) << text.toStdString();
}

TEST_P(Words, NameKernelsWithoutWhatAllShare) {
  const std::vector<QString> all = texts(1);
  EXPECT_GT(std::count(all.begin(), all.end(), QStringLiteral("vnni.matvec")), 3);
  EXPECT_GT(std::count(all.begin(), all.end(), QStringLiteral("avx512.flash")), 3);
  for (const QString& text : all) EXPECT_FALSE(text.contains("cpu")) << text.toStdString();
}

TEST_P(Words, EveryBoxAndFrameHasItsValueFromMidZoomAndEveryValueItsUnit) {
  static const QRegularExpression number("^≈?[0-9]"), value("^≈?[0-9.]+ (ns|µs|ms)$");
  for (const double scale : {0.46, 0.5, 0.6, 0.7, 0.79}) {
    size_t values = 0;
    for (const QString& text : texts(scale)) {
      if (!number.match(text).hasMatch()) continue;
      EXPECT_TRUE(value.match(text).hasMatch()) << text.toStdString() << " at " << scale;
      ++values;
    }
    EXPECT_EQ(values, walkOrder(drawing_).size() + open_.size()) << "at " << scale;
  }
}

TEST_P(Words, NamesAreWholeFromSixtyPercent) {
  for (const double scale : {0.6, 0.7, 0.79}) {
    const std::vector<QString> all = texts(scale);
    for (const char* name : {"q_rope", "kv_append", "sdpa", "o_proj", "down_proj", "layers.0", "layers.1–9",
                             "layers.11–", "attention", "mlp"}) {
      const auto isIt = [name](const QString& text) { return text.startsWith(QString::fromUtf8(name)); };
      EXPECT_TRUE(std::any_of(all.begin(), all.end(), isIt)) << name << " at " << scale;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Graphs, Words, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "fused" : "model"; });

TEST(ElidedTest, WhatTellsNamesApartStays) {
  const QFont font = Theme().textFont(12);
  const auto cut = [&](const char* name, double width) {
    return elided(QString::fromUtf8(name), font, width);
  };
  for (const double width : {28.0, 32.0, 36.0, 44.0}) {
    EXPECT_TRUE(cut("layers.4", width).endsWith("4")) << width;
    EXPECT_TRUE(cut("layers.14", width).endsWith("14")) << width;
    EXPECT_NE(cut("layers.4", width), cut("layers.14", width)) << width;
  }
  EXPECT_TRUE(cut("layers.12–29", 50).endsWith(QString::fromUtf8("12–29")));
  EXPECT_NE(cut("gate_proj", 40), cut("gone_proj", 40));
  EXPECT_FALSE(cut("gate_proj", 40).endsWith("oj")) << "too short for both ends";
  const QString path = cut("layers.12.attention.o_proj", 120);
  EXPECT_TRUE(path.startsWith("layers") && path.endsWith("proj")) << path.toStdString();
  EXPECT_EQ(cut("gate_proj", 200), "gate_proj");
  for (const double width : {5.0, 20.0, 50.0, 100.0})
    EXPECT_LE(QFontMetricsF(font).horizontalAdvance(cut("layers.12–29", width)), width);
}

}  // namespace
}  // namespace orrery::ui
