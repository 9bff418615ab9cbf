// How a layer differs from another one, in a word: the dtype of a weight, an op, an attribute. Standard
// library only.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ui/graph/scene_graph.h"

namespace orrery::ui {

struct LayerDifference {
  std::string word;                                // "Q8_0", "fastmax", "no q_rope"; empty: they are alike
  std::string where;                               // "mlp", "attention", or the node; empty: all over
  std::vector<std::pair<int, std::string>> nodes;  // by position in the other layer: what is different there
};

/// Of the group `other` from the group `usual`, both layers of one scene. `kernelOf`: of a position; empty
/// where none is known.
LayerDifference layerDifference(const SceneGraph& scene, int usual, int other,
                                const std::function<std::string(int)>& kernelOf);

/// The dtype of the largest weight of a layer; empty: it has none.
std::string mainType(const SceneGraph& scene, int layer);

}  // namespace orrery::ui
