#include "ui/shell/status_strip.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

constexpr double kStripHeight = 26;
constexpr double kStripMargin = 12, kLeast = 48;  // kLeast: a text with less room is left out

}  // namespace

StatusStrip::StatusStrip(const Theme& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setMouseTracking(true);
  setTheme(theme);
}

void StatusStrip::setFacts(const StatusFacts& facts) {
  if (facts == facts_) return;
  facts_ = facts;
  setAccessibleName(QStringList{facts.state, facts.model, facts.edits, facts.precision, facts.machine,
                                facts.memory, facts.speed}
                        .join(", "));
  update();
}

void StatusStrip::setTheme(const Theme& theme) {
  theme_ = theme;
  setFixedHeight(static_cast<int>(theme.scaled(kStripHeight)));
  update();
}

bool StatusStrip::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  if (memory_.contains(help->pos()))
    QToolTip::showText(help->globalPos(), facts_.memoryTip, this, memory_.toRect());
  else if (precision_.contains(help->pos()))
    QToolTip::showText(help->globalPos(), "What the model computes in; click to choose", this,
                       precision_.toRect());
  else
    QToolTip::hideText();
  return true;
}

void StatusStrip::mousePressEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton && precision_.contains(event->position()))
    emit precisionAsked(mapToGlobal(precision_.topLeft().toPoint()));
  else
    QWidget::mousePressEvent(event);
}

void StatusStrip::mouseMoveEvent(QMouseEvent* event) {
  setCursor(precision_.contains(event->position()) ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

void StatusStrip::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), theme_(Token::window));
  painter.setRenderHint(QPainter::Antialiasing);
  const double middle = height() / 2.0;
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme_(facts_.live ? Token::accent : Token::text3));
  painter.drawEllipse(QPointF(16, middle), 4, 4);
  double x = 26;
  const auto left = [&](const QString& text, Token token, bool line) -> QRectF {
    const double room = width() - kStripMargin - x - (line ? 11 : 0);
    if (text.isEmpty() || room < kLeast) return {};
    if (line) {
      painter.fillRect(QRectF(x, middle - 6, 1, 12),
                       Theme::blend(theme_(Token::border), theme_(Token::text3), 0.2));
      x += 11;
    }
    const QFont font = theme_.textFont(11.5, token == Token::text ? QFont::Medium : QFont::Normal);
    painter.setFont(font);
    painter.setPen(theme_(token));
    const QString shown = QFontMetricsF(font).elidedText(text, Qt::ElideMiddle, room);
    painter.drawText(QRectF(x, 0, room + 2, height()), Qt::AlignVCenter | Qt::AlignLeft, shown);
    const double from = x;
    x += textWidth(shown, font) + 11;
    return {from, 0, x - 11 - from, static_cast<double>(height())};
  };
  left(facts_.state, Token::text, false);
  left(facts_.model, Token::text2, true);
  left(facts_.edits, facts_.edited ? Token::edited : Token::text2, true);
  precision_ = left(facts_.precision, Token::text2, true);
  left(facts_.machine, Token::text2, true);
  double right = width() - kStripMargin;
  const auto fromRight = [&](const QString& text, Token token) -> QRectF {
    if (text.isEmpty()) return {};
    const QFont font = theme_.monoFont(11, token == Token::text ? QFont::Medium : QFont::Normal);
    const double width = textWidth(text, font);
    if (right - width < x) return {};  // a narrow window leaves out what does not fit
    painter.setFont(font);
    painter.setPen(theme_(token));
    painter.drawText(QRectF(right - width, 0, width + 2, height()), Qt::AlignVCenter | Qt::AlignLeft, text);
    right -= width + 18;
    return {right + 18, 0, width, static_cast<double>(height())};
  };
  fromRight(facts_.profiler, Token::text2);
  fromRight(facts_.context, Token::text2);
  fromRight(facts_.speed, Token::text);
  memory_ = fromRight(facts_.memory, Token::text2);
}

}  // namespace orrery::ui
