#include "ui/graph/layout.h"

#include <algorithm>
#include <functional>
#include <queue>

#include "ui/graph/layout_steps.h"

namespace orrery::ui {
namespace steps {
namespace {

bool isItem(int end) { return end >= 0; }

constexpr int kLonersInRow = 4;

/// Wires of up to this many rows may bend beside boxes; longer ones take a lane.
constexpr int kLongestBent = 4;

/// An edge may pass the rows between its ends when it comes from a fork or passes forks only, and no group is
/// in the way: a residual from the spine past the spine would push it aside.
bool mayBend(const std::vector<int>& members, const std::vector<char>& blocked, int fromRow, int toRow) {
  if (toRow - fromRow > kLongestBent || fromRow <= 0) return false;
  bool forks = true;
  for (int row = fromRow + 1; row < toRow; ++row) {
    if (blocked[static_cast<size_t>(row)]) return false;
    forks = forks && members[static_cast<size_t>(row)] > 1;
  }
  return forks || members[static_cast<size_t>(fromRow)] > 1;
}

}  // namespace

std::vector<int> rankItems(const std::vector<LayoutItem>& items, const std::vector<LayoutEdge>& edges) {
  const size_t count = items.size();
  std::vector<std::vector<int>> after(count);
  std::vector<int> waiting(count, 0), rank(count, 0);
  std::vector<char> fed(count, 0), done(count, 0);
  for (const LayoutEdge& edge : edges) {
    if (edge.from == kLayoutEntry && isItem(edge.to)) fed[static_cast<size_t>(edge.to)] = 1;
    if (!isItem(edge.from) || !isItem(edge.to) || edge.from == edge.to) continue;
    after[static_cast<size_t>(edge.from)].push_back(edge.to);
    ++waiting[static_cast<size_t>(edge.to)];
    fed[static_cast<size_t>(edge.to)] = 1;
  }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (size_t i = 0; i < count; ++i)
    if (waiting[i] == 0) ready.push(static_cast<int>(i));
  std::vector<int> order;
  order.reserve(count);
  for (size_t next = 0; order.size() < count;) {
    if (ready.empty()) {  // a cycle: break it at the first item that is left
      while (done[next]) ++next;
      waiting[next] = 0;
      ready.push(static_cast<int>(next));
    }
    const int item = ready.top();
    ready.pop();
    if (done[static_cast<size_t>(item)]) continue;
    done[static_cast<size_t>(item)] = 1;
    order.push_back(item);
    for (const int to : after[static_cast<size_t>(item)]) {
      if (done[static_cast<size_t>(to)]) continue;
      rank[static_cast<size_t>(to)] =
          std::max(rank[static_cast<size_t>(to)], rank[static_cast<size_t>(item)] + 1);
      if (--waiting[static_cast<size_t>(to)] == 0) ready.push(to);
    }
  }
  // What nothing feeds sits right above its first user instead of at the top.
  for (auto place = order.rbegin(); place != order.rend(); ++place) {
    const auto item = static_cast<size_t>(*place);
    if (fed[item] || after[item].empty()) continue;
    int first = -1;
    for (const int to : after[item])
      if (const int r = rank[static_cast<size_t>(to)]; r > rank[item] && (first < 0 || r < first)) first = r;
    if (first > 0) rank[item] = first - 1;
  }
  return rank;
}

void rankLoners(const std::vector<LayoutEdge>& edges, std::vector<int>& rank) {
  std::vector<char> joined(rank.size(), 0);
  for (const LayoutEdge& edge : edges)
    for (const int end : {edge.from, edge.to})
      if (isItem(end)) joined[static_cast<size_t>(end)] = 1;
  if (std::count(joined.begin(), joined.end(), 0) <= kLonersInRow) return;
  int first = 0, placed = 0;
  for (size_t i = 0; i < rank.size(); ++i)
    if (joined[i]) first = std::max(first, rank[i] + 1);
  for (size_t i = 0; i < rank.size(); ++i)
    if (!joined[i]) rank[i] = first + placed++ / kLonersInRow;
}

Rows makeRows(const std::vector<LayoutItem>& items, const std::vector<LayoutEdge>& edges,
              const std::vector<int>& rank) {
  Rows rows;
  int last = 0;
  for (const int r : rank) last = std::max(last, r);
  rows.rows.resize(static_cast<size_t>(last) + 3);
  std::vector<int> members(rows.rows.size(), 0);
  std::vector<char> blocked(rows.rows.size(), 0);
  const auto addSlot = [&rows](int item, int row, double width) {
    rows.slots.push_back({item, row, width, 0, 0, {}, {}});
    rows.rows[static_cast<size_t>(row)].push_back(static_cast<int>(rows.slots.size()) - 1);
    return static_cast<int>(rows.slots.size()) - 1;
  };
  for (size_t i = 0; i < items.size(); ++i) {
    const int row = rank[i] + 1;
    addSlot(static_cast<int>(i), row, items[i].width);
    ++members[static_cast<size_t>(row)];
    if (items[i].block) blocked[static_cast<size_t>(row)] = 1;
  }
  rows.entry = addSlot(-1, 0, 1);
  rows.exit = addSlot(-1, last + 2, 1);
  for (size_t i = 0; i < edges.size(); ++i) {
    const LayoutEdge& edge = edges[i];
    if (!edge.drawn) continue;
    const int from = edge.from == kLayoutEntry ? rows.entry : edge.from,
              to = edge.to == kLayoutExit ? rows.exit : edge.to;
    const int fromRow = rows.slots[static_cast<size_t>(from)].row,
              toRow = rows.slots[static_cast<size_t>(to)].row;
    Path path{static_cast<int>(i), false, {from}};
    if (toRow != fromRow + 1) path.lane = !(toRow > fromRow && mayBend(members, blocked, fromRow, toRow));
    for (int row = fromRow + 1; !path.lane && row < toRow; ++row) path.slots.push_back(addSlot(-1, row, 1));
    path.slots.push_back(to);
    for (size_t k = 1; !path.lane && k < path.slots.size(); ++k) {
      rows.slots[static_cast<size_t>(path.slots[k - 1])].below.push_back(path.slots[k]);
      rows.slots[static_cast<size_t>(path.slots[k])].above.push_back(path.slots[k - 1]);
    }
    rows.paths.push_back(std::move(path));
  }
  return rows;
}

}  // namespace steps

LayoutResult layoutLayers(const std::vector<LayoutItem>& items, const std::vector<LayoutEdge>& edges,
                          const LayoutMetrics& metrics, std::stop_token stop) {
  LayoutResult result;
  result.rank = steps::rankItems(items, edges);
  steps::rankLoners(edges, result.rank);
  if ((result.stopped = stop.stop_requested())) return result;
  steps::Rows rows = steps::makeRows(items, edges, result.rank);
  std::vector<int> members(rows.rows.size(), 0);
  for (const int rank : result.rank) ++members[static_cast<size_t>(rank) + 1];
  result.alone.resize(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    result.alone[i] = members[static_cast<size_t>(result.rank[i]) + 1] == 1;
    if (result.alone[i]) rows.slots[i].width = std::max(items[i].width, items[i].alone);
    if (!items[i].open) rows.slots[i].reach = std::max(0.0, rows.slots[i].width / 2 - steps::kPortInset);
  }
  if ((result.stopped = stop.stop_requested())) return result;
  steps::orderRows(rows);
  result.leftFree = result.rightFree = result.alone;
  for (size_t i = 0; i < items.size(); ++i) {
    const std::vector<int>& row = rows.rows[static_cast<size_t>(result.rank[i]) + 1];
    result.leftFree[i] = result.alone[i] && row.front() == static_cast<int>(i);
    result.rightFree[i] = result.alone[i] && row.back() == static_cast<int>(i);
  }
  if ((result.stopped = stop.stop_requested())) return result;
  steps::placeRows(rows, metrics);
  if ((result.stopped = stop.stop_requested())) return result;
  steps::routeWires(items, rows, metrics, result);
  return result;
}

}  // namespace orrery::ui
