// A step as a flame: columns, layers, what is in layers, ops, one after the other in the order they run, each
// as long as its time.
#pragma once

#include <QString>
#include <vector>

#include "ui/graph/page_model.h"

namespace orrery::ui {

enum class StepLevel : uint8_t { column, layer, half, op, wide };  // wide: an op outside of the layers

struct StepPart {
  StepLevel level = StepLevel::op;
  int begin = 0, end = 0;     // positions
  int group = -1, node = -1;  // what a click chooses; of a column nothing
  double start = 0, us = 0;
  double heat = 0;  // NaN: not known
  QString name;     // "lm_head"; of a column "5–9"
};

/// Nothing where nothing is measured.
std::vector<StepPart> stepParts(const SceneGraph& scene, const HeatModel& heat, const PageModel& pages);

}  // namespace orrery::ui
