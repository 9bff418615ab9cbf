// Which layer stands where on a page, and how many columns it has.
#include "ui/graph/page_cells.h"

#include <gtest/gtest.h>

namespace orrery::ui {
namespace {

using Columns = std::vector<std::vector<std::string>>;

std::vector<std::string> layers(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(std::to_string(i));
  return names;
}

std::vector<std::string> without(std::vector<std::string> names, const std::string& name) {
  std::erase(names, name);
  return names;
}

TEST(PageCells, LayersGoDownAColumnAndOnInTheNext) {
  EXPECT_EQ(arrangeCells(layers(6), 2).columns, (Columns{{"0", "1", "2"}, {"3", "4", "5"}}));
  EXPECT_EQ(arrangeCells(layers(7), 3).columns, (Columns{{"0", "1", "2"}, {"3", "4", "5"}, {"6"}}));
  EXPECT_EQ(arrangeCells(layers(30), 7).columns.size(), 6U) << "a seventh would be empty";
}

TEST(PageCells, ALayerThatIsGoneLeavesItsCellAndComesBackToIt) {
  PageCells cells = arrangeCells(layers(6), 2);
  const PageCells before = cells;
  followLayers(cells, without(layers(6), "1"));
  EXPECT_EQ(cells, before) << "a name that the scene does not have is a free cell";
  followLayers(cells, layers(6));
  EXPECT_EQ(cells, before);
  followLayers(cells, without(layers(6), "1"));
  closeCells(cells, without(layers(6), "1"));
  EXPECT_EQ(cells.columns, (Columns{{"0", "2"}, {"3", "4", "5"}}));
}

TEST(PageCells, ANewLayerJoinsTheColumnOfTheOneBefore) {
  PageCells cells = arrangeCells(layers(6), 2);
  followLayers(cells, {"0", "1", "1@2", "2", "2@2", "3", "4", "5"});
  EXPECT_EQ(cells.columns, (Columns{{"0", "1", "1@2", "2", "2@2"}, {"3", "4", "5"}}));
}

TEST(PageCells, AMovedLayerLeavesItsCellFreeAndTheOthersStay) {
  PageCells cells = arrangeCells(layers(6), 2);
  followLayers(cells, {"0", "4", "1", "2", "3", "5"});
  EXPECT_EQ(cells.columns, (Columns{{"0", "4", "1", "2"}, {"3", "", "5"}}));
}

PageMeasure measure(int layers) { return {layers, 474, 540, 26, 106, 110, 140}; }

TEST(PageColumns, TheNumberThatShowsThePageLargestWins) {
  const PageMeasure all = measure(30);
  const int best = bestColumns(all, 1079, 771);
  for (int columns = 1; columns <= kMostColumns; ++columns)
    EXPECT_LE(all.scale(columns, 1079, 771) * 0.95, all.scale(best, 1079, 771)) << columns;
  EXPECT_EQ(best, 6);
}

TEST(PageColumns, OfEqualsTheEvenOneWins) {
  // Wide and low: many columns.
  EXPECT_GT(bestColumns(measure(24), 3000, 500), 8);
  EXPECT_EQ(24 % bestColumns(measure(24), 1400, 700), 0);
  EXPECT_EQ(bestColumns(measure(5), 100, 4000), 1);
}

TEST(PageColumns, NeverMoreThanTwentyFour) { EXPECT_LE(bestColumns(measure(400), 1e6, 300), kMostColumns); }

}  // namespace
}  // namespace orrery::ui
