// Scenes of the sample graphs.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <unordered_set>

#include "tests/ui/graph/sample_graphs.h"
#include "ui/graph/scene_graph.h"

namespace orrery::ui::samples {

inline std::shared_ptr<const SceneGraph> sceneOf(const graph::GraphVersion& graph) {
  return makeScene(graph, kStep, {});
}

/// The default model's graph, read once.
inline graph::GraphVersion smol(bool fused) {
  static graph::GraphVersion versions[2];
  if (!versions[fused]) {
    auto built = modelGraph(kSmol, fused);
    EXPECT_TRUE(built.ok()) << built.error().to_string();
    if (built.ok()) versions[fused] = *built;
  }
  return versions[fused];
}

/// Every group open.
inline std::unordered_set<std::string> everything(const SceneGraph& scene) {
  std::unordered_set<std::string> open;
  for (const SceneGroup& group : scene.groups) open.insert(group.path);
  return open;
}

}  // namespace orrery::ui::samples
