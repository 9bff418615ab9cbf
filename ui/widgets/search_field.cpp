#include "ui/widgets/search_field.h"

#include <QFontMetricsF>
#include <QKeyEvent>
#include <QPainter>

#include "ui/theme/icons.h"

namespace orrery::ui {

SearchField::SearchField(const Theme& theme, const QString& icon, const QString& placeholder,
                         const QString& key, QWidget* parent)
    : QLineEdit(parent), theme_(theme), icon_(icon), key_(key) {
  setPlaceholderText(placeholder);
  setTextMargins(icon.isEmpty() ? 2 : 22, 0, 56, 0);
  setAccessibleName(placeholder);
  setTheme(theme);
}

void SearchField::setKey(const QString& key) {
  key_ = key;
  update();
}

void SearchField::setNote(const QString& note) {
  note_ = note;
  update();
}

void SearchField::setTheme(const Theme& theme) {
  theme_ = theme;
  setFixedHeight(static_cast<int>(theme.scaled(28)));
  update();
}

void SearchField::paintEvent(QPaintEvent* event) {
  QLineEdit::paintEvent(event);
  QPainter painter(this);
  if (!icon_.isEmpty())
    paintIcon(painter, icon_, QRectF(8, (height() - 15) / 2.0, 15, 15), theme_(Token::text3));
  const QString right = note_.isEmpty() ? key_ : note_;
  if (right.isEmpty()) return;
  const QFont font = theme_.monoFont(10);
  painter.setFont(font);
  const double width = QFontMetricsF(font).horizontalAdvance(right) + 8;
  const QRectF box(this->width() - width - 8, (height() - 16) / 2.0, width, 16);
  if (note_.isEmpty())
    paintBox(painter, box, 3, theme_(Token::panel),
             Theme::blend(theme_(Token::border), theme_(Token::text3), 0.15));
  painter.setPen(theme_(note_.isEmpty() ? Token::text2 : Token::text3));
  painter.drawText(box, Qt::AlignCenter, right);
}

void SearchField::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape) return emit escaped();
  QLineEdit::keyPressEvent(event);
}

}  // namespace orrery::ui
