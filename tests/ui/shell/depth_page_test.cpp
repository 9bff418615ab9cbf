// Time and memory over the length of the text, on the real engine and few layers of the default model: a
// softmax that grows beside a Fastmax that does not, points as they come, a stop, what is saved.
#include "ui/depth/depth_page.h"

#include <gmock/gmock.h>

#include <QFile>
#include <QImage>
#include <QTest>

#include "support/read_texts.h"
#include "support/real_model_fixture.h"
#include "ui/depth/depth_words.h"
#include "ui/frame/workspace.h"
#include "ui/shell/workspace_switch.h"

namespace orrery::ui::testing {
namespace {

using ::testing::ElementsAre;

TEST(DepthWords, DepthsRiseAndStandOnce) {
  EXPECT_THAT(*depthsOf("1000, 10k 30k;30000"), ElementsAre(1000, 10000, 30000));
  EXPECT_THAT(*depthsOf(kFirstDepths), ElementsAre(1000, 3000, 10000, 30000, 100000));
  EXPECT_EQ(wordsOf(*depthsOf("3000 1k")), "1000, 3000");
  for (const char* wrong : {"", "much", "0", "1.5", "-4", "2000000", "1000, x"})
    EXPECT_FALSE(depthsOf(wrong).ok()) << wrong;
}

TEST(DepthWords, AnAxisHasFewRoundNumbers) {
  EXPECT_THAT(axisTicks(0.9, 12), ElementsAre(1, 2, 5, 10));
  EXPECT_THAT(axisTicks(700, 140000), ElementsAre(1000, 10000, 100000));
  EXPECT_TRUE(axisTicks(0, 10).empty());
  const auto [low, high] = axisRange(4, 4.4);
  EXPECT_NEAR(high / low, 10, 1e-9) << "what is flat looks flat";
  EXPECT_NEAR(low * high, 4 * 4.4, 1e-9) << "in the middle";
  EXPECT_EQ(axisRange(1, 300), std::pair(1 / 1.5, 450.0));
}

TEST(DepthWords, ReadingOnIsToldByTheStretchesBefore) {
  const auto read = [](int64_t to, int64_t tokens, double ms) {
    api::BenchResult::Depth at;
    at.tokens = to;
    at.read = tokens;
    at.read_ms = ms;
    return at;
  };
  EXPECT_EQ(secondsToRead({}, 0, 1000), 0);
  EXPECT_DOUBLE_EQ(secondsToRead({read(1000, 1000, 2000)}, 1000, 3000), 4) << "as fast as before";
  // 1 ms a token about 500, 2 ms about 1500: 4 ms about 3500.
  EXPECT_DOUBLE_EQ(secondsToRead({read(1000, 1000, 1000), read(2000, 1000, 2000)}, 2000, 5000), 12);
  EXPECT_DOUBLE_EQ(secondsToRead({read(1000, 1000, 2000), read(2000, 1000, 1000)}, 2000, 5000), 3)
      << "it becomes no faster";
  EXPECT_DOUBLE_EQ(secondsToRead({read(64, 64, 64), read(128, 64, 128)}, 128, 1128), 2)
      << "short stretches tell of no slope";
}

class DepthPageTest : public RealModelTest {
 protected:
  /// On the first two layers.
  void open(ThemeChoice theme = ThemeChoice::dark) {
    ASSERT_NO_FATAL_FAILURE(openAt("depth", theme));
    page_ = window_->findChild<DepthPage*>();
    ASSERT_TRUE(page_);
    EXPECT_EQ(page_->beside(), DepthBeside::fastmax) << "an unedited model stands beside Fastmax";
    window_->session()->apply(*edit::parse_edit("bypass scope=layers.2-29"));
    ASSERT_TRUE(waitUntil([&] { return page_->beside() == DepthBeside::opened; }, 60000))
        << "an edited one beside what it was";
    page_->chooseBeside(DepthBeside::fastmax);
  }
  DepthController& depths() const { return *page_->depths(); }
  bool ended() const {
    return waitUntil([&] { return !depths().running(); }, 120000);
  }
  QString cell(int row, int column) const { return page_->rows()->index(row, column).data().toString(); }
  /// Each picture in the size that pages are drawn for, and in a small window.
  void takePictures(const QString& name) {
    window_->workspaces()->turnTo("measure");
    window_->showPage("depth");
    for (const QSize size : {QSize(1600, 1000), QSize(1000, 700)}) {
      window_->resize(size);
      waitUntil([] { return false; }, 300);
      takePicture(*window_, QString("%1-%2").arg(name).arg(size.width()));
    }
  }

