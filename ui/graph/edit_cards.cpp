#include "ui/graph/edit_cards.h"

#include <QFontMetricsF>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>

#include "ui/theme/icons.h"

namespace orrery::ui {
namespace {

// Of the refusal: a head with its mark, a line for each of the two types, words under it.
constexpr double kCardWidth = 252, kHead = 30, kLine = 18, kInset = 10, kRadius = 7.5, kTypes = 118;
constexpr double kCross = 20;
// Of the wire.
constexpr double kWireWidth = 186, kWireHead = 27, kWireLine = 17;

bool isSpelledOut(const Refusal& refusal) { return refusal.gives && refusal.takes; }

}  // namespace

Refusal refusalOf(const QString& title, const Error& error) {
  return {title, QString::fromStdString(error.what), QString::fromStdString(error.advice), {}, {}};
}

RefusalCard::RefusalCard(const Theme& theme, QWidget* parent) : QWidget(parent), theme_(theme) { hide(); }

void RefusalCard::setTheme(const Theme& theme) {
  theme_ = theme;
  resize(sizeHint());
  update();
}

void RefusalCard::setRefusal(const Refusal& refusal) {
  refusal_ = refusal;
  const QString types = isSpelledOut(refusal) ? QStringLiteral("; %1 [%2] %3, %4 [%5] %6")
                                                    .arg(refusal.gives->whose, refusal.gives->dims.join(", "),
                                                         refusal.gives->dtype, refusal.takes->whose,
                                                         refusal.takes->dims.join(", "), refusal.takes->dtype)
                                              : QString();
  setAccessibleName(refusal.title + types);
  setAccessibleDescription(refusal.cause + ' ' + refusal.advice);
  resize(sizeHint());
  update();
}

int RefusalCard::textHeight(const QString& words) const {
  if (words.isEmpty()) return 0;
  const double room = theme_.scaled(kCardWidth - 2 * kInset);
  return qCeil(QFontMetricsF(theme_.textFont(11))
                   .boundingRect(QRectF(0, 0, room, 1000), Qt::TextWordWrap, words)
                   .height());
}

QSize RefusalCard::sizeHint() const {
  double height = kHead;
  if (isSpelledOut(refusal_)) height += 2 * kLine + 4;
  double words = 0;
  for (const QString& text : {isSpelledOut(refusal_) ? QString() : refusal_.cause, refusal_.advice})
    if (!text.isEmpty()) words += textHeight(text) + theme_.scaled(5);
  return {qRound(theme_.scaled(kCardWidth)), qRound(theme_.scaled(height + 3) + words)};
}

void RefusalCard::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const double s = theme_.scaled(1), left = kInset * s, right = width() - left;
  painter.setPen(QPen(Theme::blend(theme_(Token::errorBg), theme_(Token::error), 0.55), 1));
  painter.setBrush(theme_(Token::errorBg));
  painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), kRadius * s, kRadius * s);
  paintIcon(painter, u"error", QRectF(left - 1, 8 * s, 14 * s, 14 * s), theme_(Token::error));
  paintIcon(painter, u"close", QRectF(right - 9 * s, 9 * s, 10 * s, 10 * s), theme_(Token::text2));
  const QFont head = theme_.textFont(11.5, QFont::DemiBold);
  painter.setFont(head);
  painter.setPen(theme_(Token::text));
  painter.drawText(
      QRectF(left + 19 * s, 5 * s, right - left - (19 + kCross) * s, 20 * s), Qt::AlignVCenter,
      QFontMetricsF(head).elidedText(refusal_.title, Qt::ElideMiddle, right - left - (19 + kCross) * s));
  double y = kHead * s;
  if (isSpelledOut(refusal_)) {
    const auto& given = *refusal_.gives;
    const auto& taken = *refusal_.takes;
    for (const Refusal::Type* type : {&given, &taken}) {
      const Refusal::Type& other = type == &given ? taken : given;
      const QFont words = theme_.textFont(11), mono = theme_.monoFont(11),
                  bold = theme_.monoFont(11, QFont::Medium);
      const QRectF line(left, y, right - left, kLine * s);
      painter.setFont(words);
      painter.setPen(theme_(Token::text2));
      painter.drawText(
          line, Qt::AlignVCenter,
          QFontMetricsF(words).elidedText(type->whose, Qt::ElideMiddle, (kTypes - kInset - 6) * s));
      double x = kTypes * s;
      const auto write = [&](const QString& part, bool differs) {
        painter.setFont(differs ? bold : mono);
        painter.setPen(theme_(differs ? Token::error : Token::text));
        painter.drawText(QRectF(x, y, right - x, line.height()), Qt::AlignVCenter, part);
        x += QFontMetricsF(differs ? bold : mono).horizontalAdvance(part);
      };
      write(QStringLiteral("["), false);
      for (int i = 0; i < type->dims.size(); ++i) {
        const bool same = type->dims.size() == other.dims.size() && type->dims[i] == other.dims[i];
        write(type->dims[i], !same);
        write(i + 1 < type->dims.size() ? QStringLiteral(", ") : QStringLiteral("]"), false);
      }
      if (type->dims.isEmpty()) write(QStringLiteral("]"), false);
      const bool differs = type->dtype != other.dtype;
      painter.setFont(differs ? bold : mono);
      painter.setPen(theme_(differs ? Token::error : Token::text2));
      painter.drawText(line, Qt::AlignVCenter | Qt::AlignRight, type->dtype);
      y += kLine * s;
    }
    y += 4 * s;
  }
  painter.setFont(theme_.textFont(11));
  for (const QString& text : {isSpelledOut(refusal_) ? QString() : refusal_.cause, refusal_.advice}) {
    if (text.isEmpty()) continue;
    painter.setPen(theme_(text == refusal_.cause ? Token::text : Token::text2));
    painter.drawText(QRectF(left, y, right - left, textHeight(text)), Qt::TextWordWrap, text);
    y += textHeight(text) + 5 * s;
  }
}

