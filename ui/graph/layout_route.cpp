// Wires: lanes beside the rows, tracks in the channels between rows, then everything's y.
#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "ui/graph/layout_steps.h"

namespace orrery::ui::steps {
namespace {

constexpr int kMostLanes = 32;     // beyond, lanes are shared
constexpr double kLaneGap = 10;    // from the widest row to the first lane
constexpr double kSideStep = 5.5;  // a wire that leaves at the side and one that arrives keep apart

/// A wire's crossing of the channel above row `channel`, from x `top` to x `bottom`.
struct Hop {
  int channel;
  double top, bottom;
  int source, target;  // slots, to tell which hops belong together
  int track = -1;
};

class Router {
 public:
  Router(const std::vector<LayoutItem>& items, const Rows& rows, const LayoutMetrics& metrics,
         LayoutResult& result)
      : items_(items), rows_(rows), metrics_(metrics), result_(result) {}

  void run() {
    measureRows();
    assignLanes();
    findSides();
    placePorts();
    collectHops();
    assignTracks();
    placeVertically();
    buildWires();
  }

 private:
  const Slot& slot(int index) const { return rows_.slots[static_cast<size_t>(index)]; }
  double half(int index) const { return slot(index).width / 2; }

  bool isRightmost(int index) const {
    const Slot& s = slot(index);
    if (s.item < 0 || items_[static_cast<size_t>(s.item)].open) return false;
    const bool pill =
        result_.rightFree[static_cast<size_t>(s.item)] && items_[static_cast<size_t>(s.item)].right > 0;
    return !pill && rows_.rows[static_cast<size_t>(s.row)].back() == index;
  }

  void measureRows() {
    right_.assign(rows_.rows.size(), 0);
    left_.assign(rows_.rows.size(), 0);
    for (size_t row = 0; row < rows_.rows.size(); ++row)
      for (const int index : rows_.rows[row]) {
        const Slot& s = slot(index);
        const auto item = static_cast<size_t>(s.item);
        const double right = s.item >= 0 && result_.rightFree[item] ? items_[item].right : 0;
        const double left = s.item >= 0 && result_.leftFree[item] ? items_[item].left : 0;
        right_[row] = std::max(right_[row], s.x + half(index) + right);
        left_[row] = std::min(left_[row], s.x - half(index) - left);
      }
    // Doubling table, so that the widest of any run of rows is a look-up.
    widest_.assign(1, right_);
    for (size_t step = 1; step * 2 <= right_.size(); step *= 2) {
      const std::vector<double>& last = widest_.back();
      std::vector<double> next(right_.size() - step * 2 + 1);
      for (size_t i = 0; i < next.size(); ++i) next[i] = std::max(last[i], last[i + step]);
      widest_.push_back(std::move(next));
    }
  }

  double widestOf(size_t first, size_t last) const {
    size_t level = 0;
    while ((size_t{2} << level) <= last - first + 1) ++level;
    return std::max(widest_[level][first], widest_[level][last + 1 - (size_t{1} << level)]);
  }

  /// First fit over the intervals of rows; the wires of one source share a lane.
  void assignLanes() {
    laneX_.assign(rows_.paths.size(), 0);
    std::vector<size_t> order;
    for (size_t i = 0; i < rows_.paths.size(); ++i)
      if (rows_.paths[i].lane) order.push_back(i);
    const auto span = [this](size_t path) {
      const int a = slot(rows_.paths[path].slots.front()).row, b = slot(rows_.paths[path].slots.back()).row;
      return std::pair(std::min(a, b), std::max(a, b));
    };
    std::stable_sort(order.begin(), order.end(),
                     [&span](size_t a, size_t b) { return span(a).first < span(b).first; });
    std::vector<int> until;
    std::unordered_map<int, size_t> laneOf;
    for (const size_t path : order) {
      const auto [first, last] = span(path);
      const int source = rows_.paths[path].slots.front();
      size_t lane = 0;
      if (const auto known = laneOf.find(source); known != laneOf.end()) {
        lane = known->second;
      } else {
        while (lane < until.size() && until[lane] > first) ++lane;
        if (lane == until.size() && lane < kMostLanes) until.push_back(0);
        if (lane >= kMostLanes) lane = path % kMostLanes;
        laneOf[source] = lane;
      }
      until[lane] = std::max(until[lane], last);
      laneX_[path] = widestOf(static_cast<size_t>(first), static_cast<size_t>(last)) + kLaneGap +
                     metrics_.lane * static_cast<double>(lane);
      result_.halfWidth = std::max(result_.halfWidth, laneX_[path]);
    }
  }

