#include "ui/widgets/text.h"

#include <QFontMetricsF>
#include <QPainter>
#include <cmath>

#include "ui/theme/icons.h"
#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

constexpr double kChipHeight = 18, kChipPadding = 6, kChipIcon = 12;

}  // namespace

Text::Text(const Theme& theme, const TextStyle& style, const QString& text, QWidget* parent)
    : QWidget(parent), theme_(theme), style_(style), text_(text) {
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  setAccessibleName(text);
}

void Text::setText(const QString& text) {
  if (text == text_) return;
  const QSize before = sizeHint();
  text_ = text;
  least_ = {};
  setAccessibleName(text);
  if (wrap_ || sizeHint() != before) updateGeometry();
  update();
}

void Text::setToken(Token token) {
  style_.token = token;
  update();
}

void Text::setAlignment(Qt::Alignment alignment) {
  alignment_ = alignment;
  update();
}

void Text::setElide(Qt::TextElideMode mode) {
  elide_ = mode;
  update();
}

void Text::setBrief(const QString& brief) {
  brief_ = brief;
  update();
}

void Text::setWrap(bool wrap) {
  wrap_ = wrap;
  QSizePolicy policy(QSizePolicy::Preferred, wrap ? QSizePolicy::Minimum : QSizePolicy::Fixed);
  policy.setHeightForWidth(wrap);
  setSizePolicy(policy);
  updateGeometry();
}

void Text::reserve(const QString& widest) {
  widest_ = widest;
  least_ = {};
  updateGeometry();
}

void Text::setTheme(const Theme& theme) {
  theme_ = theme;
  least_ = {};
  updateGeometry();
  update();
}

QSize Text::sizeHint() const {
  const QFont font = style_.font(theme_);
  const double width = std::max(textWidth(text_, font), textWidth(widest_, font));
  return {ceilInt(width) + 1,
          wrap_ ? heightForWidth(std::max(200, this->width())) : ceilInt(QFontMetricsF(font).height())};
}

QSize Text::minimumSizeHint() const {
  if (least_.isValid()) return least_;
  const QFont font = style_.font(theme_);
  least_ = {widest_.isEmpty() ? std::min(24, ceilInt(textWidth(text_, font)) + 1)
                              : ceilInt(textWidth(widest_, font)) + 1,
            ceilInt(QFontMetricsF(font).height())};
  return least_;
}

int Text::heightForWidth(int width) const {
  const QFont font = style_.font(theme_);
  return ceilInt(wrap_ ? paragraphHeight(text_, font, width) : QFontMetricsF(font).height());
}

void Text::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const QFont font = style_.font(theme_);
  painter.setFont(font);
  painter.setPen(theme_(isEnabled() ? style_.token : Token::disabled));
  if (wrap_) {
    painter.drawText(rect(), static_cast<int>(Qt::AlignLeft | Qt::AlignTop) | Qt::TextWordWrap, text_);
    return;
  }
  const QString shown = elide_ == Qt::ElideMiddle
                            ? fitted(text_, brief_.isEmpty() ? text_ : brief_, font, width())
                            : QFontMetricsF(font).elidedText(text_, elide_, width());
  painter.drawText(rect(), static_cast<int>(alignment_), shown);
}

Chip::Chip(const Theme& theme, const QString& text, Token color, const QString& icon, QWidget* parent)
    : QWidget(parent), theme_(theme), text_(text), icon_(icon), color_(color) {
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
  setAccessibleName(text);
}

void Chip::setTheme(const Theme& theme) {
  theme_ = theme;
  updateGeometry();
  update();
}

QSize Chip::sizeHint() const {
  const double icon = icon_.isEmpty() ? 0 : kChipIcon + 4;
  return {ceilInt(textWidth(text_, theme_.textFont(11)) + icon + 2 * theme_.scaled(kChipPadding)) + 1,
          ceilInt(theme_.scaled(kChipHeight))};
}

void Chip::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  QColor ground = theme_(Token::raised);
  switch (color_) {
    case Token::ok:
      ground = theme_(Token::okBg);
      break;
    case Token::warn:
      ground = theme_(Token::warnBg);
      break;
    case Token::error:
      ground = theme_(Token::errorBg);
      break;
    case Token::edited:
      ground = theme_(Token::editedBg);
      break;
    case Token::cpu:
    case Token::cuda:
      ground = Theme::blend(theme_(Token::panel), theme_(color_), 0.2);
      break;
    default:
      break;
  }
  paintBox(painter, rect(), theme_.scaled(4), ground, QColor());
  QRectF area = QRectF(rect()).adjusted(theme_.scaled(kChipPadding), 0, 0, 0);
  if (!icon_.isEmpty()) {
    paintIcon(painter, icon_, QRectF(area.left(), (height() - kChipIcon) / 2, kChipIcon, kChipIcon),
              theme_(color_));
    area.adjust(kChipIcon + 4, 0, 0, 0);
  }
  painter.setFont(theme_.textFont(11));
  painter.setPen(theme_(color_));
  painter.drawText(area, Qt::AlignVCenter | Qt::AlignLeft, text_);
}

}  // namespace orrery::ui
