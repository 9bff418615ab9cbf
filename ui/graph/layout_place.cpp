// Order within rows and x: medians and isotonic regression.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ui/graph/layout_steps.h"

namespace orrery::ui::steps {
namespace {

double median(std::vector<double>& values) {
  const size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle), values.end());
  const double upper = values[middle];
  if (values.size() % 2 == 1) return upper;
  return (*std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle)) + upper) /
         2;
}

/// Of the values at the neighbours; `own` where there are none.
template <class ValueAt>
double medianOf(const std::vector<int>& neighbours, double own, const ValueAt& valueAt) {
  if (neighbours.empty()) return own;
  std::vector<double> values;
  values.reserve(neighbours.size());
  for (const int slot : neighbours) values.push_back(valueAt(slot));
  return median(values);
}

void sortRow(Rows& rows, size_t row, bool byAbove, std::vector<double>& place) {
  std::vector<int>& members = rows.rows[row];
  if (members.size() < 2) return;
  std::vector<std::pair<double, int>> keyed;
  keyed.reserve(members.size());
  for (const int slot : members) {
    const Slot& s = rows.slots[static_cast<size_t>(slot)];
    keyed.emplace_back(medianOf(byAbove ? s.above : s.below, place[static_cast<size_t>(slot)],
                                [&place](int other) { return place[static_cast<size_t>(other)]; }),
                       slot);
  }
  std::stable_sort(keyed.begin(), keyed.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 0; i < keyed.size(); ++i) {
    members[i] = keyed[i].second;
    // Centred, so that places in rows of different length compare.
    place[static_cast<size_t>(members[i])] =
        static_cast<double>(i) - static_cast<double>(members.size() - 1) / 2;
  }
}

/// The middle one of what is below `above`, of an odd number.
bool isMiddle(const Rows& rows, const Slot& above, const Slot& below) {
  int sides = 0;
  for (const int other : above.below) {
    const double x = rows.slots[static_cast<size_t>(other)].x;
    sides += x < below.x ? -1 : x > below.x ? 1 : 0;
  }
  return sides == 0 && above.below.size() % 2 == 1;
}

void placeRow(Rows& rows, const std::vector<int>& members, const LayoutMetrics& metrics, bool byAbove,
              bool byBelow) {
  if (members.size() == 1) {
    rows.slots[static_cast<size_t>(members.front())].x = 0;  // the spine
    return;
  }
  constexpr double kFirm = 1e4;  // the middle of a fork stays below it: the others make room
  std::vector<double> x(members.size()), wanted(members.size()), weights(members.size(), 1),
      distance(members.size());
  for (size_t i = 0; i < members.size(); ++i) {
    const Slot& slot = rows.slots[static_cast<size_t>(members[i])];
    const auto at = [&rows](int other) { return rows.slots[static_cast<size_t>(other)].x; };
    const double above = medianOf(slot.above, slot.x, at), below = medianOf(slot.below, slot.x, at);
    const bool firm = byAbove && slot.above.size() == 1 &&
                      isMiddle(rows, rows.slots[static_cast<size_t>(slot.above.front())], slot);
    wanted[i] = byAbove && byBelow && !firm ? (above + below) / 2 : byAbove ? above : below;
    if (firm) weights[i] = kFirm;
    if (i + 1 < members.size())
      distance[i] =
          (slot.width + rows.slots[static_cast<size_t>(members[i + 1])].width) / 2 + metrics.columnGap;
  }
  settle(x, wanted, weights, distance);
  for (size_t i = 0; i < members.size(); ++i) rows.slots[static_cast<size_t>(members[i])].x = x[i];
}

/// Moves slots of a row to where more of their wires are straight, as far as their neighbours let them.
class Straightener {
 public:
  Straightener(Rows& rows, const LayoutMetrics& metrics) : rows_(rows), metrics_(metrics) {}

  void run(const std::vector<int>& members, bool fromLeft) {
    if (members.size() < 2) return;  // on the spine
    for (size_t k = 0; k < members.size(); ++k) move(members, fromLeft ? k : members.size() - 1 - k);
  }

 private:
  static constexpr size_t kMostTried = 8;  // neighbours; of a hub with hundreds these tell enough

  Slot& slot(int index) const { return rows_.slots[static_cast<size_t>(index)]; }

  /// A wire that arrives beside the middle is worth less than half of one with a bend, so that a box that two
  /// wires meet in stays below one of them.
  static double costOf(double sidestep, double reach) {
    if (std::abs(sidestep) < kStraight) return 0;
    return std::abs(sidestep) <= reach ? 0.4 : 1;
  }

