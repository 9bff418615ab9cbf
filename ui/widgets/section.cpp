#include "ui/widgets/section.h"

#include <QKeyEvent>
#include <QPainter>

#include "ui/theme/icons.h"

namespace orrery::ui {

Section::Section(const Theme& theme, const QString& title, QWidget* parent)
    : QWidget(parent), header_(new SectionHeader(theme, title, this)), body_(new QWidget(this)) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(header_);
  layout->addWidget(body_);
  content_ = new QVBoxLayout(body_);
  content_->setContentsMargins(14, 2, 14, 10);
  content_->setSpacing(4);
  connect(header_, &SectionHeader::toggled, this, [this] {
    setOpen(!open_);
    emit toggled(open_);
  });
}

void Section::setFigures(const QString& text) { header_->setFigures(text); }

void Section::setOpen(bool open) {
  open_ = open;
  header_->setOpen(open);
  body_->setVisible(open);
}

SectionHeader::SectionHeader(const Theme& theme, const QString& title, QWidget* parent)
    : QWidget(parent), theme_(theme), title_(title) {
  setFocusPolicy(Qt::TabFocus);
  setCursor(Qt::PointingHandCursor);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setAccessibleName(title);
}

void SectionHeader::setFigures(const QString& text) {
  if (figures_ == text) return;
  figures_ = text;
  update();
}

void SectionHeader::setOpen(bool open) {
  open_ = open;
  update();
}

void SectionHeader::setTheme(const Theme& theme) {
  theme_ = theme;
  updateGeometry();
  update();
}

QSize SectionHeader::sizeHint() const { return {160, static_cast<int>(theme_.scaled(30))}; }

void SectionHeader::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(0, 0, width(), 1, theme_(Token::border));
  const double chevron = theme_.scaled(12);
  paintIcon(painter, open_ ? u"down" : u"right", QRectF(13, (height() - chevron) / 2, chevron, chevron),
            theme_(Token::text3));
  painter.setFont(theme_.textFont(12, QFont::DemiBold));
  painter.setPen(theme_(Token::text));
  painter.drawText(QRectF(32, 0, width() - 46, height()), Qt::AlignVCenter | Qt::AlignLeft, title_);
  painter.setFont(theme_.monoFont(11));
  painter.setPen(theme_(Token::text2));
  painter.drawText(QRectF(32, 0, width() - 46, height()), Qt::AlignVCenter | Qt::AlignRight, figures_);
  if (hasFocus()) paintFocus(painter, rect(), 3, theme_);
}

void SectionHeader::mouseReleaseEvent(QMouseEvent*) { emit toggled(); }

void SectionHeader::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Space || event->key() == Qt::Key_Return) return emit toggled();
  QWidget::keyPressEvent(event);
}

}  // namespace orrery::ui
