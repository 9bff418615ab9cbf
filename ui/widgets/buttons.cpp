#include "ui/widgets/buttons.h"

#include <QFontMetricsF>
#include <QKeyEvent>
#include <QPainter>
#include <cmath>

#include "ui/theme/icons.h"
#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

constexpr double kControlHeight = 28, kRadius = 5, kIcon = 16, kPadding = 10;

}  // namespace

Button::Button(const Theme& theme, const QString& text, Kind kind, QWidget* parent)
    : QAbstractButton(parent), theme_(theme), kind_(kind) {
  setText(text);
  setFocusPolicy(Qt::StrongFocus);
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

void Button::setIconName(const QString& icon, Token color) {
  icon_ = icon;
  iconColor_ = color;
  updateGeometry();
  update();
}

void Button::setKeyHint(const QString& key) {
  key_ = key;
  updateGeometry();
  update();
}

void Button::setCaption(const QString& text) {
  setText(text);
  updateGeometry();
}

void Button::setTheme(const Theme& theme) {
  theme_ = theme;
  updateGeometry();
  update();
}

QSize Button::sizeHint() const {
  double width = 2 * theme_.scaled(kPadding) + textWidth(text(), theme_.textFont(12.5, QFont::Medium));
  if (!icon_.isEmpty()) width += theme_.scaled(kIcon) + 4;
  if (!key_.isEmpty()) width += textWidth(key_, theme_.monoFont(10)) + 12;
  return {ceilInt(width), ceilInt(theme_.scaled(kControlHeight))};
}

void Button::keyPressEvent(QKeyEvent* event) {
  const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
  if (enter && !event->isAutoRepeat() && !(event->modifiers() & ~Qt::KeypadModifier)) return click();
  QAbstractButton::keyPressEvent(event);
}

void Button::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const bool hot = underMouse() && isEnabled();
  QColor fill = theme_(hot ? Token::hover : Token::raised), line = controlOutline(theme_),
         ink = theme_(Token::text);
  if (isDown()) fill = theme_(Token::sunken);
  if (kind_ == Kind::primary && isEnabled()) {
    fill = line =
        isDown() ? Theme::blend(theme_(Token::accent), theme_(Token::canvas), 0.15) : theme_(Token::accent);
    ink = theme_(Token::onAccent);
  } else if (kind_ == Kind::danger && isEnabled()) {
    fill = theme_(Token::errorBg);
    line = Theme::blend(fill, theme_(Token::error), 0.5);
    ink = theme_(Token::error);
  } else if (kind_ == Kind::quiet && !hot && !isDown()) {
    fill = QColor();
  }
  if (!isEnabled()) {
    fill = QColor();
    line = theme_(Token::border);
    ink = theme_(Token::disabled);
  }
  paintBox(painter, rect(), theme_.scaled(kRadius), fill, line);
  if (hasFocus()) paintFocus(painter, rect(), theme_.scaled(kRadius), theme_);
  QRectF area = QRectF(rect()).adjusted(theme_.scaled(kPadding), 0, -theme_.scaled(kPadding), 0);
  if (!icon_.isEmpty()) {
    const double size = theme_.scaled(kIcon);
    const QColor color = !isEnabled()             ? theme_(Token::disabled)
                         : kind_ == Kind::primary ? ink
                                                  : theme_(iconColor_);
    paintIcon(painter, icon_, QRectF(area.left() - 2, (height() - size) / 2, size, size), color);
    area.adjust(size + 4, 0, 0, 0);
  }
  painter.setPen(ink);
  painter.setFont(theme_.textFont(12.5, QFont::Medium));
  painter.drawText(area,
                   (icon_.isEmpty() && key_.isEmpty() ? Qt::AlignHCenter : Qt::AlignLeft) | Qt::AlignVCenter,
                   text());
  if (key_.isEmpty()) return;
  painter.setPen(theme_(isEnabled() ? Token::text3 : Token::disabled));
  painter.setFont(theme_.monoFont(10));
  painter.drawText(area, Qt::AlignRight | Qt::AlignVCenter, key_);
}

void Button::enterEvent(QEnterEvent*) { update(); }
void Button::leaveEvent(QEvent*) { update(); }

