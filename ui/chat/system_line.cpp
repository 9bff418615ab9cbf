#include "ui/chat/system_line.h"

#include <QHBoxLayout>
#include <QPainter>

namespace orrery::ui {
namespace {

constexpr double kHeight = 26;
constexpr int kInset = 10, kLineGap = 8;

}  // namespace

SystemLine::SystemLine(const Theme& theme, QWidget* parent)
    : QAbstractButton(parent),
      theme_(theme),
      clear_(new IconButton(theme, "close", "Clear the system prompt", this)) {
  setFocusPolicy(Qt::StrongFocus);
  setCursor(Qt::PointingHandCursor);
  setToolTip("The model is told this before the conversation; click to edit it");
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  clear_->setToken(Token::text3);
  clear_->setCursor(Qt::ArrowCursor);
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 0, 2, 0);
  layout->addStretch(1);
  layout->addWidget(clear_);
  connect(clear_, &QAbstractButton::clicked, this, &SystemLine::clearAsked);
  hide();
}

void SystemLine::setPrompt(const QString& prompt) {
  setText(prompt.simplified());
  setAccessibleName("System prompt: " + text());
  setVisible(!prompt.isEmpty());
}

void SystemLine::setTheme(const Theme& theme) {
  theme_ = theme;
  updateGeometry();
  update();
}

QSize SystemLine::sizeHint() const { return {240, static_cast<int>(theme_.scaled(kHeight))}; }

void SystemLine::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const double radius = theme_.scaled(5);
  paintBox(painter, rect(), radius, theme_(underMouse() ? Token::hover : Token::sunken),
           theme_(Token::border));
  if (hasFocus()) paintFocus(painter, rect(), radius, theme_);
  const QFont caption = theme_.textFont(11.5, QFont::DemiBold), words = theme_.textFont(11.5);
  QRectF area = QRectF(rect()).adjusted(kInset, 0, -clear_->width() - kLineGap, 0);
  painter.setFont(caption);
  painter.setPen(theme_(Token::text3));
  painter.drawText(area, Qt::AlignVCenter | Qt::AlignLeft, "System prompt");
  area.adjust(QFontMetricsF(caption).horizontalAdvance("System prompt") + kLineGap, 0, 0, 0);
  painter.setFont(words);
  painter.setPen(theme_(Token::text2));
  painter.drawText(area, Qt::AlignVCenter | Qt::AlignLeft,
                   QFontMetricsF(words).elidedText(text(), Qt::ElideRight, area.width()));
}

}  // namespace orrery::ui
