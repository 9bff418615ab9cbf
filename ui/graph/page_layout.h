// Pages of columns beside each other: the layers of each run in cells of one size, the residual stream
// straight down every column and through the gutters to the next one, what feeds a page above its first
// column and what it feeds under its last. Linear in the number of layers. Standard library only.
//
// Coordinates as in layout.h; boxes of open cells hold their contents from the left.
#pragma once

#include <string>
#include <vector>

#include "ui/graph/layout.h"

namespace orrery::ui {

inline constexpr double kCellGap = 26, kPageGutter = 106;
inline constexpr double kTurnAbove = 34, kTurnBelow = 54;  // of the stream, from a column's head and foot

/// A place for a layer; `item` -1: kept free.
struct PageCell {
  int item = -1;
  int column = 0, row = 0;
  Rect area;  // all of it, whatever its layer takes
};
struct PageColumn {
  Rect area;
  int first = 0, count = 0;  // cells
  Point label;               // the left end of its head line's baseline
};
struct PageLayout {
  std::string stem;
  std::vector<PageColumn> columns;
  std::vector<PageCell> cells;  // as they are read
  int rows = 0;
  double stream = 0;  // its x, from a column's left
};

/// Items around which others stand: a page, or an open group that holds one.
struct PageCore {
  std::string stem;
  std::vector<std::vector<int>> columns;  // items by column, -1: a free cell; of a group, the one item
  bool paged = true;
};

struct PageProblem {
  std::vector<LayoutItem> items;
  std::vector<LayoutEdge> edges;
  std::vector<PageCore> cores;           // from left to right
  double cellWidth = 0, cellHeight = 0;  // of the commonest cell
  double streamInset = 0;
};

struct PageResult {
  LayoutResult layout;
  std::vector<PageLayout> pages;
};

/// What stands above the first row of a page and under its last one, for the choice of columns.
struct PageMargins {
  double above = 0, below = 0;
};
PageMargins marginsOf(const PageProblem& problem, const LayoutMetrics& metrics);
PageResult layoutPages(const PageProblem& problem, const LayoutMetrics& metrics, std::stop_token stop = {});

}  // namespace orrery::ui
