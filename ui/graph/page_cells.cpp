#include "ui/graph/page_cells.h"

#include <algorithm>
#include <unordered_map>

namespace orrery::ui {
namespace {

int rowsFor(int layers, int columns) { return (layers + columns - 1) / std::max(1, columns); }

/// Columns that so many rows fill.
int columnsFor(int layers, int columns) {
  const int rows = rowsFor(layers, columns);
  return rows > 0 ? (layers + rows - 1) / rows : 1;
}

/// Which of the numbers to keep so that they rise and as many as can be stay.
std::vector<bool> longestRise(const std::vector<int>& numbers) {
  std::vector<size_t> tails, before(numbers.size(), numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto place = std::lower_bound(tails.begin(), tails.end(), numbers[i],
                                        [&](size_t tail, int number) { return numbers[tail] < number; });
    if (place != tails.begin()) before[i] = *(place - 1);
    if (place == tails.end())
      tails.push_back(i);
    else
      *place = i;
  }
  std::vector<bool> kept(numbers.size(), false);
  for (size_t i = tails.empty() ? numbers.size() : tails.back(); i < numbers.size(); i = before[i])
    kept[i] = true;
  return kept;
}

std::unordered_map<std::string, int> placesOf(const std::vector<std::string>& layers) {
  std::unordered_map<std::string, int> places;
  for (size_t i = 0; i < layers.size(); ++i) places.emplace(layers[i], static_cast<int>(i));
  return places;
}

/// What is out of line leaves its cell free: of the layers that are there the most stay.
void freeMoved(PageCells& cells, const std::unordered_map<std::string, int>& places) {
  std::vector<std::string*> here;
  std::vector<int> order;
  for (std::vector<std::string>& column : cells.columns)
    for (std::string& layer : column)
      if (const auto place = places.find(layer); place != places.end()) {
        here.push_back(&layer);
        order.push_back(place->second);
      }
  const std::vector<bool> kept = longestRise(order);
  for (size_t i = 0; i < here.size(); ++i)
    if (!kept[i]) here[i]->clear();
}

}  // namespace

PageCells arrangeCells(const std::vector<std::string>& layers, int columns) {
  const int count = static_cast<int>(layers.size()), rows = rowsFor(count, columns);
  PageCells cells;
  cells.columns.resize(static_cast<size_t>(columnsFor(count, columns)));
  for (int i = 0; i < count; ++i)
    cells.columns[static_cast<size_t>(i / rows)].push_back(layers[static_cast<size_t>(i)]);
  return cells;
}

void followLayers(PageCells& cells, const std::vector<std::string>& layers) {
  if (cells.columns.empty()) cells.columns.emplace_back();
  freeMoved(cells, placesOf(layers));
  std::unordered_map<std::string, std::pair<size_t, size_t>> cellOf;
  for (size_t column = 0; column < cells.columns.size(); ++column)
    for (size_t row = 0; row < cells.columns[column].size(); ++row)
      cellOf[cells.columns[column][row]] = {column, row};
  std::pair<size_t, size_t> next{0, 0};  // where a layer that has no cell goes
  for (const std::string& layer : layers) {
    if (const auto known = cellOf.find(layer); known != cellOf.end()) {
      next = {known->second.first, known->second.second + 1};
      continue;
    }
    std::vector<std::string>& column = cells.columns[next.first];
    column.insert(column.begin() + static_cast<std::ptrdiff_t>(next.second), layer);
    for (auto& [name, cell] : cellOf)
      if (cell.first == next.first && cell.second >= next.second) ++cell.second;
    cellOf[layer] = next;
    ++next.second;
  }
}

void closeCells(PageCells& cells, const std::vector<std::string>& layers) {
  const auto places = placesOf(layers);
  for (std::vector<std::string>& column : cells.columns)
    std::erase_if(column, [&places](const std::string& layer) { return !places.contains(layer); });
  std::erase_if(cells.columns, [](const std::vector<std::string>& column) { return column.empty(); });
}

double PageMeasure::wide(int columns) const {
  const int count = columnsFor(layers, columns);
  return count * cellWidth + (count - 1) * gutter;
}

double PageMeasure::high(int columns) const {
  const int rows = rowsFor(layers, columns);
  return above + rows * cellHeight + (rows - 1) * gap + below;
}

double PageMeasure::scale(int columns, double viewWidth, double viewHeight) const {
  return std::min(viewWidth / std::max(1.0, wide(columns)), viewHeight / std::max(1.0, high(columns)));
}

int bestColumns(const PageMeasure& measure, double viewWidth, double viewHeight) {
  constexpr double kTie = 0.95;
  const int most = std::clamp(measure.layers, 1, kMostColumns);
  double largest = 0;
  for (int columns = 1; columns <= most; ++columns)
    largest = std::max(largest, measure.scale(columns, viewWidth, viewHeight));
  int best = 1;
  double score = -1;
  for (int columns = 1; columns <= most; ++columns) {
    const double scale = measure.scale(columns, viewWidth, viewHeight);
    if (columnsFor(measure.layers, columns) != columns || scale < kTie * largest) continue;
    const double own = scale + (measure.layers % columns == 0 ? largest : 0);
    if (own <= score) continue;
    score = own;
    best = columns;
  }
  return best;
}

}  // namespace orrery::ui