  /// A fork fans out evenly: of its wires only the one in the middle counts.
  double costAt(const Slot& moved, double x) const {
    double cost = 0;
    for (const int above : moved.above)
      if (isMiddle(rows_, slot(above), moved)) cost += costOf(slot(above).x - x, moved.reach);
    if (moved.below.size() == 1)
      cost += costOf(x - slot(moved.below.front()).x, slot(moved.below.front()).reach);
    return cost;
  }

  double apart(int left, int right) const {
    return (slot(left).width + slot(right).width) / 2 + metrics_.columnGap;
  }

  void move(const std::vector<int>& members, size_t at) {
    constexpr double kFar = 1e9;
    Slot& own = slot(members[at]);
    const double low = at > 0 ? slot(members[at - 1]).x + apart(members[at - 1], members[at]) : -kFar,
                 high = at + 1 < members.size()
                            ? slot(members[at + 1]).x - apart(members[at], members[at + 1])
                            : kFar;
    double best = own.x, least = costAt(own, own.x);
    const auto attempt = [&](double x) {
      if (x < low || x > high) return;
      const double cost = costAt(own, x);
      if (cost < least - 1e-9 || (cost < least + 1e-9 && std::abs(x - own.x) < std::abs(best - own.x))) {
        least = cost;
        best = x;
      }
    };
    const auto around = [&](double middle, double reach) {
      for (const double x : {middle, middle - reach, middle + reach}) attempt(x);
    };
    for (size_t i = 0; i < std::min(own.above.size(), kMostTried); ++i)
      around(slot(own.above[i]).x, own.reach);
    for (size_t i = 0; i < std::min(own.below.size(), kMostTried); ++i)
      around(slot(own.below[i]).x, slot(own.below[i]).reach);
    own.x = best;
  }

  Rows& rows_;
  const LayoutMetrics& metrics_;
};

}  // namespace

void settle(std::vector<double>& x, const std::vector<double>& wanted, const std::vector<double>& weights,
            const std::vector<double>& distance) {
  struct Block {  // pool adjacent violators, linear
    double sum, weight;
    size_t first;
  };
  std::vector<Block> blocks;
  std::vector<double> offset(wanted.size(), 0);
  for (size_t i = 1; i < wanted.size(); ++i) offset[i] = offset[i - 1] + distance[i - 1];
  for (size_t i = 0; i < wanted.size(); ++i) {
    blocks.push_back({(wanted[i] - offset[i]) * weights[i], weights[i], i});
    while (blocks.size() > 1) {
      const Block& b = blocks.back();
      Block& a = blocks[blocks.size() - 2];
      if (a.sum / a.weight <= b.sum / b.weight) break;
      a.sum += b.sum;
      a.weight += b.weight;
      blocks.pop_back();
    }
  }
  for (size_t k = 0; k < blocks.size(); ++k) {
    const size_t end = k + 1 < blocks.size() ? blocks[k + 1].first : wanted.size();
    for (size_t i = blocks[k].first; i < end; ++i) x[i] = blocks[k].sum / blocks[k].weight + offset[i];
  }
}

void orderRows(Rows& rows) {
  std::vector<double> place(rows.slots.size(), 0);
  for (const std::vector<int>& row : rows.rows)
    for (size_t i = 0; i < row.size(); ++i)
      place[static_cast<size_t>(row[i])] = static_cast<double>(i) - static_cast<double>(row.size() - 1) / 2;
  for (int pass = 0; pass < 2; ++pass) {
    for (size_t row = 1; row < rows.rows.size(); ++row) sortRow(rows, row, true, place);
    if (pass == 1) break;
    for (size_t row = rows.rows.size() - 1; row-- > 0;) sortRow(rows, row, false, place);
  }
}

void placeRows(Rows& rows, const LayoutMetrics& metrics) {
  for (const std::vector<int>& row : rows.rows) {  // packed and centred
    double width = -metrics.columnGap;
    for (const int slot : row) width += rows.slots[static_cast<size_t>(slot)].width + metrics.columnGap;
    double x = -width / 2;
    for (const int slot : row) {
      Slot& s = rows.slots[static_cast<size_t>(slot)];
      s.x = x + s.width / 2;
      x += s.width + metrics.columnGap;
    }
  }
  const size_t count = rows.rows.size();
  for (size_t row = 0; row < count; ++row) placeRow(rows, rows.rows[row], metrics, true, false);
  for (size_t row = count; row-- > 0;) placeRow(rows, rows.rows[row], metrics, false, true);
  for (size_t row = 0; row < count; ++row) placeRow(rows, rows.rows[row], metrics, true, true);
  Straightener straightener(rows, metrics);
  for (const bool fromLeft : {true, false}) {
    for (size_t row = 0; row < count; ++row) straightener.run(rows.rows[row], fromLeft);
    for (size_t row = count; row-- > 0;) straightener.run(rows.rows[row], fromLeft);
  }
}

}  // namespace orrery::ui::steps
