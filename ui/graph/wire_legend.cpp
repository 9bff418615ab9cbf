#include "ui/graph/wire_legend.h"

#include <QPainter>

#include "ui/graph/wire_look.h"
#include "ui/graph/wire_strokes.h"
#include "ui/theme/icons.h"
#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

// At body 13.
constexpr double kKindsWidth = 138, kChangesWidth = 122, kTop = 29, kRow = 15, kChangeRow = 20;
constexpr double kLine = 22, kGap = 10, kSign = 12;
constexpr Carried kKinds[] = {Carried::f32, Carried::f16, Carried::integer, Carried::quantised};

struct Change {
  WireChange change;
  const char* word;
  QStringView icon;
};
constexpr Change kChanges[] = {{WireChange::added, QT_TRANSLATE_NOOP("WireLegend", "added"), u"plus"},
                               {WireChange::removed, QT_TRANSLATE_NOOP("WireLegend", "removed"), u"minus"},
                               {WireChange::changed, QT_TRANSLATE_NOOP("WireLegend", "changed"), u"pencil"}};

void paintLine(QPainter& painter, double left, double middle, double length, const WireLook& look) {
  painter.setPen(wirePen(look.color, look.width, look.stroke));
  painter.drawLine(QPointF(left, middle), QPointF(left + length, middle));
}

}  // namespace

WireLegend::WireLegend(const Theme& theme, QWidget* parent) : StripSection(theme, parent) {
  setAccessibleName(tr("Wires"));
  hide();
}

void WireLegend::setShown(bool kinds, bool changes) {
  kinds_ = kinds;
  changes_ = changes;
  update();
}

QSize WireLegend::sizeHint() const {
  const double width = (kinds_ ? kKindsWidth : 0) + (changes_ ? kChangesWidth : 0);
  return {qRound(px(width)), qRound(px(kStripHeight))};
}

void WireLegend::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  if (kinds_) paintKinds(painter);
  if (kinds_) painter.translate(px(kKindsWidth), 0);
  if (changes_) paintChanges(painter);
}

void WireLegend::paintKinds(QPainter& painter) const {
  paintTitle(painter, tr("Wires"), tr("dtype"), px(kKindsWidth));
  double top = px(kTop);
  for (const Carried kind : kKinds) {
    const double middle = top + px(kRow) / 2;
    const WireLook look{colorOf(kind, theme_), kind == Carried::f16 ? 3.0 : 1.6, strokeOf(kind)};
    paintLine(painter, px(kInset), middle, px(kLine), look);
    if (look.stroke == Stroke::doubled)
      paintLine(painter, px(kInset), middle, px(kLine), {theme_(Token::panel), 0.9, Stroke::solid});
    painter.setPen(theme_(Token::text2));
    drawLabel(painter, QRectF(px(kInset + kLine + kGap), top, px(kKindsWidth), px(kRow)), Qt::AlignLeft,
              wordOf(kind), theme_.monoFont(10));
    top += px(kRow);
  }
}

void WireLegend::paintChanges(QPainter& painter) const {
  paintTitle(painter, tr("Diff"), tr("wires"), px(kChangesWidth));
  double top = px(kTop);
  for (const Change& one : kChanges) {
    const bool removed = one.change == WireChange::removed;
    const QColor color = colorOf(one.change, theme_);
    const double middle = top + px(kChangeRow) / 2;
    paintLine(painter, px(kInset), middle, px(kLine),
              {color, removed ? 1.2 : 1.8, removed ? Stroke::dashed : Stroke::solid});
    painter.setPen(theme_(Token::text2));
    drawLabel(painter, QRectF(px(kInset + kLine + kGap), top, px(kChangesWidth), px(kChangeRow)),
              Qt::AlignLeft, tr(one.word), theme_.textFont(11));
    paintIcon(painter, one.icon,
              QRectF(px(kChangesWidth - kSign - 2), middle - px(kSign) / 2, px(kSign), px(kSign)), color);
    top += px(kChangeRow);
  }
}

}  // namespace orrery::ui
