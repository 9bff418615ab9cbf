#include "ui/graph/strip_section.h"

#include <QPainter>

#include "ui/theme/text_metrics.h"

namespace orrery::ui {

StripSection::StripSection(const Theme& theme, QWidget* parent) : QWidget(parent), theme_(theme) {}

void StripSection::setTheme(const Theme& theme) {
  theme_ = theme;
  updateGeometry();
  update();
}

void StripSection::paintTitle(QPainter& painter, const QString& title, const QString& note,
                              double right) const {
  const QFont titleFont = theme_.textFont(12, QFont::DemiBold), noteFont = theme_.textFont(11);
  const double baseline = px(20);
  painter.setPen(theme_(Token::text));
  drawLabel(painter, QPointF(px(kInset), baseline), elided(title, titleFont, right - px(kInset)), titleFont);
  const double x = px(kInset) + textWidth(title, titleFont) + px(8);
  if (note.isEmpty() || x + textWidth(note, noteFont) > right) return;
  painter.setPen(theme_(Token::text3));
  drawLabel(painter, QPointF(x, baseline), note, noteFont);
}

void StripSection::paintNote(QPainter& painter, const QString& note, double baseline) const {
  const QFont font = theme_.textFont(10.5);
  painter.setPen(theme_(Token::text3));
  drawLabel(painter, QPointF(px(kInset), px(baseline)), elided(note, font, width() - px(kInset)), font);
}

}  // namespace orrery::ui