  void addHop(size_t path, int channel, double top, double bottom, int source, int target) {
    hopsOf_[path].push_back(hops_.size());
    hops_.push_back({channel, top, bottom, source, target});
  }

  void findSides() {
    sides_.assign(rows_.slots.size(), 0);
    for (const Path& path : rows_.paths) {
      if (!path.lane) continue;
      if (isRightmost(path.slots.front())) sides_[static_cast<size_t>(path.slots.front())] |= 1;
      if (isRightmost(path.slots.back())) sides_[static_cast<size_t>(path.slots.back())] |= 2;
    }
  }

  /// Every wire arrives at a place of its own: straight below where it comes from where it can, else beside
  /// the middle at the side that it comes from, and in the middle when it is the only one.
  void placePorts() {
    portX_.resize(rows_.paths.size());
    std::vector<std::vector<size_t>> arriving(rows_.slots.size());
    for (size_t i = 0; i < rows_.paths.size(); ++i) {
      const int to = rows_.paths[i].slots.back();
      portX_[i] = slot(to).x;
      if (slot(to).reach > 0 && !(rows_.paths[i].lane && isRightmost(to)))
        arriving[static_cast<size_t>(to)].push_back(i);
    }
    for (size_t to = 0; to < arriving.size(); ++to)
      if (!arriving[to].empty()) placePortsOf(rows_.slots[to], arriving[to]);
  }

  double cameFrom(size_t path) const {
    const std::vector<int>& slots = rows_.paths[path].slots;
    return rows_.paths[path].lane ? laneX_[path] : slot(slots[slots.size() - 2]).x;
  }

  void placePortsOf(const Slot& target, std::vector<size_t>& paths) {
    constexpr double kFirm = 1e6;   // weight of a wire that is straight: the others make room
    constexpr double kAside = 0.4;  // of the reach
    std::stable_sort(paths.begin(), paths.end(),
                     [this](size_t a, size_t b) { return cameFrom(a) < cameFrom(b); });
    std::vector<double> wanted, weights, x(paths.size());
    for (const size_t path : paths) {
      const double aside = cameFrom(path) - target.x;
      const bool straight = std::abs(aside) <= target.reach;
      wanted.push_back(straight            ? aside
                       : paths.size() == 1 ? 0
                                           : std::copysign(kAside * target.reach, aside));
      weights.push_back(straight ? kFirm : 1);
    }
    const double gap = std::min(kPortGap, 2 * target.reach / static_cast<double>(paths.size()));
    settle(x, wanted, weights, std::vector<double>(paths.size(), gap));
    for (size_t i = 0; i < paths.size(); ++i) {
      const double before = gap * static_cast<double>(i),
                   after = gap * static_cast<double>(paths.size() - 1 - i);
      portX_[paths[i]] = target.x + std::clamp(x[i], before - target.reach, target.reach - after);
    }
  }

  void collectHops() {
    hopsOf_.resize(rows_.paths.size());
    for (size_t i = 0; i < rows_.paths.size(); ++i) {
      const Path& path = rows_.paths[i];
      const int from = path.slots.front(), to = path.slots.back();
      if (!path.lane) {
        double x = slot(from).x;  // small sidesteps add up before they are drawn
        for (size_t k = 1; k < path.slots.size(); ++k) {
          const double next = k + 1 < path.slots.size() ? slot(path.slots[k]).x : portX_[i],
                       bottom = std::abs(next - x) < kStraight ? x : next;
          addHop(i, slot(path.slots[k]).row, x, bottom, path.slots[k - 1], path.slots[k]);
          x = bottom;
        }
        portX_[i] = x;
        continue;
      }
      if (!isRightmost(from))
        addHop(i, slot(from).row + 1, slot(from).x, laneX_[i], from, -1 - static_cast<int>(i));
      if (!isRightmost(to)) addHop(i, slot(to).row, laneX_[i], portX_[i], -1 - static_cast<int>(i), to);
    }
  }

