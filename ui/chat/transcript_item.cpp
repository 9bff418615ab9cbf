#include "ui/chat/transcript_item.h"

#include <QFontMetricsF>
#include <QPainter>
#include <algorithm>

#include "ui/widgets/themed.h"

namespace orrery::ui {
namespace {

constexpr double kLine = 20.5;                 // px at body 13
constexpr double kBubbleX = 13, kBubbleY = 4;  // padding of the person's bubble
constexpr double kFiguresGap = 5, kFiguresHeight = 16;
constexpr double kBodyPx = 13, kFiguresPx = 10.8;

}  // namespace

TranscriptItem::TranscriptItem(Role role, const QString& text) : role_(role) {
  paragraphs_.emplace_back();
  appendText(text);
}

void TranscriptItem::append(const api::TokenEvent& token) {
  appendText(QString::fromUtf8(token.text.data(), static_cast<qsizetype>(token.text.size())));
  tokens_.push_back(token);
  tokenEnds_.push_back(static_cast<int>(text_.size()));
}

void TranscriptItem::appendText(const QString& text) {
  qsizetype from = 0;
  for (;;) {
    const qsizetype end = text.indexOf('\n', from);
    const QString part = text.mid(from, end < 0 ? -1 : end - from);
    Paragraph& last = paragraphs_.back();
    last.text += part;
    last.dirty = last.dirty || !part.isEmpty();
    text_ += part;
    if (end < 0) return;
    text_ += '\n';
    Paragraph next;
    next.start = static_cast<int>(text_.size());
    paragraphs_.push_back(std::move(next));
    from = end + 1;
  }
}

void TranscriptItem::layoutParagraph(Paragraph& paragraph, const Theme& theme) {
  if (!paragraph.layout) paragraph.layout = std::make_unique<QTextLayout>();
  QTextLayout& layout = *paragraph.layout;
  layout.setFont(theme.textFont(kBodyPx));
  layout.setText(paragraph.text);
  layout.beginLayout();
  double y = 0;
  for (;;) {
    QTextLine line = layout.createLine();
    if (!line.isValid()) break;
    line.setLineWidth(textWidth_);
    line.setPosition(QPointF(0, y + (lineHeight_ - line.height()) / 2));
    y += lineHeight_;
  }
  layout.endLayout();
  paragraph.height = std::max(y, lineHeight_);
  paragraph.dirty = false;
}

double TranscriptItem::layout(double width, const Theme& theme, bool themeChanged) {
  const bool all = themeChanged || width != width_;
  width_ = width;
  lineHeight_ = theme.scaled(kLine);
  const double inset = role_ == Role::person ? 2 * theme.scaled(kBubbleX) : 0;
  textWidth_ = std::max(40.0, width - inset);
  double y = role_ == Role::person ? theme.scaled(kBubbleY) : 0;
  for (Paragraph& paragraph : paragraphs_) {
    if (all || paragraph.dirty) layoutParagraph(paragraph, theme);
    paragraph.top = y;
    y += paragraph.height;
  }
  if (role_ == Role::person) y += theme.scaled(kBubbleY);
  if (role_ == Role::model) y += theme.scaled(kFiguresGap + kFiguresHeight);
  return height_ = y;
}

double TranscriptItem::lastLineTop() const {
  const Paragraph& last = paragraphs_.back();
  const int lines = last.layout ? last.layout->lineCount() : 0;
  return last.top + std::max(0, lines - 1) * lineHeight_;
}

std::vector<QRectF> TranscriptItem::rangeRects(int from, int to) const {
  std::vector<QRectF> rects;
  for (const Paragraph& paragraph : paragraphs_) {
    const int begin = std::max(from - paragraph.start, 0);
    const int end = std::min<int>(to - paragraph.start, static_cast<int>(paragraph.text.size()));
    if (begin >= end || !paragraph.layout) continue;
    for (int i = 0; i < paragraph.layout->lineCount(); ++i) {
      const QTextLine line = paragraph.layout->lineAt(i);
      const int first = std::max(begin, line.textStart()),
                last = std::min(end, line.textStart() + line.textLength());
      if (first >= last) continue;
      const double left = line.cursorToX(first), right = line.cursorToX(last);
      rects.emplace_back(left, paragraph.top + i * lineHeight_, right - left, lineHeight_);
    }
  }
  return rects;
}

void TranscriptItem::paint(QPainter& painter, const QPointF& origin, const QRectF& exposed,
                           const Theme& theme, const Marks& marks) const {
  QPointF at = origin;
  if (role_ == Role::person) {
    double widest = 0;
    for (const Paragraph& paragraph : paragraphs_)
      for (int i = 0; paragraph.layout && i < paragraph.layout->lineCount(); ++i)
        widest = std::max(widest, paragraph.layout->lineAt(i).naturalTextWidth());
    const QRectF bubble(origin, QSizeF(widest + 2 * theme.scaled(kBubbleX), height_));
    // Raised alone is hardly another colour than the panel, in the light theme none at all.
    paintBox(painter, bubble, theme.scaled(9), theme(Token::raised), controlOutline(theme));
    at += QPointF(theme.scaled(kBubbleX), 0);
  }
  for (const QRectF& rect : rangeRects(marks.selectionFrom, marks.selectionTo))
    painter.fillRect(rect.translated(at), theme(Token::selectionBg));
  if (marks.hoveredToken >= 0) {
    const QRectF rect = tokenRect(marks.hoveredToken).translated(origin);
    paintBox(painter, rect.adjusted(-1.5, 1, 1.5, -1), 3.5, theme(Token::selectionBg), QColor());
    painter.fillRect(QRectF(rect.left(), rect.bottom() - 2.5, rect.width(), 1.5), theme(Token::accent));
  }
  painter.setPen(theme(Token::text));
  for (const Paragraph& paragraph : paragraphs_)
    if (const double top = at.y() + paragraph.top;
        paragraph.layout && top < exposed.bottom() && top + paragraph.height > exposed.top())
      paragraph.layout->draw(&painter, QPointF(at.x(), top), {}, exposed);
  if (marks.caret) paintCaret(painter, origin, theme);
  if (role_ == Role::model)
    paintFigures(painter, origin + QPointF(0, height_ - theme.scaled(kFiguresHeight)), theme);
}

void TranscriptItem::paintCaret(QPainter& painter, const QPointF& origin, const Theme& theme) const {
  const Paragraph& last = paragraphs_.back();
  if (!last.layout) return;
  double x = 0, y = last.top;
  if (const int lines = last.layout->lineCount(); lines > 0) {
    const QTextLine line = last.layout->lineAt(lines - 1);
    x = line.cursorToX(line.textStart() + line.textLength()) + 2;
    y += (lines - 1) * lineHeight_;
  }
  const double high = theme.scaled(14);
  paintBox(painter, QRectF(origin.x() + x, origin.y() + y + (lineHeight_ - high) / 2, theme.scaled(7), high),
           1, theme(Token::accent), QColor());
}

void TranscriptItem::paintFigures(QPainter& painter, const QPointF& at, const Theme& theme) const {
  const double height = theme.scaled(kFiguresHeight);
  double x = at.x();
  bool first = true;
  for (const Figure& figure : figures_) {
    if (!first) {
      painter.setPen(Qt::NoPen);
      painter.setBrush(theme(Token::text3));
      painter.drawEllipse(QPointF(x + 5.5, at.y() + height / 2), 1.3, 1.3);
      x += 15;
    }
    const QFont font =
        theme.monoFont(kFiguresPx, figure.token == Token::text ? QFont::Medium : QFont::Normal);
    painter.setFont(font);
    painter.setPen(theme(figure.token));
    QRectF drawn;  // hinted glyphs may be wider than the metrics say
    painter.drawText(QRectF(x, at.y(), 1e4, height), Qt::AlignVCenter | Qt::AlignLeft, figure.text, &drawn);
    x = drawn.right();
    first = false;
  }
}

int TranscriptItem::characterAt(const QPointF& point, bool nearest) const {
  for (const Paragraph& paragraph : paragraphs_) {
    const bool last = &paragraph == &paragraphs_.back();
    if (!paragraph.layout || (point.y() >= paragraph.top + paragraph.height && !(nearest && last))) continue;
    if (point.y() < paragraph.top && !nearest) return -1;
    const int lines = paragraph.layout->lineCount();
    if (lines == 0) return nearest ? paragraph.start : -1;
    const int index = std::clamp(static_cast<int>((point.y() - paragraph.top) / lineHeight_), 0, lines - 1);
    const QTextLine line = paragraph.layout->lineAt(index);
    if (!nearest && (point.x() < 0 || point.x() > line.naturalTextWidth())) return -1;
    const auto mode = nearest ? QTextLine::CursorBetweenCharacters : QTextLine::CursorOnCharacter;
    return paragraph.start + line.xToCursor(point.x(), mode);
  }
  return -1;
}

int TranscriptItem::tokenAt(int character) const {
  if (character < 0) return -1;
  const auto end = std::upper_bound(tokenEnds_.begin(), tokenEnds_.end(), character);
  return end == tokenEnds_.end() ? -1 : static_cast<int>(end - tokenEnds_.begin());
}

QRectF TranscriptItem::tokenRect(int token) const {
  if (token < 0 || token >= static_cast<int>(tokenEnds_.size())) return {};
  const auto index = static_cast<size_t>(token);
  int from = index == 0 ? 0 : tokenEnds_[index - 1];
  const int to = tokenEnds_[index];
  while (from < to && text_[from].isSpace()) ++from;  // the leading space is not underlined
  const std::vector<QRectF> rects = rangeRects(from, to);
  return rects.empty() ? QRectF() : rects.front();
}

}  // namespace orrery::ui
