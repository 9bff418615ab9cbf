#include "ui/chat/transcript_view.h"

#include <QClipboard>
#include <QContextMenuEvent>
#include <QFontMetricsF>
#include <QGuiApplication>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <algorithm>
#include <cmath>

namespace orrery::ui {
namespace {

constexpr double kMargin = 16, kTop = 8, kGap = 10, kBottom = 12;
constexpr int kColumns = 72;

}  // namespace

TranscriptView::TranscriptView(const Theme& theme, QWidget* parent)
    : QAbstractScrollArea(parent), theme_(theme) {
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  viewport()->setMouseTracking(true);
  viewport()->setAttribute(Qt::WA_OpaquePaintEvent);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName("Conversation");
  connect(verticalScrollBar(), &QScrollBar::valueChanged, this,
          [this](int value) { follow_ = value >= verticalScrollBar()->maximum() - 2; });
}

std::vector<TranscriptItem> TranscriptView::take() {
  std::vector<TranscriptItem> messages = std::exchange(items_, {});
  put({});
  return messages;
}

void TranscriptView::put(std::vector<TranscriptItem> messages) {
  items_ = std::move(messages);
  tops_.assign(items_.size(), 0);
  total_ = 0;
  follow_ = true;
  selectedItem_ = -1;
  setHovered(-1, -1);
  relayout(false);
}

void TranscriptView::addMessage(TranscriptItem::Role role, const QString& text) {
  tops_.push_back(items_.empty() ? kTop : tops_.back() + items_.back().height() + kGap);
  items_.emplace_back(role, text);
  follow_ = true;
  layoutLast();
  viewport()->update();
}

void TranscriptView::removeLast() {
  if (items_.empty()) return;
  items_.pop_back();
  tops_.pop_back();
  setHovered(-1, -1);
  relayout(false);
}

void TranscriptView::appendTokens(const std::vector<api::TokenEvent>& tokens) {
  if (items_.empty()) return;
  const double top = items_.back().lastLineTop();  // what is before it stays as it is
  for (const api::TokenEvent& token : tokens) items_.back().append(token);
  layoutLast();
  updateFrom(items_.size() - 1, top);
}

void TranscriptView::setLastFigures(std::vector<Figure> figures) {
  if (items_.empty()) return;
  items_.back().setFigures(std::move(figures));
  updateFrom(items_.size() - 1, items_.back().lastLineTop());
}

void TranscriptView::setStreaming(bool streaming) {
  streaming_ = streaming;
  viewport()->update();
}

double TranscriptView::contentWidth() const {
  const double columns = kColumns * QFontMetricsF(theme_.textFont(13)).horizontalAdvance('0');
  return std::min(columns, viewport()->width() - 2 * kMargin);
}

void TranscriptView::layoutLast() {
  items_.back().layout(contentWidth(), theme_);
  total_ = tops_.back() + items_.back().height() + kBottom;
  updateRange();
}

void TranscriptView::relayout(bool themeChanged) {
  double y = kTop;
  for (size_t i = 0; i < items_.size(); ++i) {
    tops_[i] = y;
    y += items_[i].layout(contentWidth(), theme_, themeChanged) + kGap;
  }
  total_ = y - kGap + kBottom;
  updateRange();
  viewport()->update();
}

void TranscriptView::updateRange() {
  const bool follow = follow_;
  verticalScrollBar()->setPageStep(viewport()->height());
  verticalScrollBar()->setSingleStep(static_cast<int>(theme_.scaled(20.5)));
  verticalScrollBar()->setRange(0, std::max(0, static_cast<int>(std::ceil(total_)) - viewport()->height()));
  if (follow) verticalScrollBar()->setValue(verticalScrollBar()->maximum());
  follow_ = follow;
}

QPointF TranscriptView::originOf(size_t index) const {
  return {kMargin, tops_[index] - verticalScrollBar()->value()};
}

void TranscriptView::updateFrom(size_t index, double top) {
  const double y = originOf(index).y() + top;
  viewport()->update(0, static_cast<int>(y) - 2, viewport()->width(), viewport()->height());
}

int TranscriptView::itemAt(const QPointF& position) const {
  const double y = position.y() + verticalScrollBar()->value();
  const auto next = std::upper_bound(tops_.begin(), tops_.end(), y);
  if (next == tops_.begin()) return -1;
  const auto index = static_cast<int>(next - tops_.begin()) - 1;
  return y < tops_[static_cast<size_t>(index)] + items_[static_cast<size_t>(index)].height() ? index : -1;
}

void TranscriptView::paintEvent(QPaintEvent* event) {
  QPainter painter(viewport());
  painter.fillRect(event->rect(), theme_(Token::panel));
  for (size_t i = 0; i < items_.size(); ++i) {
    const QPointF origin = originOf(i);
    if (origin.y() > event->rect().bottom()) break;
    if (origin.y() + items_[i].height() < event->rect().top()) continue;
    TranscriptItem::Marks marks;
    if (static_cast<int>(i) == hoveredItem_) marks.hoveredToken = hoveredToken_;
    if (static_cast<int>(i) == selectedItem_) {
      marks.selectionFrom = std::min(anchor_, cursor_);
      marks.selectionTo = std::max(anchor_, cursor_);
    }
    marks.caret = streaming_ && i + 1 == items_.size();
    items_[i].paint(painter, origin, QRectF(event->rect()), theme_, marks);
  }
}

void TranscriptView::resizeEvent(QResizeEvent*) { relayout(false); }

void TranscriptView::scrollContentsBy(int dx, int dy) {
  setHovered(-1, -1);
  viewport()->scroll(dx, dy);
}

void TranscriptView::setTheme(const Theme& theme) {
  theme_ = theme;
  relayout(true);
}

void TranscriptView::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  selectedItem_ = itemAt(event->position());
  dragging_ = selectedItem_ >= 0;
  if (dragging_) {
    const auto index = static_cast<size_t>(selectedItem_);
    anchor_ = cursor_ = std::max(0, items_[index].characterAt(event->position() - originOf(index), true));
  }
  viewport()->update();
}

