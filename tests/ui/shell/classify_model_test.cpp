#include "ui/classify/classify_model.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>

namespace orrery::ui {
namespace {

IndexedClassification result(size_t index, float positive) {
  return {index, {"", "", {1 - positive, positive}, {}, 1, {}}};
}

class ClassifyModelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    model_.setLabels({"negative", "positive"});
    model_.setTexts({"a", "b", "c", "d"}, {"positive", "NEGATIVE", "1", "unknown"});
    model_.setResults({result(0, 0.9F), result(1, 0.6F), result(2, 0.3F), result(3, 0.8F)});
  }
  ClassifyModel model_;
  QAbstractItemModelTester tester_{&model_, QAbstractItemModelTester::FailureReportingMode::Fatal};
};

TEST_F(ClassifyModelTest, ConfusionCountsKnownTruthsOnly) {
  const ConfusionMatrix matrix = model_.confusion();
  EXPECT_EQ(matrix.known, 3);
  EXPECT_EQ(matrix.right, 1);
  EXPECT_EQ(matrix.counts, (std::vector<std::vector<int>>{{0, 1}, {1, 1}}));
}

TEST_F(ClassifyModelTest, ThresholdMovesTheBoundary) {
  EXPECT_EQ(model_.predicted(model_.rows()[1]), 1);
  model_.setThreshold(0.7);
  EXPECT_EQ(model_.predicted(model_.rows()[1]), 0);
  EXPECT_NEAR(model_.score(model_.rows()[1]), 0.4, 1e-6);
  EXPECT_EQ(model_.confusion().right, 2);
}

TEST_F(ClassifyModelTest, ResultsOutsideTheTableAreIgnored) {
  model_.setResults({result(99, 0.5F)});
  EXPECT_EQ(model_.doneCount(), 4);
}

TEST_F(ClassifyModelTest, CsvQuotesWhatNeedsIt) {
  model_.setTexts({"x, \"y\""}, {});
  model_.setResults({result(0, 0.9F)});
  EXPECT_EQ(
      model_.csv(),
      "text,label,score,p_negative,p_positive\r\n\"x, \"\"y\"\"\",positive,0.900000,0.100000,0.900000\r\n");
}

}  // namespace
}  // namespace orrery::ui
