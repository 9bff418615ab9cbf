// What the steps of layoutLayers() hand to each other.
#pragma once

#include "ui/graph/layout.h"

namespace orrery::ui::steps {

inline constexpr double kStraight = 0.5;  // pixels of sidestep that nobody sees
inline constexpr double kPortInset = 14;  // from a box's corner to the nearest wire that arrives
inline constexpr double kPortGap = 12;    // between wires that arrive: their heads stay apart

/// A place in a row: an item, or the bend of a wire that passes the row.
struct Slot {
  int item = -1;  // -1: a bend
  int row = 0;
  double width = 1;               // of what is drawn
  double x = 0;                   // of the middle, where wires leave
  double reach = 0;               // so far from the middle wires may arrive; 0: in the middle only
  std::vector<int> above, below;  // neighbouring slots
};

/// How one edge goes: by slots from row to row, or by a lane.
struct Path {
  int edge = 0;
  bool lane = false;
  std::vector<int> slots;  // source, bends, target (entry and exit are slots too)
};

struct Rows {
  std::vector<Slot> slots;             // items first, then entry, exit, then bends
  std::vector<std::vector<int>> rows;  // row 0 holds the entry, the last one the exit
  std::vector<Path> paths;             // by drawn edge
  int entry = 0, exit = 0;             // slots
};

/// Rank of each item: the longest path to it; edges that would close a cycle do not count.
std::vector<int> rankItems(const std::vector<LayoutItem>& items, const std::vector<LayoutEdge>& edges);
/// What no edge touches stands in rows of a few below the others, not in one endless row.
void rankLoners(const std::vector<LayoutEdge>& edges, std::vector<int>& rank);
Rows makeRows(const std::vector<LayoutItem>& items, const std::vector<LayoutEdge>& edges,
              const std::vector<int>& rank);
/// Orders every row by the medians of its neighbours.
void orderRows(Rows& rows);
/// Least squares: x as near to `wanted` as the distances allow, in order; heavier ones give way less.
void settle(std::vector<double>& x, const std::vector<double>& wanted, const std::vector<double>& weights,
            const std::vector<double>& distance);
/// Gives every slot its x.
void placeRows(Rows& rows, const LayoutMetrics& metrics);
/// Tracks, lanes, heights: everything that depends on y.
void routeWires(const std::vector<LayoutItem>& items, const Rows& rows, const LayoutMetrics& metrics,
                LayoutResult& result);

}  // namespace orrery::ui::steps
