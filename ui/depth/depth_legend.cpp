#include "ui/depth/depth_legend.h"

#include <QPainter>

namespace orrery::ui {
namespace {

constexpr double kLine = 22, kBetween = 16, kMarkSize = 8, kWords = 6;  // px

}  // namespace

void paintCurveMark(QPainter& painter, const SideLook& look, bool hollow, const QPointF& centre, double size,
                    const Theme& theme) {
  if (!hollow) return paintMark(painter, look, centre, size, theme);
  painter.setPen(QPen(theme(look.token), 1.6));
  painter.setBrush(theme(Token::panel));
  const QRectF mark(centre.x() - size / 2 + 0.8, centre.y() - size / 2 + 0.8, size - 1.6, size - 1.6);
  look.device ? painter.drawRect(mark) : painter.drawEllipse(mark);
}

DepthLegend::DepthLegend(const Theme& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

void DepthLegend::show(const std::vector<SideLook>& looks) {
  looks_ = looks;
  QStringList names;
  for (const SideLook& look : looks_) names += look.name;
  setAccessibleName(names.join(", "));
  updateGeometry();
  update();
}

QSize DepthLegend::sizeHint() const {
  const QFontMetricsF metrics(theme_.textFont(11));
  double width = 0;
  for (const SideLook& look : looks_)
    width += theme_.scaled(kLine + kWords + kBetween) + metrics.horizontalAdvance(look.name);
  return {qRound(width), qRound(theme_.scaled(24))};
}

QSize DepthLegend::minimumSizeHint() const { return {0, sizeHint().height()}; }

void DepthLegend::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setFont(theme_.textFont(11));
  const QFontMetricsF metrics(painter.font());
  const double middle = height() / 2.0, line = theme_.scaled(kLine);
  double left = 0;
  for (size_t i = 0; i < looks_.size(); ++i) {
    const bool hollow = i == 0 && looks_.size() > 1;
    painter.setPen(QPen(theme_(looks_[i].token), 1.8, hollow ? Qt::DashLine : Qt::SolidLine));
    painter.drawLine(QPointF(left, middle), QPointF(left + line, middle));
    paintCurveMark(painter, looks_[i], hollow, {left + line / 2, middle}, theme_.scaled(kMarkSize), theme_);
    left += line + theme_.scaled(kWords);
    painter.setPen(theme_(Token::text2));
    const QRectF words(left, 0, std::max(0.0, width() - left), height());
    painter.drawText(words, Qt::AlignLeft | Qt::AlignVCenter,
                     metrics.elidedText(looks_[i].name, Qt::ElideRight, words.width()));
    left += metrics.horizontalAdvance(looks_[i].name) + theme_.scaled(kBetween);
  }
}

void DepthLegend::setTheme(const Theme& theme) {
  theme_ = theme;
  updateGeometry();
  update();
}

}  // namespace orrery::ui
