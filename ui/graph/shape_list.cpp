#include "ui/graph/shape_list.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>

#include "ui/graph/scene_graph.h"
#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

// At body 13.
constexpr double kPitch = 104, kListTop = 30, kEntryHeight = 36, kPicture = 24, kPictureHeight = 32,
                 kWords = 32;

}  // namespace

ShapeList::ShapeList(const Theme& theme, QWidget* parent) : StripSection(theme, parent) {
  setFocusPolicy(Qt::TabFocus);
  setMouseTracking(true);
  setAccessibleName(tr("Shapes of the layers"));
}

void ShapeList::setEntries(std::vector<Entry> entries) {
  if (entries != entries_) {
    hovered_ = -1;
    current_ = 0;
    QStringList words;
    for (const Entry& entry : entries) words << entry.name + ' ' + entry.detail;
    setAccessibleDescription(words.join(QStringLiteral(", ")));
    updateGeometry();
  }
  entries_ = std::move(entries);  // their colours change with the times
  update();
}

void ShapeList::setLit(int shape) {
  if (shape == lit_) return;
  lit_ = shape;
  update();
}

QSize ShapeList::sizeHint() const {
  const int entries = static_cast<int>(entries_.size());
  return {qRound(px(kInset + std::max(2, entries) * kPitch + 8)), qRound(px(kStripHeight))};
}

QSize ShapeList::minimumSizeHint() const {
  return {qRound(px(kInset + 2 * kPitch)), qRound(px(kStripHeight))};
}

int ShapeList::shown() const {
  const int room = std::max(1, static_cast<int>((width() - px(kInset)) / px(kPitch)));
  const int entries = static_cast<int>(entries_.size());
  return entries <= room ? entries : std::max(1, room - 1);  // the last place says how many more there are
}

QRectF ShapeList::place(int entry) const {
  return {px(kInset + entry * kPitch), px(kListTop), px(kPitch - 8), px(kEntryHeight)};
}

int ShapeList::entryAt(const QPointF& point) const {
  const int last = shown() + (shown() < static_cast<int>(entries_.size()) ? 1 : 0);
  for (int i = 0; i < last; ++i)
    if (place(i).adjusted(-4, -3, 4, 3).contains(point)) return i;
  return -1;
}

void ShapeList::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  paintTitle(painter, tr("Shapes"), tr("click one to light its layers"), width());
  for (int i = 0; i < shown(); ++i) paintEntry(painter, i);
  const int rest = static_cast<int>(entries_.size()) - shown();
  if (rest > 0) {
    painter.setPen(theme_(hovered_ == shown() ? Token::text : Token::text2));
    drawLabel(painter, place(shown()), Qt::AlignLeft, tr("%1 more …").arg(rest), theme_.textFont(11.5));
  }
  paintNote(painter, tr("Lighter background: unlike the rest. A folded layer keeps its cell."), 87);
}

void ShapeList::paintEntry(QPainter& painter, int index) const {
  const Entry& entry = entries_[at(index)];
  const QRectF area = place(index);
  const bool lit = lit_ >= 0 && entry.shape == lit_;
  if (lit || index == hovered_ || (hasFocus() && index == current_)) {
    painter.setPen(hasFocus() && index == current_ ? QPen(theme_(Token::accent), 2) : QPen(Qt::NoPen));
    painter.setBrush(theme_(lit ? Token::selectionBg : Token::hover));
    painter.drawRoundedRect(area.adjusted(-4, -2, 0, 2), 5, 5);
  }
  paintPicture(painter, entry,
               QRectF(area.left() + 0.5, area.top() + 2.5, px(kPicture) - 1, px(kPictureHeight) - 1));
  const double left = area.left() + px(kWords), room = area.right() - left;
  const QFont name = theme_.textFont(11.5, QFont::Medium), detail = theme_.textFont(10.5);
  painter.setPen(theme_(lit ? Token::selectionText : Token::text));
  drawLabel(painter, QPointF(left, area.top() + px(14)), elided(entry.name, name, room), name);
  painter.setPen(theme_(entry.edited ? Token::edited : lit ? Token::selectionText : Token::text2));
  drawLabel(painter, QPointF(left, area.top() + px(29)), elided(entry.detail, detail, room), detail);
}

