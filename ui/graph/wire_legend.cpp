#include "ui/graph/wire_legend.h"

#include <QFontMetricsF>
#include <QPainter>

#include "ui/graph/wire_look.h"
#include "ui/graph/wire_strokes.h"
#include "ui/theme/icons.h"
#include "ui/widgets/themed.h"

namespace orrery::ui {
namespace {

constexpr double kWidth = 148, kHead = 26, kRow = 15, kChangeRow = 14, kFoot = 8, kInset = 12;
constexpr double kLine = 22, kWords = 44, kSign = 12;
constexpr Carried kKinds[] = {Carried::f32, Carried::f16, Carried::integer, Carried::quantised};

struct Change {
  WireChange change;
  const char* word;
  QStringView icon;
};
constexpr Change kChanges[] = {{WireChange::added, QT_TRANSLATE_NOOP("WireLegend", "added"), u"plus"},
                               {WireChange::removed, QT_TRANSLATE_NOOP("WireLegend", "removed"), u"minus"},
                               {WireChange::changed, QT_TRANSLATE_NOOP("WireLegend", "changed"), u"pencil"}};

// Of the keys: a chip, its word, a gap.
constexpr double kChip = 15, kChipPad = 8, kWordGap = 6, kGap = 14;

}  // namespace

WireLegend::WireLegend(const Theme& theme, QWidget* parent)
    : FloatingCard(theme, tr("Hide the legends (Shift+M)"), parent) {
  setAccessibleName(tr("Legend of the wires"));
  hide();
}

void WireLegend::setShown(bool kinds, bool changes) {
  kinds_ = kinds;
  changes_ = changes;
  resize(sizeHint());
  update();
}

QSize WireLegend::sizeHint() const {
  const double height = (kinds_ ? kHead + kRow * std::size(kKinds) + kFoot : 0) +
                        (changes_ ? kHead + kChangeRow * std::size(kChanges) + kFoot : 0);
  return {qRound(theme_.scaled(kWidth)), qRound(theme_.scaled(height))};
}

double WireLegend::paintHead(QPainter& painter, double y, const QString& title, const QString& word) const {
  const double s = theme_.scaled(1);
  const QRectF line(kInset * s, y, width() - 2 * kInset * s - (y < 1 ? closeRoom() : 0), kHead * s);
  painter.setFont(theme_.textFont(11.5, QFont::DemiBold));
  painter.setPen(theme_(Token::text));
  painter.drawText(line, Qt::AlignVCenter, title);
  painter.setFont(theme_.textFont(10.5));
  painter.setPen(theme_(Token::text3));
  painter.drawText(line, Qt::AlignVCenter | Qt::AlignRight, word);
  return y + kHead * s;
}

void WireLegend::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  paintCard(painter, theme_, rect());
  const double s = theme_.scaled(1), left = kInset * s;
  double y = 0;
  const auto line = [&](double middle, const WireLook& look) {
    painter.setPen(wirePen(look.color, look.width, look.stroke));
    painter.drawLine(QPointF(left, middle), QPointF(left + kLine * s, middle));
  };
  if (kinds_) {
    y = paintHead(painter, y, tr("Wires"), tr("dtype"));
    for (const Carried kind : kKinds) {
      const double middle = y + kRow * s / 2;
      line(middle, {colorOf(kind, theme_), kind == Carried::f16 ? 3.0 : 1.6, strokeOf(kind)});
      if (strokeOf(kind) == Stroke::doubled) line(middle, {theme_(Token::panel), 0.9, Stroke::solid});
      painter.setFont(theme_.monoFont(10));
      painter.setPen(theme_(Token::text2));
      painter.drawText(QRectF(kWords * s, y, width() - kWords * s, kRow * s), Qt::AlignVCenter, wordOf(kind));
      y += kRow * s;
    }
    y += kFoot * s;
  }
  if (!changes_) return;
  if (kinds_) {
    painter.setPen(QPen(theme_(Token::border), 1));
    painter.drawLine(QPointF(1, y + 0.5), QPointF(width() - 1, y + 0.5));
  }
  y = paintHead(painter, y, tr("Diff"), {});
  for (const Change& one : kChanges) {
    const bool removed = one.change == WireChange::removed;
    const QColor color = colorOf(one.change, theme_);
    line(y + kChangeRow * s / 2, {color, removed ? 1.2 : 1.8, removed ? Stroke::dashed : Stroke::solid});
    painter.setFont(theme_.textFont(10.5));
    painter.setPen(theme_(Token::text2));
    painter.drawText(QRectF(kWords * s, y, width() - kWords * s, kChangeRow * s), Qt::AlignVCenter,
                     tr(one.word));
    paintIcon(painter, one.icon, QRectF(width() - (kInset + kSign) * s, y + 1, kSign * s, kSign * s), color);
    y += kChangeRow * s;
  }
}

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