  DepthPage* page_ = nullptr;
};

TEST_F(DepthPageTest, FastmaxStaysFlatBesideASoftmax) {
  ASSERT_NO_FATAL_FAILURE(open());
  page_->setDepths("256, 9000");
  ASSERT_TRUE(waitUntil([&] { return depths().demand().has_value(); }, 60000));
  EXPECT_TRUE(page_->note().contains("Fastmax") && page_->note().contains("are free"))
      << page_->note().toStdString();
  EXPECT_TRUE(page_->note().contains("made for 8")) << "further than its text means anything";
  takePictures("depth-empty-dark");
  page_->setDepths("256, 1024, 6000");
  ASSERT_TRUE(waitUntil([&] { return !page_->note().contains("made for"); }, 60000));
  QTest::mouseClick(page_->startButton(), Qt::LeftButton);
  EXPECT_EQ(page_->startButton()->text(), "Stop");
  EXPECT_EQ(page_->rows()->rowCount(), 3) << "those that wait are shown as well";
  ASSERT_TRUE(waitUntil([&] { return depths().curves()[1].points.size() == 1; }, 60000));
  EXPECT_FALSE(cell(0, DepthModel::timeBesideColumn).isEmpty());
  ASSERT_TRUE(ended());
  ASSERT_TRUE(depths().complete());
  EXPECT_EQ(page_->progressWords(), "6 of 6");
  const std::vector<double> softmax = page_->memoryPlot()->points(0),
                            fastmax = page_->memoryPlot()->points(1);
  ASSERT_EQ(softmax.size(), 3U);
  ASSERT_EQ(fastmax.size(), 3U);
  EXPECT_GT(softmax[2], softmax[0]);
  EXPECT_EQ(fastmax[2], fastmax[1]) << "a context of fixed size";
  EXPECT_EQ(page_->timePlot()->points(1)[2], depths().curves()[1].points[2].ms);
  EXPECT_EQ(window_->session()->recipe().size(), 1U) << "nothing of it is adopted";
  page_->table()->setFocus();
  QTest::keyClick(page_->table(), Qt::Key_Down);
  EXPECT_GE(page_->timePlot()->chosen(), 0);
  emit page_->memoryPlot()->depthChosen(2);
  EXPECT_EQ(page_->timePlot()->chosen(), 2);
  EXPECT_EQ(page_->table()->currentIndex().row(), 2) << "row and point are one choice";
  takePictures("depth-dark");
  ASSERT_TRUE(page_->save(path("depths.csv")).ok());
  ASSERT_TRUE(page_->save(path("depths.png")).ok());
  QFile csv(path("depths.csv"));
  ASSERT_TRUE(csv.open(QIODevice::ReadOnly));
  const QByteArray text = csv.readAll();
  EXPECT_EQ(text.count('\n'), 7);
  EXPECT_TRUE(text.contains("Fastmax,6000,")) << text.toStdString();
  EXPECT_EQ(QImage(path("depths.png")).size(), QSize(2800, 960));
}

/// The picture of the tour: minutes, so it is taken on request (--gtest_also_run_disabled_tests).
TEST_F(DepthPageTest, DISABLED_PictureOfAHundredThousandTokens) {
  ASSERT_NO_FATAL_FAILURE(open(ThemeChoice::light));
  window_->session()->undo();
  ASSERT_TRUE(waitUntil([&] { return window_->session()->recipe().empty(); }, 60000));
  window_->session()->apply(*edit::parse_edit("bypass scope=layers.4-29"));
  ASSERT_TRUE(waitUntil([&] { return window_->session()->recipe().size() == 1; }, 60000));
  page_->chooseBeside(DepthBeside::fastmax);
  page_->setDepths(kFirstDepths);
  page_->startOrStop();
  waitUntil([&] { return !depths().running(); }, 1500000);
  page_->table()->setFocus();
  takePictures("depth-100000-light");
  EXPECT_TRUE(depths().complete());
}

TEST_F(DepthPageTest, AStopKeepsThePointsAndAnEditIsTold) {
  ASSERT_NO_FATAL_FAILURE(open(ThemeChoice::light));
  page_->chooseBeside(DepthBeside::nothing);
  page_->setDepths("64, 128, 100000");
  page_->startOrStop();
  ASSERT_TRUE(waitUntil([&] { return depths().curves()[0].points.size() == 2; }, 60000));
  waitUntil([&] { return depths().progress() && depths().progress()->read > 0; }, 60000);
  takePictures("depth-running-light");
  EXPECT_GT(depths().share(), 0);
  page_->startOrStop();
  ASSERT_TRUE(ended());
  EXPECT_EQ(depths().curves()[0].points.size(), 2U);
  EXPECT_FALSE(depths().complete());
  EXPECT_TRUE(depths().stopped());
  EXPECT_FALSE(depths().edited());
  window_->session()->undo();
  ASSERT_TRUE(waitUntil([&] { return depths().edited(); }, 60000));
  EXPECT_EQ(depths().curves()[0].points.size(), 2U) << "what was measured stays";
  window_->resize(1600, 1000);
  waitUntil([] { return false; }, 300);
  takePicture(*window_, "depth-stopped-light");
}

TEST_F(DepthPageTest, WhatCannotBeMeasuredIsToldBefore) {
  ASSERT_NO_FATAL_FAILURE(open());
  page_->setDepths("1000, much");
  EXPECT_FALSE(page_->startButton()->isEnabled());
  EXPECT_TRUE(page_->note().contains("much")) << page_->note().toStdString();
  page_->setDepths("64");
  EXPECT_TRUE(page_->startButton()->isEnabled());
  quit(*window_);
  window_.reset();
  ASSERT_NO_FATAL_FAILURE(openAt("depth", ThemeChoice::dark));
  page_ = window_->findChild<DepthPage*>();
  EXPECT_EQ(page_->depthWords(), "64") << "remembered";
  EXPECT_FALSE(depths().refusal(DepthBeside::opened).isEmpty());
}

TEST_F(DepthPageTest, APageAndACommandOpenIt) {
  ASSERT_NO_FATAL_FAILURE(openAt("chat", ThemeChoice::dark));
  window_->action("depth.fastmax")->trigger();
  page_ = window_->findChild<DepthPage*>();
  EXPECT_TRUE(waitUntil([&] { return page_->isVisible(); }));
  EXPECT_EQ(page_->beside(), DepthBeside::fastmax);
}

}  // namespace
}  // namespace orrery::ui::testing