void TranscriptView::mouseMoveEvent(QMouseEvent* event) {
  if (dragging_) {
    const auto index = static_cast<size_t>(selectedItem_);
    cursor_ = std::max(0, items_[index].characterAt(event->position() - originOf(index), true));
    viewport()->update();
    return;
  }
  const int item = itemAt(event->position());
  if (item < 0) return setHovered(-1, -1);
  const auto index = static_cast<size_t>(item);
  setHovered(item, items_[index].tokenAt(items_[index].characterAt(event->position() - originOf(index))));
}

void TranscriptView::mouseReleaseEvent(QMouseEvent*) { dragging_ = false; }

void TranscriptView::contextMenuEvent(QContextMenuEvent* event) {
  emit menuAsked(itemAt(event->pos()), event->globalPos());
}

void TranscriptView::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy)) return copySelection();
  if (event->key() == Qt::Key_Left) return pointAt(hoveredToken_ - 1);
  if (event->key() == Qt::Key_Right) return pointAt(hoveredToken_ + 1);
  QAbstractScrollArea::keyPressEvent(event);
}

bool TranscriptView::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::Leave) setHovered(-1, -1);
  return QAbstractScrollArea::viewportEvent(event);
}

void TranscriptView::pointAt(int token) {
  if (items_.empty()) return;
  const int count = static_cast<int>(items_.back().tokens().size());
  if (count > 0) setHovered(static_cast<int>(items_.size()) - 1, std::clamp(token, 0, count - 1));
}

void TranscriptView::setHovered(int item, int token) {
  if (token < 0) item = -1;
  if (item < 0) token = -1;
  if (item == hoveredItem_ && token == hoveredToken_) return;
  hoveredItem_ = item;
  hoveredToken_ = token;
  viewport()->update();
  if (item < 0) {
    emit tokenPointed(nullptr, -1, {});
    return;
  }
  const auto index = static_cast<size_t>(item);
  emit tokenPointed(&items_[index].tokens()[static_cast<size_t>(token)], token,
                    items_[index].tokenRect(token).translated(originOf(index)));
}

QString TranscriptView::selectedText() const {
  if (selectedItem_ < 0 || selectedItem_ >= static_cast<int>(items_.size())) return {};
  const int from = std::min(anchor_, cursor_), to = std::max(anchor_, cursor_);
  return items_[static_cast<size_t>(selectedItem_)].text().mid(from, to - from);
}

void TranscriptView::copySelection() {
  if (const QString text = selectedText(); !text.isEmpty()) QGuiApplication::clipboard()->setText(text);
}

}  // namespace orrery::ui
