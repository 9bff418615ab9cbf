// The graph as a file: what is behind its words there.
#include <gtest/gtest.h>

#include <QLabel>
#include <QSvgRenderer>

#include "support/read_texts.h"
#include "support/window_fixture.h"
#include "tests/ui/graph/sample_graphs.h"
#include "ui/graph/graph_view.h"

namespace orrery::ui::testing {
namespace {

class GraphExportTest : public WindowTest {};

TEST_F(GraphExportTest, TextStandsClearOfTheGutterInSvgAsInThePicture) {
  GraphView view((Theme()));
  view.setReducedMotion(true);
  view.resize(900, 700);
  const graph::GraphVersion graph = samples::layeredGraph(3);
  view.setGraph(graph, {}, "sample");
  ASSERT_TRUE(view.waitForLayout());
  // Bodies in the colours of heat, of which the gutter is told.
  const Bindings step{{kTokens, 1}, {kSequences, 1}, {kOutputs, 1}};
  view.setTimings(samples::plausibleFigures(*graph, step, true));
  view.expandAll();
  ASSERT_TRUE(view.waitForLayout());
  QString reason;
  ASSERT_TRUE(view.exportImage(path("graph.svg"), &reason)) << reason.toStdString();
  ASSERT_TRUE(view.exportImage(path("graph.png"), &reason)) << reason.toStdString();
  const QImage picture(path("graph.png"));
  QImage drawing(picture.size(), QImage::Format_RGB32);
  QPainter painter(&drawing);
  QSvgRenderer(path("graph.svg")).render(&painter);
  painter.end();
  QLabel shown;
  shown.setPixmap(QPixmap::fromImage(drawing));
  shown.resize(drawing.size());
  takePicture(shown, "graph-export-svg");
  const QSvgRenderer size(path("graph.svg"));
  const double ratio = picture.width() / size.viewBoxF().width();
  int words = 0;
  for (const ReadText& text : readSvg(path("graph.svg"))) {
    const QPoint before(qRound((text.at.x() - 4) * ratio), qRound((text.at.y() - 4) * ratio));
    ++words;
    EXPECT_EQ(drawing.pixelColor(before).name(), picture.pixelColor(before).name())
        << text.text.toStdString();
  }
  EXPECT_GT(words, 10);
}

}  // namespace
}  // namespace orrery::ui::testing
