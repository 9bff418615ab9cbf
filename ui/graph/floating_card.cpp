#include "ui/graph/floating_card.h"

#include <QPainter>

#include "ui/theme/icons.h"

namespace orrery::ui {
namespace {

constexpr double kRadius = 7, kClose = 24, kCross = 10;

class CloseMark : public QAbstractButton {
 public:
  CloseMark(const Theme& theme, QWidget* parent) : QAbstractButton(parent), theme_(theme) {
    setFocusPolicy(Qt::NoFocus);
    setCursor(Qt::PointingHandCursor);
    hide();
  }
  void setTheme(const Theme& theme) { theme_ = theme; }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    const double side = theme_.scaled(kCross);
    paintIcon(painter, u"close", QRectF((width() - side) / 2, (height() - side) / 2, side, side),
              theme_(underMouse() ? Token::text : Token::text3));
  }
  void enterEvent(QEnterEvent*) override { update(); }
  void leaveEvent(QEvent*) override { update(); }

 private:
  Theme theme_;
};

}  // namespace

void paintCard(QPainter& painter, const Theme& theme, const QRectF& rect) {
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(Theme::blend(theme(Token::border), theme(Token::edge), 0.3), 1));
  painter.setBrush(theme(Token::panel));
  painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), kRadius, kRadius);
}

FloatingCard::FloatingCard(const Theme& theme, const QString& closeTip, QWidget* parent)
    : QWidget(parent), theme_(theme), close_(new CloseMark(theme, this)) {
  close_->setToolTip(closeTip);
  close_->setAccessibleName(closeTip);
  connect(close_, &QAbstractButton::clicked, this, &FloatingCard::closeAsked);
}

void FloatingCard::setTheme(const Theme& theme) {
  theme_ = theme;
  static_cast<CloseMark*>(close_)->setTheme(theme);
  resize(sizeHint());
  update();
}

void FloatingCard::enterEvent(QEnterEvent*) { close_->show(); }
void FloatingCard::leaveEvent(QEvent*) { close_->hide(); }

void FloatingCard::resizeEvent(QResizeEvent*) {
  const int side = qRound(theme_.scaled(kClose));
  close_->setGeometry(width() - side, 0, side, side);
}

}  // namespace orrery::ui
