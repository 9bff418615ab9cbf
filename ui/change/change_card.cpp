#include "ui/change/change_card.h"

#include <QPainter>

#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

constexpr double kRow = 23, kDetail = 16, kInset = 14, kLabel = 86;

}  // namespace

ChangeCard::ChangeCard(const Theme& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

void ChangeCard::setRows(std::vector<ChangeRow> rows) {
  rows_ = std::move(rows);
  QStringList words;
  for (const ChangeRow& row : rows_)
    words += QStringList{row.label, row.before, row.after, row.difference, row.detail}.join(' ').simplified();
  setAccessibleDescription(words.join("; "));
  updateGeometry();
  update();
}

QSize ChangeCard::sizeHint() const {
  double height = 0;
  for (const ChangeRow& row : rows_) height += kRow + (row.detail.isEmpty() ? 0 : kDetail);
  return {qRound(theme_.scaled(200)), qRound(theme_.scaled(height))};
}

void ChangeCard::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const double s = theme_.scaled(1), left = kInset * s, right = width() - kInset * s;
  const QFont label = theme_.textFont(12), value = theme_.monoFont(11, QFont::Medium),
              old = theme_.monoFont(11), detail = theme_.textFont(10.5);
  const auto write = [&](QRectF where, Qt::Alignment side, const QFont& font, Token token,
                         const QString& words) {
    painter.setFont(font);
    painter.setPen(theme_(token));
    painter.drawText(where, Qt::AlignVCenter | side,
                     QFontMetricsF(font).elidedText(words, Qt::ElideMiddle, where.width()));
  };
  double y = 0;
  for (const ChangeRow& row : rows_) {
    const QRectF line(left, y, right - left, kRow * s);
    write(line, Qt::AlignLeft, label, Token::text2, row.label);
    const double difference = row.difference.isEmpty() ? 0 : textWidth(row.difference, value) + 10 * s;
    write(line, Qt::AlignRight, value, row.token, row.difference);
    double x = left + kLabel * s;
    const double end = right - difference;
    if (!row.before.isEmpty()) {
      const double taken = std::min(textWidth(row.before, old) + 1, std::max(0.0, end - x));
      write(QRectF(x, y, taken, line.height()), Qt::AlignLeft, old, Token::text3, row.before);
      x += taken + 5 * s;
      write(QRectF(x, y, 14 * s, line.height()), Qt::AlignLeft, old, Token::text3, QStringLiteral("\u2192"));
      x += 14 * s;
    }
    const bool words = row.before.isEmpty() && !row.after.startsWith(QChar(0x2013));
    write(QRectF(x, y, std::max(0.0, end - x), line.height()), Qt::AlignLeft,
          words ? theme_.textFont(12, QFont::Medium) : value,
          row.token == Token::warn && words ? Token::warn : Token::text, row.after);
    y += line.height();
    if (row.detail.isEmpty()) continue;
    const double at = left + kLabel * s;
    write(QRectF(at, y - 4 * s, right - at, kDetail * s), Qt::AlignLeft, detail, Token::text3, row.detail);
    y += kDetail * s;
  }
}

void ChangeCard::setTheme(const Theme& theme) {
  theme_ = theme;
  updateGeometry();
  update();
}

}  // namespace orrery::ui