IconButton::IconButton(const Theme& theme, const QString& icon, const QString& toolTip, QWidget* parent,
                       double iconPx)
    : QAbstractButton(parent), theme_(theme), icon_(icon), iconPx_(iconPx) {
  setToolTip(toolTip);
  setAccessibleName(toolTip);
  setFocusPolicy(Qt::TabFocus);
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

void IconButton::setIconName(const QString& icon) {
  icon_ = icon;
  update();
}

void IconButton::setToken(Token token) {
  token_ = token;
  update();
}

void IconButton::setGround(bool raised) {
  raised_ = raised;
  update();
}

void IconButton::setTheme(const Theme& theme) {
  theme_ = theme;
  updateGeometry();
  update();
}

QSize IconButton::sizeHint() const {
  const int side = ceilInt(std::max(theme_.scaled(24), theme_.scaled(iconPx_ + 10)));
  return {side, side};
}

void IconButton::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const bool hot = underMouse() && isEnabled();
  if (isChecked() || isDown()) {
    paintBox(painter, rect(), theme_.scaled(kRadius), theme_(Token::hover), theme_(Token::border));
  } else if (hot || raised_) {
    paintBox(painter, rect(), theme_.scaled(kRadius), theme_(hot ? Token::hover : Token::raised), QColor());
  }
  if (hasFocus()) paintFocus(painter, rect(), theme_.scaled(kRadius), theme_);
  const double size = theme_.scaled(iconPx_);
  const Token token = !isEnabled() ? Token::disabled : hot && token_ == Token::text2 ? Token::text : token_;
  paintIcon(painter, icon_, QRectF((width() - size) / 2, (height() - size) / 2, size, size), theme_(token));
}

void IconButton::enterEvent(QEnterEvent*) { update(); }
void IconButton::leaveEvent(QEvent*) { update(); }

DropButton::DropButton(const Theme& theme, QWidget* parent)
    : QAbstractButton(parent), theme_(theme), menu_(new QMenu(this)) {
  setFocusPolicy(Qt::StrongFocus);
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  connect(this, &QAbstractButton::clicked, this, [this] {
    menu_->setMinimumWidth(width());
    menu_->popup(mapToGlobal(QPoint(0, height() + 2)));
  });
}

void DropButton::setCaption(const QString& text, const QString& monoSuffix) {
  setText(text);
  suffix_ = monoSuffix;
  updateGeometry();
  update();
}

void DropButton::setIconName(const QString& icon) {
  icon_ = icon;
  updateGeometry();
}

void DropButton::setWidths(int minimum, int maximum) {
  minimum_ = minimum;
  maximum_ = maximum;
  updateGeometry();
}

void DropButton::setTheme(const Theme& theme) {
  theme_ = theme;
  updateGeometry();
  update();
}

QSize DropButton::sizeHint() const {
  double width = 2 * theme_.scaled(kPadding) + textWidth(text(), theme_.textFont(12.5, QFont::Medium)) + 28;
  if (!icon_.isEmpty()) width += theme_.scaled(kIcon) + 4;
  if (!suffix_.isEmpty()) width += textWidth(suffix_, theme_.monoFont(11)) + 8;
  return {std::clamp(ceilInt(width), minimum_, std::max(minimum_, maximum_)),
          ceilInt(theme_.scaled(kControlHeight))};
}

QSize DropButton::minimumSizeHint() const { return {std::min(sizeHint().width(), 110), sizeHint().height()}; }

void DropButton::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const bool hot = underMouse() && isEnabled();
  paintBox(painter, rect(), theme_.scaled(kRadius),
           theme_(isDown() ? Token::sunken
                  : hot    ? Token::hover
                           : Token::raised),
           controlOutline(theme_));
  if (hasFocus()) paintFocus(painter, rect(), theme_.scaled(kRadius), theme_);
  const Token ink = isEnabled() ? Token::text : Token::disabled,
              second = isEnabled() ? Token::text3 : Token::disabled;
  QRectF area = QRectF(rect()).adjusted(theme_.scaled(kPadding) - 1, 0, -theme_.scaled(26), 0);
  if (!icon_.isEmpty()) {
    const double size = theme_.scaled(15);
    paintIcon(painter, icon_, QRectF(area.left() - 1, (height() - size) / 2, size, size),
              theme_(isEnabled() ? Token::text2 : ink));
    area.adjust(size + 5, 0, 0, 0);
  }
  const QFont font = theme_.textFont(12.5, QFont::Medium);
  const double suffixWidth = suffix_.isEmpty() ? 0 : textWidth(suffix_, theme_.monoFont(11)) + 8;
  const QString shown = QFontMetricsF(font).elidedText(text(), Qt::ElideMiddle, area.width() - suffixWidth);
  painter.setFont(font);
  painter.setPen(theme_(ink));
  painter.drawText(area, Qt::AlignVCenter | Qt::AlignLeft, shown);
  area.adjust(textWidth(shown, font) + 8, 0, 0, 0);
  painter.setFont(theme_.monoFont(11));
  painter.setPen(theme_(second));
  painter.drawText(area, Qt::AlignVCenter | Qt::AlignLeft, suffix_);
  const double arrow = theme_.scaled(14);
  paintIcon(painter, u"down", QRectF(width() - arrow - 6, (height() - arrow) / 2, arrow, arrow),
            theme_(second));
}

void DropButton::enterEvent(QEnterEvent*) { update(); }
void DropButton::leaveEvent(QEvent*) { update(); }

}  // namespace orrery::ui
