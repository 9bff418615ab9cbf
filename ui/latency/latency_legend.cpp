#include "ui/latency/latency_legend.h"

#include <QHBoxLayout>
#include <QPainter>

namespace orrery::ui {

LegendEntry::LegendEntry(const Theme& theme, LatencyCurve curve, const QString& text, QWidget* parent)
    : QAbstractButton(parent), theme_(theme), curve_(curve) {
  setText(text);
  setCheckable(true);
  setChecked(true);
  setToolTip("Show or hide " + text);
  setAccessibleName(text);
  setFocusPolicy(Qt::TabFocus);
  setCursor(Qt::PointingHandCursor);
}

void LegendEntry::setToken(Token token) {
  token_ = token;
  update();
}

void LegendEntry::setCaption(const QString& text) {
  setText(text);
  setToolTip("Show or hide " + text);
  setAccessibleName(text);
  updateGeometry();
}

void LegendEntry::setTheme(const Theme& theme) {
  theme_ = theme;
  updateGeometry();
  update();
}

QSize LegendEntry::sizeHint() const {
  const double words = QFontMetricsF(theme_.textFont(11)).horizontalAdvance(text());
  return {static_cast<int>(words) + 34, static_cast<int>(theme_.scaled(24))};
}

void LegendEntry::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const bool on = isChecked();
  const QColor curve = theme_(on ? token_ : Token::disabled);
  const double middle = height() / 2.0;
  const auto with = [](QColor color, double opacity) {
    color.setAlphaF(static_cast<float>(opacity));
    return color;
  };
  switch (curve_) {
    case LatencyCurve::p50:
      painter.setPen(QPen(curve, 2.2));
      painter.drawLine(QPointF(4, middle), QPointF(20, middle));
      break;
    case LatencyCurve::each:
      painter.setPen(QPen(with(curve, 0.6), 1));
      painter.drawLine(QPointF(4, middle), QPointF(20, middle));
      break;
    case LatencyCurve::band:
      paintBox(painter, QRectF(4, middle - 4.5, 16, 9), 1.5, with(curve, 0.28), QColor());
      break;
    case LatencyCurve::prefill: {
      const QColor grey = theme_(on ? Token::text3 : Token::disabled);
      painter.fillRect(QRectF(4, middle - 4.5, 16, 9), with(grey, 0.3));
      painter.fillRect(QRectF(4, middle - 5.5, 16, 2), grey);
      break;
    }
  }
  painter.setPen(theme_(on ? Token::text2 : Token::disabled));
  painter.setFont(theme_.textFont(11));
  painter.drawText(rect().adjusted(26, 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft, text());
  if (hasFocus()) paintFocus(painter, rect(), 4, theme_);
}

void LatencyLegend::setDevice(const QString& name, Token token, bool texts) {
  for (LegendEntry* entry : findChildren<LegendEntry*>()) {
    entry->setToken(token);
    entry->setVisible(!texts || entry->curve() != LatencyCurve::prefill);
    if (entry->curve() == LatencyCurve::p50) entry->setCaption(name + " p50");
    if (entry->curve() == LatencyCurve::each) entry->setCaption(texts ? "each text" : "each token");
  }
}

void LatencyLegend::setPair() {
  for (LegendEntry* entry : findChildren<LegendEntry*>()) {
    entry->setToken(Token::text2);
    entry->setVisible(entry->curve() == LatencyCurve::p50 || entry->curve() == LatencyCurve::each);
    if (entry->curve() == LatencyCurve::p50) entry->setCaption("p50");
  }
}

LatencyLegend::LatencyLegend(const Theme& theme, QWidget* parent) : QWidget(parent) {
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(8);
  const std::pair<LatencyCurve, const char*> entries[] = {{LatencyCurve::p50, "CPU p50"},
                                                          {LatencyCurve::band, "p50\u2013p95"},
                                                          {LatencyCurve::each, "each token"},
                                                          {LatencyCurve::prefill, "prefill"}};
  for (const auto& [curve, name] : entries) {
    auto* entry = new LegendEntry(theme, curve, name, this);
    connect(entry, &QAbstractButton::toggled, this,
            [this, curve = curve](bool on) { emit toggled(curve, on); });
    layout->addWidget(entry);
  }
}

}  // namespace orrery::ui
