// The outline's columns: names get the room that figures do not need, with one model and with two sides.
#include <gtest/gtest.h>

#include <QHeaderView>
#include <QRegularExpression>

#include "support/window_fixture.h"
#include "tests/ui/graph/sample_graphs.h"
#include "tests/ui/graph/written.h"
#include "ui/shell/outline_panel.h"

namespace orrery::ui::testing {
namespace {

class OutlinePanelTest : public ::testing::TestWithParam<double> {  // the text setting
 protected:
  void SetUp() override {
    panel_.setGraph(graph_, {}, "SmolLM2-135M-Instruct");
    panel_.setTimings(
        samples::plausibleFigures(*graph_, {{kTokens, 1}, {kSequences, 1}, {kOutputs, 1}}, true));
    panel_.tree()->expandToDepth(1);
    for (const char* scope : {"layers.4", "layers.4.mlp", "layers.14"})
      panel_.tree()->expand(panel_.model()->indexOfScope(scope));
    panel_.resize(static_cast<int>(Theme(Theme::Mode::dark, GetParam()).scaled(262)), 1400);
    panel_.show();
    settle();
  }
  static void settle() {
    waitUntil([] { return false; }, 30);
  }
  std::vector<Written> written() {
    QWidget* rows = panel_.tree()->viewport();
    return writtenBy(rows->size(), [&](QPainter& painter) { rows->render(&painter); });
  }
  void expectNamesWhole() {
    const std::vector<Written> all = written();
    EXPECT_EQ(overlaps(all).join(", ").toStdString(), "");
    for (const char* name : {"embedding", "layers.4", "layers.14", "layers.29", "norm", "mlp", "up_proj",
                             "down_proj", "residual", "lm_head"}) {
      const auto isIt = [name](const Written& one) { return one.text == name; };
      EXPECT_TRUE(std::any_of(all.begin(), all.end(), isIt)) << name;
    }
    for (const Written& one : all)
      EXPECT_TRUE(QRectF(panel_.tree()->viewport()->rect()).contains(one.area)) << one.text.toStdString();
  }

  graph::GraphVersion graph_ = samples::layeredGraph(30);
  OutlinePanel panel_{Theme(Theme::Mode::dark, GetParam())};
};

TEST_P(OutlinePanelTest, NamesAreWholeBesideTimeAndShare) { expectNamesWhole(); }

TEST_P(OutlinePanelTest, NamesAreWholeBesideTwoSides) {
  panel_.setSides(sideLooks({"CPU", "CUDA 0"}, {false, true}));
  Figures figures;
  for (const NodeId id : graph_->order()) figures.sides[id] = {23.4, 11.7, true};
  panel_.setTimings(figures);
  settle();
  expectNamesWhole();
  const auto headers = writtenBy(panel_.tree()->header()->size(),
                                 [&](QPainter& painter) { panel_.tree()->header()->render(&painter); });
  ASSERT_EQ(headers.size(), 4U) << "every column has a name";
  EXPECT_EQ(headers[1].text, "CPU");
  EXPECT_TRUE(headers[2].text == "CUDA 0" || headers[2].text == "B") << headers[2].text.toStdString();
  static const QRegularExpression time("^(≈ ?)?[0-9.]+ (µs|ms)$");
  size_t times = 0;
  for (const Written& one : written()) times += time.match(one.text).hasMatch() ? 1U : 0U;
  const size_t rows =
      2 + 1 + 30 + 3 + 2 + 3;  // embedding, lm_head; the stack; its layers; what is open in them
  EXPECT_EQ(times, 2 * (rows + 1)) << "every row's, of both sides";
}

TEST_P(OutlinePanelTest, InANarrowDockTheRatioStandsForTheOtherSide) {
  const Theme theme(Theme::Mode::dark, GetParam());
  panel_.resize(static_cast<int>(theme.scaled(220)), 1400);
  panel_.setSides(sideLooks({"CPU", "CPU, exact"}, {false, false}));
  Figures figures;
  for (const NodeId id : graph_->order()) figures.sides[id] = {23.4, 11.7, true};
  panel_.setTimings(figures);
  settle();
  EXPECT_TRUE(panel_.tree()->isColumnHidden(OutlineModel::otherColumn));
  expectNamesWhole();
  panel_.resize(static_cast<int>(theme.scaled(400)), 1400);
  settle();
  EXPECT_FALSE(panel_.tree()->isColumnHidden(OutlineModel::otherColumn));
}

TEST_P(OutlinePanelTest, BarsAreAsWideAsUsualWhereThereIsRoom) {
  const Theme theme(Theme::Mode::dark, GetParam());
  const auto bar = [&] { return panel_.tree()->header()->sectionSize(OutlineModel::shareColumn); };
  panel_.resize(static_cast<int>(theme.scaled(220)), 1400);
  settle();
  EXPECT_LT(bar(), static_cast<int>(theme.scaled(64)));
  expectNamesWhole();
  panel_.resize(600, 1400);
  settle();
  EXPECT_EQ(bar(), static_cast<int>(theme.scaled(64)));
}

INSTANTIATE_TEST_SUITE_P(TextSizes, OutlinePanelTest, ::testing::Values(13.0, 18.0));

}  // namespace
}  // namespace orrery::ui::testing
