#include "ui/shell/drop_hint.h"

#include <QPainter>
#include <QVBoxLayout>

#include "ui/theme/icons.h"

namespace orrery::ui {
namespace {

constexpr double kHintWidth = 320, kHintHeight = 220;

}  // namespace

DropHint::DropHint(const Theme& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  auto* title = new Text(theme, {Token::text, 15, QFont::DemiBold}, "Drop a model here", this);
  auto* hint = new Text(theme, {Token::text3, 12}, "GGUF, safetensors, PyTorch, or a model's folder", this);
  auto* open = new Button(theme, "Open file", Button::Kind::primary, this);
  auto* library = new Button(theme, "From library", Button::Kind::plain, this);
  connect(open, &QAbstractButton::clicked, this, &DropHint::openAsked);
  connect(library, &QAbstractButton::clicked, this, &DropHint::libraryAsked);
  title->setAlignment(Qt::AlignCenter);
  hint->setAlignment(Qt::AlignCenter);
  auto* buttons = new QHBoxLayout;
  buttons->setSpacing(8);
  buttons->addStretch(1);
  buttons->addWidget(open);
  buttons->addWidget(library);
  buttons->addStretch(1);
  auto* layout = new QVBoxLayout(this);
  layout->setSpacing(6);
  layout->addStretch(1);
  layout->addSpacing(70);
  layout->addWidget(title);
  layout->addWidget(hint);
  layout->addSpacing(6);
  layout->addLayout(buttons);
  layout->addStretch(1);
}

void DropHint::setTheme(const Theme& theme) {
  theme_ = theme;
  update();
}

QRectF DropHint::card() const {
  QRectF card(0, 0, theme_.scaled(kHintWidth), theme_.scaled(kHintHeight));
  card.moveCenter(QRectF(rect()).center());
  return card;
}

void DropHint::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), theme_(Token::canvas));
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(theme_(Token::borderStrong), 1, Qt::DashLine));
  painter.setBrush(theme_(Token::panel));
  painter.drawRoundedRect(card(), 8, 8);
  const double size = theme_.scaled(56);
  paintIcon(painter, u"logo", QRectF(card().center().x() - size / 2, card().top() + 22, size, size),
            theme_(Token::text2));
}

}  // namespace orrery::ui
