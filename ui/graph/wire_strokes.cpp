#include "ui/graph/wire_strokes.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace orrery::ui {
namespace {

constexpr double kSame = 1e-6;   // of coordinates that sums made
constexpr double kBend = 1.623;  // length of a right angle's bend, in radii
constexpr double kLead = 0.75;   // a corner runs this far into its stretches: no seam between them

Rect around(Point a, Point b) {
  return {std::min(a.x, b.x), std::min(a.y, b.y), std::abs(a.x - b.x), std::abs(a.y - b.y)};
}

/// From `from` this far to `to`.
Point towards(Point from, Point to, double distance) {
  const double length = std::hypot(to.x - from.x, to.y - from.y);
  return {from.x + (to.x - from.x) / length * distance, from.y + (to.y - from.y) / length * distance};
}

QPointF pointOf(Point p) { return {p.x, p.y}; }

/// The nearest point of `area`.
Point within(const Rect& area, Point p) {
  return {std::clamp(p.x, area.x, area.right()), std::clamp(p.y, area.y, area.bottom())};
}

constexpr double kDotted[] = {2, 3}, kDashed[] = {3, 2}, kDashDot[] = {4, 1.5, 1, 1.5};

/// How much of both its stretches a corner takes; 0: it stays sharp.
double cornerRadius(Point before, Point corner, Point after, double radius) {
  const double in = std::hypot(corner.x - before.x, corner.y - before.y),
               out = std::hypot(after.x - corner.x, after.y - corner.y);
  const double r = std::min({radius, in / 2, out / 2});
  return r < 0.5 ? 0 : r;
}

}  // namespace

void Stretches::add(Point a, Point b) {
  const bool upright = std::abs(a.x - b.x) < kSame;
  const auto [begin, end] = std::minmax(upright ? a.y : a.x, upright ? b.y : b.x);
  stretches_.push_back({upright, upright ? a.x : a.y, begin, end});
}

void Stretches::merge() {
  std::sort(stretches_.begin(), stretches_.end(), [](const Stretch& a, const Stretch& b) {
    return std::tie(a.upright, a.place, a.begin) < std::tie(b.upright, b.place, b.begin);
  });
  size_t kept = 0;
  for (size_t i = 1; i < stretches_.size(); ++i) {
    Stretch& last = stretches_[kept];
    const Stretch& next = stretches_[i];
    if (next.upright == last.upright && next.place - last.place < kSame && next.begin <= last.end)
      last.end = std::max(last.end, next.end);
    else
      stretches_[++kept] = next;
  }
  stretches_.resize(std::min(stretches_.size(), kept + 1));
}

QList<QRectF> Stretches::rects(double thickness) {
  merge();
  QList<QRectF> rects;
  rects.reserve(static_cast<qsizetype>(stretches_.size()));
  for (const Stretch& one : stretches_) {
    const double edge = one.place - thickness / 2, length = one.end - one.begin;
    rects << (one.upright ? QRectF(edge, one.begin, thickness, length)
                          : QRectF(one.begin, edge, length, thickness));
  }
  return rects;
}

void WireStrokes::add(const std::vector<Point>& points, double radius, const Rect& visible) {
  const Rect seen = visible.grown(width_ + kLead);
  double before = 0;  // what the corner at the start of the stretch takes of it
  double along = 0;
  for (size_t i = 1; i < points.size(); ++i) {
    const Point a = points[i - 1], b = points[i];
    const double length = std::hypot(b.x - a.x, b.y - a.y);
    if (length < kSame) continue;
    const bool last = i + 1 == points.size();
    const double r = last ? 0 : cornerRadius(a, b, points[i + 1], radius);
    // At a sharp corner both stretches reach across the other.
    const double begin = i == 1 || before > 0 ? before : -width_ / 2, end = last || r > 0 ? r : -width_ / 2;
    addStretch(towards(a, b, begin), towards(b, a, end), along, seen);
    along += length - begin - end;
    if (r > 0 && around(b, b).grown(r).intersects(seen)) {
      const Point next = points[i + 1];
      corners_.push_back({towards(b, a, r + kLead), towards(b, a, r), b, towards(b, next, r),
                          towards(b, next, r + kLead), along - kLead});
    }
    along += kBend * r;
    before = r;
  }
}