  /// Hops of one fork share a track.
  void assignTracks() {
    const size_t channels = rows_.rows.size() + 1;
    tracks_.assign(channels, 0);
    std::vector<std::vector<size_t>> hopsIn(channels);
    for (size_t i = 0; i < hops_.size(); ++i) hopsIn[static_cast<size_t>(hops_[i].channel)].push_back(i);
    for (size_t channel = 0; channel < channels; ++channel) assignTracksOf(hopsIn[channel], tracks_[channel]);
  }

  struct Net {
    double left, right;
    bool fork;
    std::vector<size_t> hops;
    bool rightwards(const std::vector<Hop>& all) const {
      return all[hops.front()].top < all[hops.front()].bottom;
    }
  };

  std::vector<Net> netsOf(const std::vector<size_t>& members) const {
    std::unordered_map<int, int> forks;
    for (const size_t i : members) ++forks[hops_[i].source];
    // Wires that end in one place, at the foot of the frame or at an open group's head, are one line.
    const auto meets = [this](const Hop& hop) { return hop.target >= 0 && slot(hop.target).reach <= 0; };
    std::unordered_map<int64_t, size_t> netOf;
    std::vector<Net> nets;
    for (const size_t i : members) {
      const Hop& hop = hops_[i];
      if (std::abs(hop.top - hop.bottom) < kStraight) continue;
      const bool fork = forks[hop.source] > 1;
      const int64_t key = fork         ? int64_t{hop.source} * 3
                          : meets(hop) ? int64_t{hop.target} * 3 + 1
                                       : static_cast<int64_t>(i) * 3 + 2;
      const auto [place, fresh] = netOf.try_emplace(key, nets.size());
      if (fresh) nets.push_back({hop.top, hop.top, fork, {}});
      Net& net = nets[place->second];
      net.left = std::min({net.left, hop.top, hop.bottom});
      net.right = std::max({net.right, hop.top, hop.bottom});
      net.hops.push_back(i);
    }
    return nets;
  }

  /// First fit. Of wires that go the same way the one with the shorter way ahead is above, so that those
  /// which end beside each other do not cross.
  void assignTracksOf(const std::vector<size_t>& members, int& tracks) {
    std::vector<Net> nets = netsOf(members);
    const auto key = [this](const Net& net) {
      if (net.fork) return std::pair(0, net.left);
      return net.rightwards(hops_) ? std::pair(1, -net.left) : std::pair(2, net.right);
    };
    std::stable_sort(nets.begin(), nets.end(),
                     [&key](const Net& a, const Net& b) { return key(a) < key(b); });
    constexpr size_t kMostTracks = 24;  // beyond, tracks are shared
    constexpr double kApart = 4;        // two on one track stay two lines
    std::vector<std::vector<std::pair<double, double>>> taken;
    for (const Net& net : nets) {
      const auto free = [&net](const std::vector<std::pair<double, double>>& others) {
        return std::none_of(others.begin(), others.end(), [&net](const auto& other) {
          return other.first < net.right + kApart && net.left < other.second + kApart;
        });
      };
      size_t track = 0;
      while (track < taken.size() && !free(taken[track])) ++track;
      if (track == taken.size() && track < kMostTracks) taken.emplace_back();
      track = std::min(track, taken.size() - 1);
      taken[track].emplace_back(net.left, net.right);
      for (const size_t i : net.hops) hops_[i].track = static_cast<int>(track);
    }
    tracks = static_cast<int>(taken.size());
  }

  double channelHeight(size_t channel) const {
    const int tracks = tracks_[channel];
    if (channel == 1) return tracks > 0 ? 4 + metrics_.track * tracks : 4;
    if (channel == rows_.rows.size() - 1) return metrics_.bottom + metrics_.track * tracks;
    return std::max(metrics_.rowGap, metrics_.track * (tracks + 1));
  }

