// What the latency plot writes, and in which colours.
#include <gtest/gtest.h>

#include <QHelpEvent>
#include <QToolTip>

#include "support/window_fixture.h"
#include "tests/ui/graph/written.h"
#include "ui/latency/latency_plot.h"

namespace orrery::ui::testing {
namespace {

constexpr QSize kSize(620, 190);

std::vector<Written> writtenIn(LatencyPlot& plot) {
  return writtenOn(plot.size(), [&](QPaintDevice& paper) {
    QCPPainter painter;
    painter.begin(&paper);
    plot.toPainter(&painter, plot.width(), plot.height());
    painter.end();
  });
}

QStringList texts(const std::vector<Written>& written) {
  QStringList texts;
  for (const Written& text : written) texts += text.text;
  return texts;
}

void addReply(LatencySeries& series, int64_t prompt, int tokens, double ms, double prefill_ms) {
  series.beginReply();
  api::PrefillEvent prefill;
  prefill.done = prefill.tokens = prompt;
  prefill.ms = prefill_ms * static_cast<double>(prompt);
  series.addPrefill(prefill);
  api::TokenEvent token;
  for (int i = 0; i <= tokens; ++i) {
    token.step_ms = static_cast<float>(ms + 0.3 * (i % 5));
    series.addToken(token);
  }
}

void addReply(LatencySeries& series, int64_t prompt, int tokens, double ms) {
  addReply(series, prompt, tokens, ms, ms / 4);
}

/// Short replies with prompts close together, and edits before, after and on top of one another.
LatencySeries crowded() {
  LatencySeries series;
  addReply(series, 2, 24, 5);
  series.addEdit("bypass layers.3.attention", 5);
  series.addEdit("bypass layers.4.attention", 5);
  addReply(series, 6, 3, 4.5);
  addReply(series, 6, 3, 4.5);
  series.addEdit("undo bypass layers.4.attention", 4);
  addReply(series, 40, 30, 4);
  addReply(series, 3, 2, 9);
  return series;
}

class LatencyPlotTest : public ::testing::TestWithParam<double> {};

TEST_P(LatencyPlotTest, NoLabelLiesOverAnother) {
  const double body = GetParam();
  for (const bool live : {false, true}) {
    LatencyPlot plot(Theme(Theme::Mode::dark, body));
    plot.resize(kSize * (body / 13));
    plot.show(crowded(), live);
    const std::vector<Written> written = writtenIn(plot);
    EXPECT_EQ(overlaps(written), QStringList()) << overlaps(written).join("; ").toStdString();
    const QStringList words = texts(written);
    for (const char* word : {"ms per token", "tokens", "reply 1", "bypass layers.3.attention"})
      EXPECT_TRUE(words.contains(word)) << word << " in " << words.join("; ").toStdString();
    EXPECT_EQ(words.contains("reply 5, live"), live);
    EXPECT_GE(words.count("prefill"), 2);
    const QRectF page = QRectF(plot.rect());
    for (const Written& text : written)
      EXPECT_TRUE(page.contains(text.area)) << text.text.toStdString() << " is cut";
    takePicture(plot, QString("latency-crowded-%1%2").arg(body).arg(live ? "-live" : ""));
  }
}

/// Pixels of a colour, edges that are blended with the ground left out.
int countOf(const QColor& color, LatencyPlot& plot) {
  const QImage picture = plot.grab().toImage();
  int count = 0;
  for (int y = 0; y < picture.height(); ++y)
    for (int x = 0; x < picture.width(); ++x) count += picture.pixelColor(x, y) == color ? 1 : 0;
  return count;
}

TEST(LatencyPlotTexts, ATextThatIsAloneIsSeen) {
  const Theme theme;
  LatencyPlot plot(theme);
  plot.resize(kSize);
  plot.setTexts(true);
  LatencySeries series;
  plot.show(series, false);
  const int before = countOf(theme(Token::cpu), plot);
  for (const double ms : {60.0, 64.0}) {
    series.beginReply();
    series.addText(ms);
    plot.show(series, false);
  }
  EXPECT_GE(countOf(theme(Token::cpu), plot), before + 8);
}

INSTANTIATE_TEST_SUITE_P(Sizes, LatencyPlotTest, ::testing::Values(11, 13, 18));

TEST(LatencyPlot, NoLabelLiesOverAnotherWhereverItIsDragged) {
  LatencyPlot plot((Theme()));
  plot.resize(kSize);
  plot.show(crowded(), false);
  for (double from = -20; from < 110; from += 7) {
    plot.xAxis->setRange(from, from + 35);
    const QStringList over = overlaps(writtenIn(plot));
    EXPECT_TRUE(over.isEmpty()) << "from " << from << ": " << over.join("; ").toStdString();
  }
}

/// The curve begins where the prefill's block ends: a label wider than the block would cover it.
TEST(LatencyPlot, ThePrefillIsNamedAsNarrowAsItsBlock) {
  for (const int tokens : {20, 300}) {
    LatencyPlot plot((Theme()));
    plot.resize(kSize);
    LatencySeries series;
    addReply(series, 40, tokens, 5);
    plot.show(series, false);
    const QStringList words = texts(writtenIn(plot));
    EXPECT_EQ(words.contains("40 tok  50.0 ms"), tokens == 20) << words.join("; ").toStdString();
    EXPECT_EQ(words.contains("40 tok"), tokens == 300) << words.join("; ").toStdString();
  }
}

/// After a long reply the block is a few pixels wide, so its label stands over the reply's first tokens.
TEST(LatencyPlot, NoCurveRunsThroughThePrefillsLabel) {
  for (const int tokens : {20, 120, 500, 2000})
    for (const double per_token : {0.5, 3.5, 4.5, 5.0, 20.0}) {
      SCOPED_TRACE(std::to_string(tokens) + " tokens, prefill of " + std::to_string(per_token) + " ms each");
      LatencyPlot plot((Theme()));
      plot.resize(kSize);
      LatencySeries series;
      addReply(series, 40, tokens, 5, per_token);
      plot.show(series, false);
      const std::vector<Written> written = writtenIn(plot);
      for (const Written& word : written)
        for (const LatencySeries::Sample& sample : series.samples())
          EXPECT_FALSE(
              word.text.startsWith("prefill") &&
              word.area.contains(plot.xAxis->coordToPixel(sample.x), plot.yAxis->coordToPixel(sample.ms)))
              << "token at " << sample.x;
      EXPECT_TRUE(per_token == 5 || texts(written).contains("prefill"));
    }
}

TEST(LatencyPlot, AnEmptyPlotsNumbersStandClearOfItsWords) {
  for (const double body : {11, 13, 18}) {
    LatencyPlot plot(Theme(Theme::Mode::dark, body));
    plot.resize(kSize);
    plot.show({}, false);
    const QStringList over = overlaps(writtenIn(plot));
    EXPECT_TRUE(over.isEmpty()) << body << ": " << over.join("; ").toStdString();
  }
}

TEST(LatencyPlot, TwoSidesAreNamedInFull) {
  LatencySeries a, b;
  addReply(a, 5, 20, 5);
  addReply(b, 5, 20, 4.9);
  LatencyPlot plot((Theme()));
  plot.resize(360, 190);
  plot.setPair(sideLooks({"CPU, 1 thread", "CUDA 0, not fused"}, {false, true}));
  plot.showPair(a, b);
  const std::vector<Written> written = writtenIn(plot);
  EXPECT_TRUE(overlaps(written).isEmpty()) << overlaps(written).join("; ").toStdString();
  for (const Written& text : written)
    EXPECT_TRUE(QRectF(plot.rect()).contains(text.area)) << text.text.toStdString() << " is cut";
}

TEST(LatencyPlot, WhatHasNoRoomIsInTheToolTip) {
  LatencySeries series;
  addReply(series, 2, 10, 5);
  for (int i = 0; i < 30; ++i) series.addEdit(QString("edit %1").arg(i), 5);
  addReply(series, 2, 10, 5);
  LatencyPlot plot((Theme()));
  plot.resize(kSize);
  plot.show(series, false);
  const QStringList words = texts(writtenIn(plot));
  EXPECT_TRUE(words.contains("edit 0"));
  EXPECT_FALSE(words.contains("edit 29"));
  const QPoint line(qRound(plot.xAxis->coordToPixel(series.marks().front().x - 0.5)), 80);
  QHelpEvent help(QEvent::ToolTip, line, plot.mapToGlobal(line));
  QApplication::sendEvent(&plot, &help);
  EXPECT_TRUE(QToolTip::text().contains("edit 29")) << QToolTip::text().toStdString();
}

TEST(LatencyPlot, AThemeSwitchLeavesNoOldColour) {
  const Theme dark(Theme::Mode::dark), light(Theme::Mode::light);
  const LatencySeries series = crowded();
  const SideLooks sides = sideLooks({"CPU", "CUDA 0"}, {false, true});
  for (const bool pair : {false, true}) {
    const auto fill = [&](LatencyPlot& plot) {
      plot.resize(kSize);
      if (pair) plot.setPair(sides);
      pair ? plot.showPair(series, series) : plot.show(series, true);
    };
    LatencyPlot switched(dark), fresh(light);
    fill(switched);
    fill(fresh);
    switched.setPaused(true);  // nothing is shown anew
    switched.setTheme(light);
    EXPECT_EQ(switched.toPixmap().toImage(), fresh.toPixmap().toImage()) << pair;
  }
}

}  // namespace
}  // namespace orrery::ui::testing