void WireStrokes::addStretch(Point from, Point to, double along, const Rect& seen) {
  if (!around(from, to).grown(kSame).intersects(seen)) return;
  if (std::min(std::abs(from.x - to.x), std::abs(from.y - to.y)) >= kSame) {
    corners_.push_back({from, from, from, to, to, along});
    return;
  }
  const Point a = within(seen, from), b = within(seen, to);
  const std::span<const double> pattern = patternOf(stroke_);
  if (pattern.empty()) return straight_.add(a, b);
  const double skipped = std::hypot(a.x - from.x, a.y - from.y), length = std::hypot(b.x - a.x, b.y - a.y);
  const double period = std::accumulate(pattern.begin(), pattern.end(), 0.0) * width_;
  for (double start = -std::fmod(along + skipped, period); start < length; start += period) {
    double dash = start;
    for (size_t i = 0; i < pattern.size(); i += 2) {
      const double begin = std::max(0.0, dash), end = std::min(length, dash + pattern[i] * width_);
      if (begin < end) straight_.add(towards(a, b, begin), towards(a, b, end));
      dash += (pattern[i] + pattern[i + 1]) * width_;
    }
  }
}

WireStrokes WireStrokes::thinner(double width) const {
  WireStrokes other(width);
  other.straight_ = straight_;
  other.corners_ = corners_;
  return other;
}

void WireStrokes::paint(QPainter& painter, const QColor& color) {
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  painter.drawRects(straight_.rects(width_));
  const auto key = [](const Corner& one) {
    return std::tie(one.corner.x, one.corner.y, one.begin.x, one.begin.y, one.end.x, one.end.y);
  };
  std::sort(corners_.begin(), corners_.end(),
            [&key](const Corner& a, const Corner& b) { return key(a) < key(b); });
  const auto end = std::unique(corners_.begin(), corners_.end(),
                               [&key](const Corner& a, const Corner& b) { return key(a) == key(b); });
  QPen pen = wirePen(color, width_, stroke_);
  const bool broken = !patternOf(stroke_).empty();
  painter.setPen(pen);
  painter.setBrush(Qt::NoBrush);
  for (auto one = corners_.begin(); one != end; ++one) {
    if (broken) {
      pen.setDashOffset(one->along / width_);
      painter.setPen(pen);
    }
    QPainterPath path(pointOf(one->begin));
    path.lineTo(pointOf(one->from));
    path.quadTo(pointOf(one->corner), pointOf(one->to));
    path.lineTo(pointOf(one->end));
    painter.drawPath(path);
  }
}

QPen wirePen(const QColor& color, double width, Stroke stroke) {
  QPen pen(color, width, Qt::SolidLine, Qt::FlatCap, Qt::RoundJoin);
  const std::span<const double> pattern = patternOf(stroke);
  if (!pattern.empty()) pen.setDashPattern(QList<qreal>(pattern.begin(), pattern.end()));
  return pen;
}

std::span<const double> patternOf(Stroke stroke) {
  switch (stroke) {
    case Stroke::dotted:
      return kDotted;
    case Stroke::dashed:
      return kDashed;
    case Stroke::dashDot:
      return kDashDot;
    case Stroke::solid:
    case Stroke::doubled:
      break;
  }
  return {};
}

QPainterPath roundedPath(const std::vector<Point>& points, double radius) {
  QPainterPath path;
  if (points.empty()) return path;
  path.moveTo(pointOf(points.front()));
  for (size_t i = 1; i + 1 < points.size(); ++i) {
    const Point corner = points[i];
    const double r = cornerRadius(points[i - 1], corner, points[i + 1], radius);
    if (r > 0) {
      path.lineTo(pointOf(towards(corner, points[i - 1], r)));
      path.quadTo(pointOf(corner), pointOf(towards(corner, points[i + 1], r)));
    } else {
      path.lineTo(pointOf(corner));
    }
  }
  path.lineTo(pointOf(points.back()));
  return path;
}

}  // namespace orrery::ui