  void placeVertically() {
    const size_t count = rows_.rows.size();
    channelY_.assign(count + 1, 0);
    result_.boxes.resize(items_.size());
    double y = metrics_.top - 4;
    for (size_t row = 1; row < count; ++row) {
      channelY_[row] = y;
      y += channelHeight(row);
      double tallest = 0;
      for (const int index : rows_.rows[row]) {
        const Slot& s = slot(index);
        if (s.item < 0) continue;
        const double height = items_[static_cast<size_t>(s.item)].height;
        result_.boxes[static_cast<size_t>(s.item)] = {s.x - s.width / 2, y, s.width, height};
        tallest = std::max(tallest, height);
      }
      y += tallest;
      result_.halfWidth = std::max({result_.halfWidth, right_[row], -left_[row]});
    }
    result_.height = y;
    result_.halfWidth += metrics_.side;
  }

  double trackY(const Hop& hop) const {
    const auto channel = static_cast<size_t>(hop.channel);
    const double start = channelY_[channel], step = metrics_.track;
    if (channel == 1) return start + 2 + step * hop.track;
    if (channel == rows_.rows.size() - 1) return start + metrics_.bottom / 2 + step * hop.track;
    const int tracks = std::max(1, tracks_[channel]);
    return start + channelHeight(channel) / (tracks + 1) * (hop.track + 1);
  }

  double topOf(int index) const {
    const Slot& s = slot(index);
    return s.item >= 0            ? result_.boxes[static_cast<size_t>(s.item)].y
           : index == rows_.entry ? 0
                                  : result_.height;
  }
  double bottomOf(int index) const {
    const Slot& s = slot(index);
    return s.item >= 0            ? result_.boxes[static_cast<size_t>(s.item)].bottom()
           : index == rows_.entry ? 0
                                  : result_.height;
  }
  /// y at the right side, apart when both a leaving and an arriving wire are there.
  double sideY(int index, bool arriving) const {
    const Rect& box = result_.boxes[static_cast<size_t>(slot(index).item)];
    const double middle = box.y + std::min(box.h, 34.0) / 2;
    return sides_[static_cast<size_t>(index)] == 3 ? middle + (arriving ? -kSideStep : kSideStep) : middle;
  }

  void hopPoints(const Hop& hop, std::vector<Point>& points) const {
    if (hop.track < 0) return;
    points.push_back({hop.top, trackY(hop)});
    points.push_back({hop.bottom, trackY(hop)});
  }

  void buildWires() {
    for (size_t i = 0; i < rows_.paths.size(); ++i) {
      const Path& path = rows_.paths[i];
      const int from = path.slots.front(), to = path.slots.back();
      Wire wire;
      wire.edge = path.edge;
      wire.lane = path.lane;
      size_t hop = 0;
      if (path.lane && hopsOf_[i].size() < 2 && isRightmost(from)) {
        const Rect& box = result_.boxes[static_cast<size_t>(slot(from).item)];
        wire.points.push_back({box.right(), sideY(from, false)});
        wire.points.push_back({laneX_[i], sideY(from, false)});
      } else {
        wire.points.push_back({slot(from).x, bottomOf(from)});
      }
      for (; hop < hopsOf_[i].size(); ++hop) hopPoints(hops_[hopsOf_[i][hop]], wire.points);
      if (path.lane && isRightmost(to)) {
        const Rect& box = result_.boxes[static_cast<size_t>(slot(to).item)];
        wire.points.push_back({laneX_[i], sideY(to, true)});
        wire.points.push_back({box.right(), sideY(to, true)});
        wire.atSide = true;
      } else {
        wire.points.push_back({portX_[i], topOf(to)});
      }
      result_.wires.push_back(std::move(wire));
    }
  }

  const std::vector<LayoutItem>& items_;
  const Rows& rows_;
  const LayoutMetrics& metrics_;
  LayoutResult& result_;
  std::vector<double> right_, left_, laneX_, portX_, channelY_;
  std::vector<std::vector<double>> widest_;
  std::vector<Hop> hops_;
  std::vector<std::vector<size_t>> hopsOf_;
  std::vector<int> tracks_;
  std::vector<char> sides_;  // by slot: 1 a lane leaves at the side, 2 one arrives
};

}  // namespace

void routeWires(const std::vector<LayoutItem>& items, const Rows& rows, const LayoutMetrics& metrics,
                LayoutResult& result) {
  Router(items, rows, metrics, result).run();
}

}  // namespace orrery::ui::steps
