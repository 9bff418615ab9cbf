#include "ui/graph/paper.h"

#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "ui/graph/node_box.h"
#include "ui/graph/scene_graph.h"
#include "ui/graph/wire_strokes.h"
#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

constexpr double kReadable = 0.2, kWell = 0.235;  // scales at which an op's word can be read, is read well
constexpr double kTurnRadius = 28, kPaperStub = 44;

/// The last layer of a column that is one, from its foot; or the first, from its head.
const PageLayer* endOf(const PageModel& model, const PageColumnHead& column, bool last) {
  for (int i = 0; i <= column.last - column.first; ++i) {
    const PageLayer& layer = model.layers()[at(last ? column.last - i : column.first + i)];
    if (layer.group >= 0) return &layer;
  }
  return nullptr;
}

void paintLine(QPainter& painter, const Theme& theme, const std::vector<Point>& points, double scale) {
  painter.setPen(QPen(theme(Token::edge), 1.6 / scale, Qt::SolidLine, Qt::FlatCap));
  painter.setBrush(Qt::NoBrush);
  painter.drawPath(roundedPath(points, kTurnRadius));
}

void paintWords(QPainter& painter, const Theme& theme, const QPointF& place, const QString& words,
                double scale) {
  painter.save();
  painter.translate(place);
  painter.scale(1 / scale, 1 / scale);
  painter.setPen(theme(Token::text2));
  drawLabel(painter, QPointF(0, 0), words, theme.textFont(10.5));
  painter.restore();
}

}  // namespace

SheetPlan planSheets(const PageMeasure& measure, const SheetSize& sheet) {
  SheetPlan best;
  for (int columns = 1; columns <= measure.layers; ++columns) {
    const double scale = measure.scale(columns, sheet.roomWide(), sheet.roomHigh());
    if (columns == 1 || scale > best.scale) best = {columns, columns, scale};
  }
  best.scale = std::min(best.scale, 1.0);
  if (best.scale >= kReadable) return best;
  const double high = (sheet.roomHigh() / kWell - measure.above - measure.below + measure.gap) /
                      (measure.cellHeight + measure.gap);
  const double wide = (sheet.roomWide() / kWell + measure.gutter) / (measure.cellWidth + measure.gutter);
  const int rows = std::max(1, static_cast<int>(high)), each = std::max(1, static_cast<int>(wide));
  return {(measure.layers + rows - 1) / rows, each, kWell};
}

void paintLeaving(QPainter& painter, const Theme& theme, const PageModel& model, const PagePlace& page,
                  int column, double scale) {
  const PageColumnHead& here = model.columns()[at(page.firstColumn + column)];
  const PageLayer* last = endOf(model, here, true);
  const PageLayer* next = endOf(model, model.columns()[at(page.firstColumn + column + 1)], false);
  if (!last || !next) return;
  const double x = last->area.x + page.page->stream, foot = last->area.bottom() + kTurnBelow,
               right = last->area.right();
  paintLine(painter, theme, {{x, last->box.bottom()}, {x, foot}, {right, foot}}, scale);
  paintWords(painter, theme, {x + kPaperStub, foot - 5 / scale}, QStringLiteral("to ") + next->name, scale);
}

void paintArriving(QPainter& painter, const Theme& theme, const PageModel& model, const PagePlace& page,
                   int column, double scale) {
  const PageLayer* first = endOf(model, model.columns()[at(page.firstColumn + column)], false);
  const PageLayer* before = endOf(model, model.columns()[at(page.firstColumn + column - 1)], true);
  if (!first || !before) return;
  const double x = first->area.x + page.page->stream, head = first->area.y - kTurnAbove;
  paintLine(painter, theme, {{first->area.x, head}, {x, head}, {x, first->area.y}}, scale);
  paintWords(painter, theme, {x + 12 / scale, head + 4 / scale}, QStringLiteral("from ") + before->name,
             scale);
}

}  // namespace orrery::ui