void RefusalCard::mousePressEvent(QMouseEvent* event) {
  const double side = theme_.scaled(kCross + kInset);
  if (QRectF(width() - side, 0, side, side).contains(event->position())) emit closeAsked();
}

WireCard::WireCard(const Theme& theme, QWidget* parent) : QWidget(parent), theme_(theme) {
  setAttribute(Qt::WA_TransparentForMouseEvents);
  hide();
}

void WireCard::setTheme(const Theme& theme) {
  theme_ = theme;
  resize(sizeHint());
  update();
}

void WireCard::setFacts(const WireFacts& facts) {
  facts_ = facts;
  setAccessibleName(QStringList{facts.ends, facts.shape, facts.dtype, facts.bytes, facts.range}.join(' '));
  resize(sizeHint());
  update();
}

QString WireCard::lastLine() const {
  QStringList parts;
  if (!facts_.range.isEmpty()) parts << tr("last value %1").arg(facts_.range);
  if (facts_.more > 0) parts << tr("and %1 more").arg(facts_.more);
  return parts.join(QStringLiteral(", "));
}

QSize WireCard::sizeHint() const {
  const double head = QFontMetricsF(theme_.textFont(11.5, QFont::DemiBold)).horizontalAdvance(facts_.ends);
  const QFontMetricsF mono(theme_.monoFont(10.5));
  const double line = mono.horizontalAdvance(facts_.shape + facts_.dtype + facts_.bytes);
  const double last = QFontMetricsF(theme_.textFont(11)).horizontalAdvance(lastLine());
  const double width = std::max({theme_.scaled(kWireWidth), head + theme_.scaled(38),
                                 line + theme_.scaled(56), last + theme_.scaled(22)});
  const double height = kWireHead + kWireLine + (lastLine().isEmpty() ? 0 : kWireLine) + 4;
  return {qCeil(std::min(width, theme_.scaled(420))), qRound(theme_.scaled(height))};
}

void WireCard::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const double s = theme_.scaled(1), left = kInset * s, room = width() - 2 * left;
  painter.setPen(QPen(Theme::blend(theme_(Token::raised), theme_(Token::borderStrong), 0.45), 1));
  painter.setBrush(theme_(Token::raised));
  painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), kRadius * s, kRadius * s);
  const QColor color = colorOf(facts_.kind, theme_);
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  painter.drawEllipse(QPointF(left + 4 * s, kWireHead * s / 2 + 2 * s), 4 * s, 4 * s);
  const QFont head = theme_.textFont(11.5, QFont::DemiBold);
  painter.setFont(head);
  painter.setPen(theme_(Token::text));
  painter.drawText(QRectF(left + 14 * s, 4 * s, room - 14 * s, 20 * s), Qt::AlignVCenter,
                   QFontMetricsF(head).elidedText(facts_.ends, Qt::ElideMiddle, room - 14 * s));
  const QFont mono = theme_.monoFont(10.5);
  const QRectF line(left, kWireHead * s, room, kWireLine * s);
  painter.setFont(mono);
  painter.setPen(theme_(Token::text2));
  painter.drawText(line, Qt::AlignVCenter, facts_.shape);
  painter.drawText(line, Qt::AlignVCenter | Qt::AlignRight, facts_.bytes);
  painter.setPen(color);
  painter.setFont(theme_.monoFont(10.5, QFont::Medium));
  const double before = QFontMetricsF(mono).horizontalAdvance(facts_.shape) + 12 * s;
  painter.drawText(line.adjusted(before, 0, 0, 0), Qt::AlignVCenter, facts_.dtype);
  painter.setFont(theme_.textFont(11));
  painter.setPen(theme_(Token::text2));
  painter.drawText(line.translated(0, kWireLine * s), Qt::AlignVCenter, lastLine());
}

}  // namespace orrery::ui
