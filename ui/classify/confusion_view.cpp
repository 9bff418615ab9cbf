#include "ui/classify/confusion_view.h"

#include <QPainter>
#include <algorithm>

namespace orrery::ui {
namespace {

constexpr double kLabel = 30, kFoot = 34, kCell = 42, kGap = 3;
constexpr int kMostLabels = 12;

QString shortName(const QString& label) { return label.left(3); }

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
  update();
}

QSize ConfusionView::sizeHint() const {
  const auto count = std::min<qsizetype>(matrix_.labels.size(), kMostLabels);
  const double cell = count > 4 ? kCell / 2 : kCell;
  return {160, static_cast<int>(theme_.scaled(static_cast<double>(count) * (cell + kGap) + kFoot))};
}

void ConfusionView::paintEvent(QPaintEvent*) {
  const auto count = static_cast<int>(std::min<qsizetype>(matrix_.labels.size(), kMostLabels));
  if (count == 0) return;
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  int most = 1;
  for (const auto& row : matrix_.counts) most = std::max(most, *std::max_element(row.begin(), row.end()));
  const double left = theme_.scaled(kLabel), foot = theme_.scaled(kFoot);
  const double width = (this->width() - left) / count, height = (this->height() - foot) / count;
  for (int truth = 0; truth < count; ++truth) {
    painter.setFont(theme_.textFont(11));
    painter.setPen(theme_(Token::text3));
    painter.drawText(QRectF(0, truth * height, left, height - kGap), Qt::AlignVCenter | Qt::AlignLeft,
                     shortName(matrix_.labels[truth]));
    for (int predicted = 0; predicted < count; ++predicted) {
      const int value = matrix_.counts[static_cast<size_t>(truth)][static_cast<size_t>(predicted)];
      const QRectF cell(left + predicted * width, truth * height, width - kGap, height - kGap);
      const QColor ground = value == 0 ? theme_(Token::sunken) : theme_.heat(0.15 + 0.45 * value / most);
      paintBox(painter, cell, 3, ground, QColor());
      painter.setFont(theme_.monoFont(12, QFont::Medium));
      painter.setPen(value == 0 ? theme_(Token::text2) : Theme::textOn(ground));
      painter.drawText(cell, Qt::AlignCenter, QString::number(value));
    }
  }
  painter.setFont(theme_.textFont(11));
  painter.setPen(theme_(Token::text3));
  for (int predicted = 0; predicted < count; ++predicted)
    painter.drawText(QRectF(left + predicted * width, count * height, width, foot / 2), Qt::AlignCenter,
                     shortName(matrix_.labels[predicted]));
  painter.drawText(QRectF(left, count * height + foot / 2, this->width() - left, foot / 2), Qt::AlignCenter,
                   "predicted");
}

}  // namespace orrery::ui