void ShapeList::paintPicture(QPainter& painter, const Entry& entry, const QRectF& picture) const {
  const QColor quiet = Theme::blend(theme_(Token::border), theme_(Token::edge), 0.5);
  if (entry.folded) {
    QPen dots(quiet, 1, Qt::CustomDashLine);
    dots.setDashPattern({2, 2});
    painter.setPen(dots);
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(picture, 3, 3);
    painter.setPen(QPen(theme_(Token::borderStrong), 1));
    painter.setBrush(theme_(Token::raised));
    painter.drawRoundedRect(QRectF(picture.topLeft(), QSizeF(picture.width(), px(7))), 2, 2);
    return;
  }
  painter.setPen(QPen(entry.usual ? quiet : theme_(Token::borderStrong), 1));
  painter.setBrush(theme_(entry.usual ? Token::canvas : Token::raised));
  painter.drawRoundedRect(picture, 2.5, 2.5);
  const double rows = std::max<double>(1, static_cast<double>(entry.bars.size()));
  const double pitch = (picture.height() - 5) / rows, height = std::max(1.0, pitch * 0.74);
  painter.setPen(Qt::NoPen);
  for (size_t i = 0; i < entry.bars.size(); ++i) {
    const double width = std::max(2.0, entry.bars[i].width * (picture.width() - 5));
    painter.setBrush(entry.bars[i].color);
    painter.drawRect(QRectF(picture.center().x() - width / 2,
                            picture.top() + 3 + pitch * static_cast<double>(i), width, height));
  }
  if (!entry.edited) return;
  painter.setPen(QPen(theme_(Token::canvas), 0.8));
  painter.setBrush(theme_(Token::edited));
  const QPointF corner(picture.right() + 0.5, picture.top() - 0.5);
  painter.drawPolygon(QPolygonF{corner - QPointF(px(7), 0), corner, corner + QPointF(0, px(7))});
}

void ShapeList::choose(int entry) {
  if (entry < 0) return;
  if (entry >= shown()) return showRest();
  current_ = entry;
  emit chosen(entries_[at(entry)].shape == lit_ ? -1 : entries_[at(entry)].shape);
}

void ShapeList::showRest() {
  QMenu menu;
  for (int i = shown(); i < static_cast<int>(entries_.size()); ++i) {
    const Entry& entry = entries_[at(i)];
    QAction* action =
        menu.addAction(entry.name + QStringLiteral("   ") + entry.detail, this,
                       [this, shape = entry.shape] { emit chosen(shape == lit_ ? -1 : shape); });
    action->setCheckable(true);
    action->setChecked(entry.shape == lit_);
  }
  menu.exec(mapToGlobal(place(shown()).bottomLeft().toPoint()));
}

void ShapeList::mousePressEvent(QMouseEvent* event) { choose(entryAt(event->position())); }

void ShapeList::mouseMoveEvent(QMouseEvent* event) {
  const int entry = entryAt(event->position());
  if (entry == hovered_) return;
  hovered_ = entry;
  setCursor(entry >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
  update();
}

void ShapeList::leaveEvent(QEvent*) {
  hovered_ = -1;
  update();
}

void ShapeList::keyPressEvent(QKeyEvent* event) {
  const int last = shown() - 1 + (shown() < static_cast<int>(entries_.size()) ? 1 : 0);
  switch (event->key()) {
    case Qt::Key_Left:
    case Qt::Key_Right:
      current_ = std::clamp(current_ + (event->key() == Qt::Key_Right ? 1 : -1), 0, std::max(0, last));
      return update();
    case Qt::Key_Space:
    case Qt::Key_Return:
    case Qt::Key_Enter:
      return choose(std::min(current_, last));
    default:
      QWidget::keyPressEvent(event);
  }
}

bool ShapeList::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return StripSection::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const int entry = entryAt(help->pos());
  if (entry >= 0 && entry < shown())
    QToolTip::showText(help->globalPos(), entries_[at(entry)].name + '\n' + entries_[at(entry)].detail, this);
  else
    QToolTip::hideText();
  return true;
}

}  // namespace orrery::ui
