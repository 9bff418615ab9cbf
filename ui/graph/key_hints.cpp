#include "ui/graph/key_hints.h"

#include <QFontMetricsF>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "ui/widgets/themed.h"

namespace orrery::ui {
namespace {

// A chip, its word, a gap.
constexpr double kChip = 15, kChipPad = 8, kWordGap = 6, kGap = 14;

}  // namespace

KeyHints::KeyHints(const Theme& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  setAttribute(Qt::WA_TransparentForMouseEvents);
  hide();
}

void KeyHints::setTheme(const Theme& theme) {
  theme_ = theme;
  resize(sizeHint());
  update();
}

void KeyHints::setHints(std::vector<Hint> hints) {
  std::erase_if(hints, [](const Hint& hint) { return hint.keys.isEmpty(); });
  hints_ = std::move(hints);
  resize(sizeHint());
  update();
}

QSize KeyHints::sizeHint() const {
  const QFontMetricsF keys(theme_.monoFont(10)), words(theme_.textFont(10.5));
  double width = 0;
  for (const Hint& hint : hints_)
    width += keys.horizontalAdvance(hint.keys) + words.horizontalAdvance(hint.word) +
             theme_.scaled(kChipPad + kWordGap + kGap);
  return {qCeil(width), qRound(theme_.scaled(kChip + 2))};
}

void KeyHints::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  QColor ground = theme_(Token::canvas);  // whatever of the drawing is below
  ground.setAlphaF(0.85F);
  painter.fillRect(rect(), ground);
  const double s = theme_.scaled(1);
  const QFont keys = theme_.monoFont(10), words = theme_.textFont(10.5);
  double x = 0;
  for (const Hint& hint : hints_) {
    const QRectF chip(x, 1, QFontMetricsF(keys).horizontalAdvance(hint.keys) + kChipPad * s, kChip * s);
    paintBox(painter, chip, 3, theme_(Token::panel), controlOutline(theme_));
    painter.setFont(keys);
    painter.setPen(theme_(Token::text2));
    painter.drawText(chip, Qt::AlignCenter, hint.keys);
    x = chip.right() + kWordGap * s;
    painter.setFont(words);
    painter.setPen(theme_(Token::text3));
    painter.drawText(QRectF(x, 0, width(), height()), Qt::AlignVCenter, hint.word);
    x += QFontMetricsF(words).horizontalAdvance(hint.word) + kGap * s;
  }
}

}  // namespace orrery::ui
