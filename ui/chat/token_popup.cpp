#include "ui/chat/token_popup.h"

#include <QApplication>
#include <QFontMetricsF>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <utility>

#include "ui/widgets/meter.h"

namespace orrery::ui {
namespace {

constexpr double kWidth = 212, kHeader = 27, kRow = 20, kFoot = 8;
constexpr size_t kRows = 5;
constexpr int kGraceMilliseconds = 250;

QString probability(double p) {
  if (p >= 0.995) return "1.0";
  return QString::number(p, 'f', 2).mid(1);
}

}  // namespace

QString pieceText(const std::string& piece) {
  QString text = QString::fromUtf8(piece.data(), static_cast<qsizetype>(piece.size()));
  text.replace(' ', QChar(0x2423)).replace('\n', QChar(0x21B5)).replace('\t', QChar(0x21E5));
  return text.isEmpty() ? QString("(none)") : text;
}

TokenPopup::TokenPopup(const Theme& theme, QWidget* text, QWidget* parent)
    : QWidget(parent), theme_(theme), text_(text) {
  grace_.setSingleShot(true);
  grace_.setInterval(kGraceMilliseconds);
  connect(&grace_, &QTimer::timeout, this, &TokenPopup::release);
  text_->installEventFilter(this);
  hide();
}

/// Whether a move in the text leads to the popup.
bool TokenPopup::approached(const QPointF& from, const QPointF& to) const {
  const QRectF target =
      QRectF(rect()).translated(mapTo(window(), QPointF()) - text_->mapTo(window(), QPointF()));
  if (target.contains(to)) return true;
  const auto cross = [](const QPointF& a, const QPointF& b) { return a.x() * b.y() - a.y() * b.x(); };
  const QPointF step = to - from;
  bool left = false, right = false;  // corners of the popup at either side of the pointer's line
  for (const QPointF& corner :
       {target.topLeft(), target.topRight(), target.bottomLeft(), target.bottomRight()})
    (cross(step, corner - from) < 0 ? left : right) = true;
  return left && right && QPointF::dotProduct(step, target.center() - from) > 0;
}

bool TokenPopup::filterPointer(QEvent* event) {
  if (event->type() == QEvent::MouseMove) {
    const QPointF from = std::exchange(pointer_, static_cast<QMouseEvent*>(event)->position());
    const bool known = std::exchange(pointerInText_, true);
    if (!isVisible() || !known || !approached(from, pointer_)) {
      grace_.stop();
      return false;
    }
    grace_.start();
    return true;
  }
  if (event->type() != QEvent::Leave) return false;
  pointerInText_ = false;
  if (!isVisible()) return false;
  grace_.start();
  return true;
}

bool TokenPopup::filterKey(QEvent* event) {
  const bool asked = event->type() == QEvent::ShortcutOverride, pressed = event->type() == QEvent::KeyPress;
  if ((!asked && !pressed) || static_cast<QKeyEvent*>(event)->key() != Qt::Key_Escape) return false;
  event->accept();
  if (pressed) {
    pointerInText_ = false;
    release();
  }
  return true;
}

/// The text takes the pointer again where it is now.
void TokenPopup::release() {
  grace_.stop();
  if (pointerInText_) {
    QMouseEvent move(QEvent::MouseMove, pointer_, text_->mapToGlobal(pointer_), Qt::NoButton, Qt::NoButton,
                     Qt::NoModifier);
    pointerInText_ = false;  // this one is no way
    QCoreApplication::sendEvent(text_, &move);
  } else {
    hide();
    QEvent leave(QEvent::Leave);
    QCoreApplication::sendEvent(text_, &leave);
  }
}

bool TokenPopup::eventFilter(QObject* object, QEvent* event) {
  return (object == text_ && filterPointer(event)) || (isVisible() && filterKey(event));
}

/// While it is shown, Esc is the popup's wherever the focus is.
void TokenPopup::showEvent(QShowEvent*) {
  text_->removeEventFilter(this);
  qApp->installEventFilter(this);
}

void TokenPopup::hideEvent(QHideEvent*) {
  qApp->removeEventFilter(this);
  text_->installEventFilter(this);
  grace_.stop();
}

void TokenPopup::enterEvent(QEnterEvent*) {
  pointerInText_ = false;
  grace_.stop();
}

void TokenPopup::leaveEvent(QEvent*) { grace_.start(); }

void TokenPopup::setToken(const api::TokenEvent& token, int index) {
  token_ = token;
  index_ = index;
  rows_.assign(token.top.begin(),
               token.top.begin() + static_cast<ptrdiff_t>(std::min(kRows, token.top.size())));
  const bool listed =
      std::any_of(rows_.begin(), rows_.end(), [&](const auto& row) { return row.id == token.id; });
  if (!listed) {
    if (rows_.size() == kRows) rows_.pop_back();
    rows_.push_back({token.id, token.piece, token.logprob});
  }
  resize(sizeHint());
  update();
}

void TokenPopup::setTheme(const Theme& theme) {
  theme_ = theme;
  resize(sizeHint());
  update();
}

QSize TokenPopup::sizeHint() const {
  const double height = kHeader + kRow * static_cast<double>(std::max<size_t>(rows_.size(), 1)) + kFoot;
  return {static_cast<int>(theme_.scaled(kWidth)), static_cast<int>(theme_.scaled(height))};
}

void TokenPopup::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const auto px = [this](double value) { return theme_.scaled(value); };
  paintBox(painter, rect(), px(7.5), theme_(Token::raised),
           Theme::blend(theme_(Token::border), theme_(Token::text3), 0.25));
  const QRectF header(px(12), px(4), width() - px(24), px(kHeader - 4));
  painter.setFont(theme_.textFont(11.5, QFont::DemiBold));
  painter.setPen(theme_(Token::text));
  painter.drawText(header, Qt::AlignVCenter | Qt::AlignLeft, QString("Token %1").arg(index_ + 1));
  painter.setFont(theme_.monoFont(10.5));
  painter.setPen(theme_(Token::text3));
  const QString logprob = QString::number(token_.logprob, 'f', 2).replace('-', QChar(0x2212));
  painter.drawText(header, Qt::AlignVCenter | Qt::AlignRight, "logprob " + logprob);
  double y = px(kHeader);
  for (const api::TokenAlternative& row : rows_) {
    const bool chosen = row.id == token_.id;
    const double p = std::exp(static_cast<double>(row.logprob));
    if (chosen)
      paintBox(painter, QRectF(px(5), y, width() - px(10), px(19)), 3, theme_(Token::selectionBg), QColor());
    painter.setFont(theme_.monoFont(11.5, chosen ? QFont::Medium : QFont::Normal));
    painter.setPen(theme_(chosen ? Token::selectionText : Token::text));
    const QRectF word(px(12), y, px(88), px(19));
    painter.drawText(
        word, Qt::AlignVCenter | Qt::AlignLeft,
        QFontMetricsF(painter.font()).elidedText(pieceText(row.piece), Qt::ElideRight, word.width()));
    const QColor bar =
        chosen ? theme_(Token::accent) : Theme::blend(theme_(Token::raised), theme_(Token::text3), 0.75);
    paintMeter(painter, QRectF(px(104), y + px(7), px(60), px(5)), p, bar, theme_);
    painter.setPen(theme_(chosen ? Token::selectionText : Token::text2));
    painter.drawText(QRectF(px(166), y, width() - px(178), px(19)), Qt::AlignVCenter | Qt::AlignRight,
                     probability(p));
    y += px(kRow);
  }
}

}  // namespace orrery::ui
