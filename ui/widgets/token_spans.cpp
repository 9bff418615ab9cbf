#include "ui/widgets/token_spans.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>

namespace orrery::ui {
namespace {

constexpr double kPad = 6, kGap = 4, kRowGap = 8, kMargin = 12, kSpanHeight = 24, kLabelHeight = 16;

}  // namespace

TokenSpans::TokenSpans(const Theme& theme, QWidget* parent)
    : QWidget(parent), theme_(theme), margin_(kMargin) {
  QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Minimum);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
}

void TokenSpans::setTokens(std::vector<TokenSpan> tokens) {
  tokens_ = std::move(tokens);
  current_ = -1;
  QStringList words;
  for (const TokenSpan& token : tokens_) words += token.text + " " + token.below;
  setAccessibleName("Tokens");
  setAccessibleDescription(words.join(", "));
  updateGeometry();
  update();
}

QColor TokenSpans::colorOf(int token) const {
  const TokenSpan& span = tokens_[static_cast<size_t>(token)];
  return span.color ? span.color(theme_) : theme_(Token::text3);
}

void TokenSpans::setMargin(double margin) {
  margin_ = margin;
  updateGeometry();
}

std::vector<QRectF> TokenSpans::layOut(double width, double* height) const {
  const QFontMetricsF text(theme_.textFont(13)), small(theme_.monoFont(9));
  const double margin = theme_.scaled(margin_), row = theme_.scaled(kSpanHeight + kLabelHeight + kRowGap);
  double x = margin, y = margin;
  std::vector<QRectF> rects;
  for (const TokenSpan& token : tokens_) {
    const double wide = std::max(text.horizontalAdvance(token.text) + 2 * theme_.scaled(kPad),
                                 small.horizontalAdvance(token.below) + 4);
    if (x + wide > width - margin && x > margin) {
      x = margin;
      y += row;
    }
    rects.emplace_back(x, y, wide, theme_.scaled(kSpanHeight));
    x += wide + theme_.scaled(kGap);
  }
  if (height) *height = tokens_.empty() ? 0 : y + row + margin;
  return rects;
}

int TokenSpans::heightForWidth(int width) const {
  double height = 0;
  layOut(width, &height);
  return static_cast<int>(height);
}

QRectF TokenSpans::rectOf(int token) const { return layOut(width(), nullptr)[static_cast<size_t>(token)]; }

int TokenSpans::tokenAt(const QPointF& position) const {
  const std::vector<QRectF> rects = layOut(width(), nullptr);
  for (size_t i = 0; i < rects.size(); ++i)
    if (rects[i].adjusted(0, 0, 0, theme_.scaled(kLabelHeight)).contains(position))
      return static_cast<int>(i);
  return -1;
}

void TokenSpans::setCurrent(int token) {
  current_ = token;
  update();
}

void TokenSpans::mousePressEvent(QMouseEvent* event) {
  if (const int token = tokenAt(event->position()); token >= 0) emit tokenClicked(token);
}

bool TokenSpans::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const int token = tokenAt(help->pos());
  if (token < 0)
    QToolTip::hideText();
  else
    QToolTip::showText(help->globalPos(), tokens_[static_cast<size_t>(token)].toolTip, this);
  return true;
}

void TokenSpans::setTheme(const Theme& theme) {
  theme_ = theme;
  updateGeometry();
  update();
}

void TokenSpans::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const std::vector<QRectF> rects = layOut(width(), nullptr);
  for (size_t i = 0; i < tokens_.size(); ++i) {
    const TokenSpan& span = tokens_[i];
    const bool nothing = !span.color;
    const QColor color = colorOf(static_cast<int>(i));
    const bool current = static_cast<int>(i) == current_;
    paintBox(painter, rects[i], theme_.scaled(4),
             nothing ? QColor() : Theme::blend(theme_(Token::panel), color, span.tint),
             current ? theme_(Token::accent)
             : nothing
                 ? theme_(Token::border)
                 : Theme::blend(theme_(Token::panel), color, std::min(1.0, span.tint / TokenSpan::kTint)));
    painter.setFont(theme_.textFont(13));
    painter.setPen(theme_(nothing ? Token::text2 : Token::text));
    painter.drawText(rects[i], Qt::AlignCenter, span.text);
    painter.setFont(theme_.monoFont(9));
    painter.setPen(theme_(nothing ? Token::text3 : Token::text2));
    painter.drawText(
        QRectF(rects[i].left(), rects[i].bottom() + 1, rects[i].width(), theme_.scaled(kLabelHeight)),
        Qt::AlignHCenter | Qt::AlignTop, span.below);
  }
}

}  // namespace orrery::ui
