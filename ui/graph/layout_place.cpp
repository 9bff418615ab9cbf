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

/// Least squares: x as near to `wanted` as the distances allow, in order. Pool adjacent violators, linear.
void settle(std::vector<double>& x, const std::vector<double>& wanted, const std::vector<double>& distance) {
  struct Block {
    double sum, weight;
    size_t first;
  };
  std::vector<Block> blocks;
  std::vector<double> offset(wanted.size(), 0);
  for (size_t i = 1; i < wanted.size(); ++i) offset[i] = offset[i - 1] + distance[i - 1];
  for (size_t i = 0; i < wanted.size(); ++i) {
    blocks.push_back({wanted[i] - offset[i], 1, i});
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

void placeRow(Rows& rows, const std::vector<int>& members, const LayoutMetrics& metrics, bool byAbove,
              bool byBelow) {
  if (members.size() == 1) {
    rows.slots[static_cast<size_t>(members.front())].x = 0;  // the spine
    return;
  }
  std::vector<double> x(members.size()), wanted(members.size()), distance(members.size());
  for (size_t i = 0; i < members.size(); ++i) {
    const Slot& slot = rows.slots[static_cast<size_t>(members[i])];
    const auto at = [&rows](int other) { return rows.slots[static_cast<size_t>(other)].x; };
    const double above = medianOf(slot.above, slot.x, at), below = medianOf(slot.below, slot.x, at);
    wanted[i] = byAbove && byBelow ? (above + below) / 2 : byAbove ? above : below;
    if (i + 1 < members.size())
      distance[i] =
          (slot.width + rows.slots[static_cast<size_t>(members[i + 1])].width) / 2 + metrics.columnGap;
  }
  settle(x, wanted, distance);
  for (size_t i = 0; i < members.size(); ++i) rows.slots[static_cast<size_t>(members[i])].x = x[i];
}

}  // namespace

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
}

}  // namespace orrery::ui::steps
