// How many bits the tensors of a mix take, counted by what they are: one bar for each matrix of a layer, over
// all layers.
#pragma once

#include <QString>
#include <vector>

#include "engine/api/mix.h"

namespace orrery::ui {

struct BitCounts {
  /// A type that a tensor can be stored as, with what an element takes on average.
  struct Level {
    QString name;  // "Q4_0"; "as it is"
    double bits = 0;
  };
  struct Row {
    QString name;             // "q_proj"
    std::vector<int> counts;  // of its tensors, by level
    double bits = 0;          // of an element, on average
  };
  std::vector<Level> levels;  // from the fewest bits on
  std::vector<Row> rows;      // in the order of the graph
};

BitCounts bitCounts(const api::MixTable& table, const api::Mix& mix);

}  // namespace orrery::ui
