// Where the layers of a run stand on its page: which column, which row. Layers go down a column, columns go
// from left to right. What is edited keeps its place: a layer that is gone leaves its cell free, one that
// comes goes below the layer before it. Standard library only.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace orrery::ui {

inline constexpr int kMostColumns = 24;  // on the screen
inline constexpr int kLeastPaged = 4;    // layers: fewer are no page

/// The layers of a page by column, by their paths; one that the scene does not have is a cell kept free.
struct PageCells {
  std::vector<std::vector<std::string>> columns;
  friend bool operator==(const PageCells&, const PageCells&) = default;
};

/// `layers` in so many columns, or in fewer where the last ones would stay empty.
PageCells arrangeCells(const std::vector<std::string>& layers, int columns);
/// After an edit: what is still in line stays, what is new or has moved goes below the layer before it.
void followLayers(PageCells& cells, const std::vector<std::string>& layers);
/// Takes the free cells out.
void closeCells(PageCells& cells, const std::vector<std::string>& layers);

/// How large the pages of different numbers of columns are.
struct PageMeasure {
  int layers = 0;
  double cellWidth = 0, cellHeight = 0, gap = 0, gutter = 0;
  double above = 0, below = 0;  // above the first row, below the last one
  double wide(int columns) const;
  double high(int columns) const;
  /// The scale at which all of it is seen.
  double scale(int columns, double viewWidth, double viewHeight) const;
};

/// The number of columns whose page is seen the largest. Of numbers that are within 5 % of the best the one
/// that parts the layers evenly wins.
int bestColumns(const PageMeasure& measure, double viewWidth, double viewHeight);

/// What the pages of a drawing are to be like, and are.
struct PagePlan {
  enum class Change : uint8_t {
    keep,     // what stands stays
    resized,  // the view has another size: Auto takes another number where it is 20 % larger
    close,    // no cells are kept free
    arrange   // all anew
  };
  int columns = 0;                       // 0: Auto
  double viewWidth = 0, viewHeight = 0;  // what Auto fits the page into
  Change change = Change::keep;
  std::map<std::string, PageCells> pages;  // by the run's stem: those runs that are pages now
};

}  // namespace orrery::ui
