#include "ui/graph/pixel_lines.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace orrery::ui {
namespace {

constexpr int kDot = 2, kPeriod = 5;
constexpr int kShort = 8;  // pixels: longer lines are fewer than the rows that they cross
constexpr int kWord = 64;

int remainder(int value, int period) { return (value % period + period) % period; }

}  // namespace

PixelLines::PixelLines(const QTransform& toPixels, const Rect& seen)
    : toPixels_(toPixels),
      area_(toPixels.mapRect(QRectF(seen.x, seen.y, seen.w, seen.h)).toAlignedRect().adjusted(-1, -1, 1, 1)) {
}

void PixelLines::paint(QPainter& painter, const QColor& color) const {
  if (long_.isEmpty() && touched_.empty()) return;
  const QTransform world = painter.worldTransform();
  painter.setWorldTransform(QTransform());
  painter.setRenderHint(QPainter::Antialiasing, false);
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  painter.drawRects(rects());
  painter.setWorldTransform(world);
}

QPoint PixelLines::pixelOf(Point p) const {
  return {static_cast<int>(std::floor(p.x * toPixels_.m11() + toPixels_.dx())),
          static_cast<int>(std::floor(p.y * toPixels_.m22() + toPixels_.dy()))};
}

void PixelLines::add(const std::vector<Point>& points, bool dotted) {
  if (points.empty()) return;
  QPoint last = pixelOf(points.front());
  for (size_t i = 1; i < points.size(); ++i) {
    const QPoint next = pixelOf(points[i]), corner(last.x(), next.y());
    if (corner != last) addStretch(last, corner, dotted);
    if (corner != next || corner == last) addStretch(corner, next, dotted);
    last = next;
  }
}

void PixelLines::addStretch(QPoint a, QPoint b, bool dotted) {
  const QRect run = QRect(QPoint(std::min(a.x(), b.x()), std::min(a.y(), b.y())),
                          QPoint(std::max(a.x(), b.x()), std::max(a.y(), b.y())))
                        .intersected(area_);
  if (run.isEmpty()) return;
  if (!dotted) return addRun(run);
  const bool upright = run.width() == 1;
  const int begin = upright ? run.top() : run.left(), end = begin + (upright ? run.height() : run.width());
  const int shift = static_cast<int>(std::floor(upright ? toPixels_.dy() : toPixels_.dx()));
  for (int dot = begin - remainder(begin - shift, kPeriod); dot < end; dot += kPeriod) {
    const int from = std::max(begin, dot), length = std::min(end, dot + kDot) - from;
    if (length > 0) addRun(upright ? QRect(run.left(), from, 1, length) : QRect(from, run.top(), length, 1));
  }
}

void PixelLines::addRun(const QRect& run) {
  if (std::max(run.width(), run.height()) > kShort) {
    long_ << run;
    return;
  }
  if (touched_.empty()) {
    rowWords_ = static_cast<size_t>(area_.width() / kWord + 1);
    touched_.resize(rowWords_ * static_cast<size_t>(area_.height()));
  }
  for (int y = run.top(); y <= run.bottom(); ++y) {
    uint64_t* row = &touched_[static_cast<size_t>(y - area_.top()) * rowWords_];
    for (int x = run.left() - area_.left(); x <= run.right() - area_.left(); ++x)
      row[x / kWord] |= uint64_t{1} << (x % kWord);
  }
}

void PixelLines::addRow(QList<QRect>& rects, int row) const {
  const uint64_t* words = &touched_[static_cast<size_t>(row) * rowWords_];
  for (size_t i = 0; i < rowWords_; ++i)
    for (uint64_t left = words[i]; left;) {
      const int begin = std::countr_zero(left), length = std::countr_one(left >> begin);
      rects << QRect(area_.left() + static_cast<int>(i) * kWord + begin, area_.top() + row, length, 1);
      left &= begin + length < kWord ? ~uint64_t{0} << (begin + length) : 0;
    }
}

QList<QRect> PixelLines::rects() const {
  QList<QRect> rects = long_;
  for (int row = 0; !touched_.empty() && row < area_.height(); ++row) addRow(rects, row);
  return rects;
}

}  // namespace orrery::ui
