#include "ui/compare/compare_tile.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "ui/theme/format.h"
#include "ui/theme/icons.h"

namespace orrery::ui {
namespace {

constexpr double kLeastPx = 9;  // a value shrinks before it is cut

}  // namespace

CompareTile::CompareTile(const Theme& theme, const QString& caption, QWidget* parent)
    : QWidget(parent), theme_(theme), caption_(caption) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  clear();
}

void CompareTile::setValue(const QString& value, const QString& note, Mark mark) {
  value_ = value;
  note_ = note;
  mark_ = mark;
  setAccessibleName(caption_ + ": " + value + (note.isEmpty() ? "" : ", " + note));
  setToolTip(caption_ + ": " + value + (note.isEmpty() ? "" : ", " + note));
  update();
}

void CompareTile::clear() { setValue(format::dash(), {}, Mark::none); }

QSize CompareTile::sizeHint() const {
  return {static_cast<int>(theme_.scaled(130)), static_cast<int>(theme_.scaled(46))};
}

void CompareTile::setTheme(const Theme& theme) {
  theme_ = theme;
  updateGeometry();
  update();
}

void CompareTile::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const bool warns = mark_ == Mark::warn;
  paintBox(painter, rect(), theme_.scaled(5), theme_(Token::sunken),
           theme_(warns ? Token::warn : Token::border));
  const double s = theme_.scaled(1), left = 8 * s, room = width() - 16 * s;
  painter.setFont(theme_.textFont(10.5));
  painter.setPen(theme_(Token::text3));
  painter.drawText(QRectF(left, 5 * s, room - 18 * s, 14 * s), Qt::AlignVCenter | Qt::AlignLeft, caption_);
  if (mark_ != Mark::none)
    paintIcon(painter, warns ? u"warn" : u"check", QRectF(width() - 24 * s, 6 * s, 14 * s, 14 * s),
              theme_(warns ? Token::warn : Token::ok));
  const double wide = QFontMetricsF(theme_.monoFont(13, QFont::Medium)).horizontalAdvance(value_);
  const double px = std::clamp(std::floor(13 * room / std::max(wide, 1.0)), kLeastPx, 13.0);
  const QFont valueFont = theme_.monoFont(px, QFont::Medium), noteFont = theme_.textFont(10.5);
  const QFontMetricsF valueMetrics(valueFont), noteMetrics(noteFont);
  const QString value = valueMetrics.elidedText(value_, Qt::ElideMiddle, room);
  const double used = valueMetrics.horizontalAdvance(value) + 8 * s;
  painter.setFont(valueFont);
  painter.setPen(theme_(Token::text));
  painter.drawText(QRectF(left, 21 * s, room, 18 * s), Qt::AlignVCenter | Qt::AlignLeft, value);
  if (noteMetrics.horizontalAdvance(note_) > room - used) return;  // the tool tip has it
  painter.setFont(noteFont);
  painter.setPen(theme_(Token::text3));
  painter.drawText(QRectF(left + used, 22 * s, room - used, 18 * s), Qt::AlignVCenter | Qt::AlignLeft, note_);
}

}  // namespace orrery::ui
