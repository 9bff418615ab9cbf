#include "ui/shell/drop_preview.h"

#include <QPainter>
#include <QVBoxLayout>

#include "ui/theme/icons.h"

namespace orrery::ui {
namespace {

constexpr double kCardWidth = 460, kCardHeight = 150;

}  // namespace

DropPreview::DropPreview(const Theme& theme, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      title_(new Text(theme, {Token::text, 15, QFont::DemiBold}, {}, this)),
      body_(new Text(theme, {Token::text2, 12}, {}, this)) {
  setAttribute(Qt::WA_TransparentForMouseEvents);
  for (Text* text : {title_, body_}) {
    text->setAlignment(Qt::AlignCenter);
    text->setMaximumWidth(static_cast<int>(theme.scaled(kCardWidth - 40)));
    text->setMinimumWidth(text->maximumWidth());
  }
  title_->setElide(Qt::ElideMiddle);
  auto* layout = new QVBoxLayout(this);
  layout->setSpacing(6);
  layout->addStretch(1);
  layout->addSpacing(36);
  layout->addWidget(title_, 0, Qt::AlignHCenter);
  layout->addWidget(body_, 0, Qt::AlignHCenter);
  layout->addStretch(1);
  hide();
}

void DropPreview::showPlan(const OpenPlan& plan) {
  possible_ = plan.possible;
  title_->setText(plan.title);
  body_->setText(plan.body);
  setGeometry(parentWidget()->rect());
  show();
  raise();
}

void DropPreview::setTheme(const Theme& theme) {
  theme_ = theme;
  update();
}

void DropPreview::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  QColor ground = theme_(Token::canvas);
  ground.setAlphaF(0.8F);
  painter.fillRect(rect(), ground);
  painter.setRenderHint(QPainter::Antialiasing);
  QRectF card(0, 0, theme_.scaled(kCardWidth), theme_.scaled(kCardHeight));
  card.moveCenter(QRectF(rect()).center());
  const QColor mark = theme_(possible_ ? Token::accent : Token::warn);
  painter.setPen(QPen(mark, 1.5, Qt::DashLine));
  painter.setBrush(theme_(Token::panel));
  painter.drawRoundedRect(card, 8, 8);
  const double size = theme_.scaled(28);
  paintIcon(painter, possible_ ? u"open" : u"warn",
            QRectF(card.center().x() - size / 2, card.top() + theme_.scaled(24), size, size), mark);
}

}  // namespace orrery::ui
