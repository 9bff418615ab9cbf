#include "ui/graph/wire_route.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery::ui {
namespace {

constexpr double kStub = 8;                       // straight out of a box before the first corner
constexpr double kLane = 10;                      // from a box that a wire passes
constexpr double kSame = 1e-6;                    // of coordinates that sums made
constexpr double kCrossing = 2000, kCorner = 12;  // what they cost, in pixels of length
constexpr size_t kMostLanes = 24;

using Points = std::vector<Point>;

Point out(const WireEnd& end) {
  switch (end.way) {
    case WireEnd::Way::down:
      return {end.at.x, end.at.y + kStub};
    case WireEnd::Way::up:
      return {end.at.x, end.at.y - kStub};
    case WireEnd::Way::left:
      return {end.at.x - kStub, end.at.y};
    case WireEnd::Way::right:
      return {end.at.x + kStub, end.at.y};
    case WireEnd::Way::any:
      break;
  }
  return end.at;
}

/// Without points that are no corners.
Points simplified(const Points& points) {
  Points kept;
  for (const Point& point : points) {
    if (!kept.empty() && std::abs(kept.back().x - point.x) < kSame &&
        std::abs(kept.back().y - point.y) < kSame)
      continue;
    if (kept.size() > 1) {
      const Point &a = kept[kept.size() - 2], &b = kept.back();
      const bool upright = std::abs(a.x - b.x) < kSame && std::abs(b.x - point.x) < kSame;
      const bool lying = std::abs(a.y - b.y) < kSame && std::abs(b.y - point.y) < kSame;
      if (upright || lying) kept.pop_back();
    }
    kept.push_back(point);
  }
  return kept;
}

double costOf(const Points& points, const std::vector<Rect>& boxes) {
  double cost = kCorner * static_cast<double>(points.size());
  for (size_t i = 1; i < points.size(); ++i) {
    cost += std::abs(points[i].x - points[i - 1].x) + std::abs(points[i].y - points[i - 1].y);
    for (const Rect& box : boxes)
      if (crosses(points[i - 1], points[i], box)) cost += kCrossing;
  }
  return cost;
}

class Search {
 public:
  Search(const WireEnd& from, const WireEnd& to, const std::vector<Rect>& boxes)
      : from_(from), to_(to), start_(out(from)), end_(out(to)) {
    const Rect span = Rect{std::min(start_.x, end_.x), std::min(start_.y, end_.y),
                           std::abs(start_.x - end_.x), std::abs(start_.y - end_.y)}
                          .grown(60);
    for (const Rect& box : boxes)
      if (box.intersects(span)) near_.push_back(box);
  }

  Points best() {
    attempt({});
    attempt({{start_.x, end_.y}});
    attempt({{end_.x, start_.y}});
    for (const double y : tracks()) attempt({{start_.x, y}, {end_.x, y}});
    for (const double x : lanes()) attempt({{x, start_.y}, {x, end_.y}});
    return best_;
  }

 private:
  void attempt(const Points& corners) {
    Points points{from_.at, start_};
    for (const Point& corner : corners) points.push_back(corner);
    points.push_back(end_);
    points.push_back(to_.at);
    points = simplified(points);
    for (size_t i = 1; i < points.size(); ++i)
      if (std::abs(points[i].x - points[i - 1].x) > kSame && std::abs(points[i].y - points[i - 1].y) > kSame)
        return;
    const double cost = costOf(points, near_) + backwards(points);
    if (cost >= least_) return;
    least_ = cost;
    best_ = std::move(points);
  }

  /// A way that goes back through what it came out of.
  double backwards(const Points& points) const {
    double cost = 0;
    if (points.size() > 1 && runsAgainst(from_, points[1])) cost += kCrossing / 2;
    if (points.size() > 1 && runsAgainst(to_, points[points.size() - 2])) cost += kCrossing / 2;
    return cost;
  }
  static bool runsAgainst(const WireEnd& end, Point next) {
    switch (end.way) {
      case WireEnd::Way::down:
        return next.y < end.at.y - kSame;
      case WireEnd::Way::up:
        return next.y > end.at.y + kSame;
      case WireEnd::Way::left:
        return next.x > end.at.x + kSame;
      case WireEnd::Way::right:
        return next.x < end.at.x - kSame;
      case WireEnd::Way::any:
        break;
    }
    return false;
  }

  std::vector<double> tracks() const {
    std::vector<double> tracks{start_.y, end_.y, (start_.y + end_.y) / 2};
    for (const Rect& box : near_) {
      tracks.push_back(box.y - kStub);
      tracks.push_back(box.bottom() + kStub);
    }
    return nearestTo(std::move(tracks), (start_.y + end_.y) / 2);
  }
  std::vector<double> lanes() const {
    std::vector<double> lanes{start_.x, end_.x, (start_.x + end_.x) / 2};
    for (const Rect& box : near_) {
      lanes.push_back(box.x - kLane);
      lanes.push_back(box.right() + kLane);
    }
    return nearestTo(std::move(lanes), (start_.x + end_.x) / 2);
  }
  static std::vector<double> nearestTo(std::vector<double> places, double middle) {
    std::sort(places.begin(), places.end(), [middle](double a, double b) {
      return std::abs(a - middle) != std::abs(b - middle) ? std::abs(a - middle) < std::abs(b - middle)
                                                          : a < b;
    });
    places.erase(std::unique(places.begin(), places.end()), places.end());
    if (places.size() > kMostLanes) places.resize(kMostLanes);
    return places;
  }

  const WireEnd &from_, &to_;
  Point start_, end_;
  std::vector<Rect> near_;
  Points best_;
  double least_ = std::numeric_limits<double>::max();
};

}  // namespace

bool crosses(Point a, Point b, const Rect& box) {
  const Rect way{std::min(a.x, b.x), std::min(a.y, b.y), std::abs(a.x - b.x), std::abs(a.y - b.y)};
  return way.x < box.right() - 1 && way.right() > box.x + 1 && way.y < box.bottom() - 1 &&
         way.bottom() > box.y + 1;
}

std::vector<Point> routeWire(const WireEnd& from, const WireEnd& to, const std::vector<Rect>& boxes) {
  return Search(from, to, boxes).best();
}

}  // namespace orrery::ui
