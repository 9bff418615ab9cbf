// The confusion matrix in the room that it has.
#include <gtest/gtest.h>

#include "support/window_fixture.h"
#include "tests/ui/graph/written.h"
#include "ui/classify/confusion_view.h"

namespace orrery::ui::testing {
namespace {

ConfusionMatrix matrixOf(const QStringList& labels) {
  ConfusionMatrix matrix;
  matrix.labels = labels;
  const auto count = static_cast<size_t>(labels.size());
  matrix.counts.assign(count, std::vector<int>(count, 0));
  for (size_t i = 0; i < count; ++i) matrix.counts[i][i] = 12;
  matrix.counts[0][count - 1] = 345;
  matrix.known = 400;
  return matrix;
}

std::vector<Written> writtenIn(QWidget& view) {
  return writtenBy(view.size(), [&](QPainter& painter) {
    view.render(&painter, QPoint(), QRegion(), QWidget::DrawChildren);
  });
}

QStringList manyLabels() {
  QStringList labels;
  for (int i = 0; i < 28; ++i) labels += QString("a long name of class %1").arg(i);
  return labels;
}

TEST(ConfusionView, NamesAndNumbersHaveTheirRoomOrTheToolTip) {
  const QStringList kinds[] = {
      {"negative", "positive"},
      {"strongly negative", "somewhat negative", "neutral", "somewhat positive", "joy"},
      manyLabels()};
  for (const QStringList& labels : kinds) {
    ConfusionView view((Theme()));
    view.setMatrix(matrixOf(labels));
    view.resize(171, view.sizeHint().height());
    const std::vector<Written> written = writtenIn(view);
    EXPECT_TRUE(overlaps(written).isEmpty()) << overlaps(written).join("; ").toStdString();
    for (const Written& text : written)
      EXPECT_TRUE(QRectF(view.rect()).contains(text.area)) << text.text.toStdString() << " is cut";
    EXPECT_EQ(view.tipAt({view.width() - 2.0, 2}),
              "345 of 400 texts: true " + labels.front() + ", predicted " + labels.back());
    EXPECT_EQ(view.tipAt({1, 2}), "True: " + labels.front());
    takePicture(view, QString("confusion-%1").arg(labels.size()));
  }
}

TEST(ConfusionView, ShortNamesAreWhole) {
  ConfusionView view((Theme()));
  view.setMatrix(matrixOf({"negative", "positive"}));
  view.resize(171, view.sizeHint().height());
  int whole = 0;
  for (const Written& text : writtenIn(view)) whole += text.text == "negative" || text.text == "positive";
  EXPECT_EQ(whole, 4);
}

}  // namespace
}  // namespace orrery::ui::testing
