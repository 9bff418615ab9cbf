#include "ui/inspector/inspector_rows.h"

#include <QPainter>
#include <cmath>

#include "ui/theme/icons.h"
#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

constexpr double kRowHeight = 20, kIndent = 20;

}  // namespace

GlyphBox::GlyphBox(const Theme& theme, const QString& icon, std::optional<graph::OpFamily> family,
                   QWidget* parent)
    : QWidget(parent), theme_(theme), icon_(icon), family_(family) {
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

void GlyphBox::setTheme(const Theme& theme) {
  theme_ = theme;
  updateGeometry();
  update();
}

QSize GlyphBox::sizeHint() const {
  const int side = static_cast<int>(theme_.scaled(34));
  return {side, side};
}

void GlyphBox::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  paintBox(painter, rect(), theme_.scaled(6), theme_(Token::raised), theme_(Token::border));
  const double size = theme_.scaled(18);
  paintIcon(painter, icon_, QRectF((width() - size) / 2, (height() - size) / 2, size, size),
            family_ ? theme_.family(*family_) : theme_(Token::text2));
}

KernelRow::KernelRow(const Theme& theme, Verdict verdict, const QString& kernel, const QString& reason,
                     QWidget* parent)
    : QWidget(parent), theme_(theme), verdict_(verdict), kernel_(kernel), reason_(reason) {
  QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
  setAccessibleName(kernel + ", " +
                    (verdict == Verdict::chosen    ? "chosen"
                     : verdict == Verdict::refused ? reason
                                                   : "not asked"));
  setToolTip(reason.isEmpty() ? kernel : kernel + "\n" + reason);
}

void KernelRow::setTheme(const Theme& theme) {
  theme_ = theme;
  reasonRects_.clear();
  updateGeometry();
  update();
}

const QRectF& KernelRow::reasonRect(int width) const {
  QRectF& rect = reasonRects_[width];
  if (rect.isNull()) {
    const double indent = theme_.scaled(kIndent);
    rect = QFontMetricsF(theme_.textFont(11))
               .boundingRect(QRectF(indent, theme_.scaled(17), std::max(40.0, width - indent - 4), 1e4),
                             Qt::TextWordWrap, reason_);
  }
  return rect;
}

QSize KernelRow::sizeHint() const { return {200, heightForWidth(std::max(200, width()))}; }

int KernelRow::heightForWidth(int width) const {
  if (verdict_ != Verdict::refused)
    return static_cast<int>(theme_.scaled(kRowHeight + (verdict_ == Verdict::chosen ? 4 : 0)));
  return static_cast<int>(std::ceil(reasonRect(width).bottom() + 3));
}

void KernelRow::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const bool chosen = verdict_ == Verdict::chosen, refused = verdict_ == Verdict::refused;
  if (chosen)
    paintBox(painter, QRectF(rect()).adjusted(-8, 0, 8, 0), theme_.scaled(4), theme_(Token::okBg), QColor());
  const double head = chosen ? height() : theme_.scaled(refused ? 16 : kRowHeight), icon = theme_.scaled(11);
  const Token ink = chosen ? Token::text : refused ? Token::text2 : Token::text3;
  paintIcon(painter,
            chosen    ? u"check"
            : refused ? u"x"
                      : u"minus",
            QRectF(1, (head - icon) / 2, icon, icon), theme_(chosen ? Token::ok : ink));
  const double indent = theme_.scaled(kIndent);
  const QString right = chosen ? "chosen" : refused ? QString() : QString("not asked");
  painter.setFont(theme_.textFont(11));
  const double rightWidth = right.isEmpty() ? 0 : QFontMetricsF(painter.font()).horizontalAdvance(right) + 10;
  painter.setPen(theme_(chosen ? Token::ok : Token::text3));
  painter.drawText(QRectF(0, 0, width() - 2, head), Qt::AlignVCenter | Qt::AlignRight, right);
  if (refused) {
    painter.setPen(theme_(Token::text2));
    painter.drawText(reasonRect(width()), Qt::TextWordWrap, reason_);
  }
  const QFont mono = theme_.monoFont(11);
  painter.setFont(mono);
  painter.setPen(theme_(ink));
  const QRectF name(indent, 0, width() - indent - rightWidth, head);
  painter.drawText(name, Qt::AlignVCenter | Qt::AlignLeft, elided(kernel_, mono, name.width()));
}

RateRow addRateRow(const Theme& theme, QGridLayout* grid, const QString& name, QWidget* parent) {
  const int row = grid->rowCount();
  RateRow result;
  result.value = new Text(theme, {Token::text, 11, QFont::Normal, true}, {}, parent);
  result.value->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  result.value->reserve("000 GFLOP/s");
  result.meter = new Meter(theme, Token::cpu, parent);
  result.share = new Text(theme, {Token::text3, 11, QFont::Normal, true}, {}, parent);
  result.share->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  result.share->reserve("00.0 %");
  grid->addWidget(new Text(theme, {Token::text2, 11.5}, name, parent), row, 0);
  grid->addWidget(result.value, row, 1);
  grid->addWidget(result.meter, row, 2);
  grid->addWidget(result.share, row, 3);
  return result;
}

LinkButton::LinkButton(const Theme& theme, const QString& text, QWidget* parent)
    : QAbstractButton(parent), theme_(theme) {
  setText(text);
  setToolTip(text);
  setCursor(Qt::PointingHandCursor);
  setFocusPolicy(Qt::TabFocus);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void LinkButton::setTheme(const Theme& theme) {
  theme_ = theme;
  updateGeometry();
  update();
}

QSize LinkButton::sizeHint() const {
  return {static_cast<int>(QFontMetricsF(theme_.monoFont(11)).horizontalAdvance(text())) + 6,
          static_cast<int>(theme_.scaled(20))};
}

void LinkButton::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  QFont font = theme_.monoFont(11);
  font.setUnderline(underMouse());
  painter.setFont(font);
  painter.setPen(theme_(underMouse() ? Token::accent : Token::text2));
  painter.drawText(rect(), Qt::AlignVCenter | Qt::AlignLeft, elided(text(), font, width()));
  if (hasFocus()) paintFocus(painter, rect(), 3, theme_);
}

}  // namespace orrery::ui
