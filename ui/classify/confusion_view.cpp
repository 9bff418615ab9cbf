#include "ui/classify/confusion_view.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

constexpr double kCell = 30, kLeastCell = 15, kHeight = 135;  // the matrix is as high as fits, cells as wide
constexpr double kFoot = 34, kCellGap = 3;
constexpr double kNameShare = 0.4;  // of the width, at most
constexpr double kBearing = 2;      // of letters that reach to the left
constexpr double kLeastPx = 9;

}  // namespace

ConfusionView::ConfusionView(const Theme& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setAccessibleName("Confusion matrix");
}

void ConfusionView::setMatrix(const ConfusionMatrix& matrix) {
  matrix_ = matrix;
  updateGeometry();
  update();
}

void ConfusionView::setTheme(const Theme& theme) {
  theme_ = theme;
  updateGeometry();
  update();
}

QSize ConfusionView::sizeHint() const {
  const auto count = static_cast<double>(matrix_.labels.size());
  const double cell = std::clamp(kHeight / std::max(count, 1.0), kLeastCell, kCell + kCellGap);
  return {160, static_cast<int>(theme_.scaled(count * cell + kFoot))};
}

/// Left of the cells, for the names of the true labels.
double ConfusionView::namesWidth() const {
  double widest = 0;
  for (const QString& label : matrix_.labels)
    widest = std::max(widest, textWidth(label, theme_.textFont(11)) + theme_.scaled(6));
  return std::min(widest, kNameShare * width());
}

QRectF ConfusionView::cellRect(int truth, int predicted) const {
  const double left = namesWidth(), count = static_cast<double>(matrix_.labels.size());
  const double wide = (width() - left) / count, high = (height() - theme_.scaled(kFoot)) / count;
  const double gap = wide > 3 * kCellGap ? kCellGap : 1;
  return {left + predicted * wide, truth * high, wide - gap, high - std::min<double>(gap, high / 4)};
}

void ConfusionView::paintEvent(QPaintEvent*) {
  const auto count = static_cast<int>(matrix_.labels.size());
  if (count == 0) return;
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  int most = 1;
  for (const auto& row : matrix_.counts) most = std::max(most, *std::max_element(row.begin(), row.end()));
  for (int truth = 0; truth < count; ++truth)
    for (int predicted = 0; predicted < count; ++predicted)
      paintCell(painter, cellRect(truth, predicted),
                matrix_.counts[static_cast<size_t>(truth)][static_cast<size_t>(predicted)], most);
  const QFont font = theme_.textFont(11);
  painter.setFont(font);
  painter.setPen(theme_(Token::text3));
  for (int label = 0; label < count; ++label) {
    const QRectF row = cellRect(label, 0), column = cellRect(count - 1, label);
    const double names = namesWidth() - theme_.scaled(6);
    painter.drawText(QRectF(kBearing, row.top(), names, row.height()), Qt::AlignVCenter | Qt::AlignLeft,
                     elided(matrix_.labels[label], font, names));
    if (column.width() < leastWidth(matrix_.labels[label], font)) continue;  // the tool tip has it
    painter.drawText(
        QRectF(column.left(), column.bottom() + kCellGap, column.width(), theme_.scaled(kFoot) / 2),
        Qt::AlignCenter, elided(matrix_.labels[label], font, column.width()));
  }
  const double foot = theme_.scaled(kFoot) / 2;
  painter.drawText(QRectF(namesWidth(), height() - foot, width() - namesWidth(), foot), Qt::AlignCenter,
                   "predicted");
}

void ConfusionView::paintCell(QPainter& painter, const QRectF& cell, int value, int most) const {
  const QColor ground = value == 0 ? theme_(Token::sunken) : theme_.heat(0.15 + 0.45 * value / most);
  paintBox(painter, cell, std::min(3.0, cell.width() / 4), ground, QColor());
  const QString number = QString::number(value);
  const double wide = textWidth(number, theme_.monoFont(12, QFont::Medium));
  const double px = 12 * std::min({1.0, (cell.width() - 2) / wide, cell.height() / theme_.scaled(14)});
  if (px < kLeastPx) return;  // the colour and the tool tip say it
  const QFont font = theme_.monoFont(std::floor(px), QFont::Medium);
  painter.setFont(font);
  painter.setPen(value == 0 ? theme_(Token::text2) : Theme::textOn(ground));
  painter.drawText(cell, Qt::AlignCenter, number);
}

QString ConfusionView::tipAt(const QPointF& at) const {
  const auto count = static_cast<int>(matrix_.labels.size());
  if (count == 0) return {};
  const QRectF cells(QPointF(namesWidth(), 0), QPointF(width(), height() - theme_.scaled(kFoot)));
  const auto truth = static_cast<int>(at.y() / cells.height() * count),
             predicted = static_cast<int>((at.x() - cells.left()) / cells.width() * count);
  const bool row = at.y() >= 0 && truth < count, column = at.x() >= cells.left() && predicted < count;
  if (row && column)
    return QString("%1 of %2 texts: true %3, predicted %4")
        .arg(matrix_.counts[static_cast<size_t>(truth)][static_cast<size_t>(predicted)])
        .arg(matrix_.known)
        .arg(matrix_.labels[truth], matrix_.labels[predicted]);
  if (row) return "True: " + matrix_.labels[truth];
  return column ? "Predicted: " + matrix_.labels[predicted] : QString();
}

bool ConfusionView::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  QToolTip::showText(help->globalPos(), tipAt(help->pos()), this);
  return true;
}

}  // namespace orrery::ui
