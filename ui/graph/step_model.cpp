#include "ui/graph/step_model.h"
#include "ui/graph/scene_graph.h"

#include <algorithm>
#include <cmath>

namespace orrery::ui {
namespace {

class StepBuilder {
 public:
  StepBuilder(const SceneGraph& scene, const HeatModel& heat, const PageModel& pages)
      : scene_(scene), heat_(heat), pages_(pages) {
    starts_.assign(scene.nodes.size() + 1, 0);
    for (size_t i = 0; i < scene.nodes.size(); ++i) {
      const double us = heat.us({static_cast<int>(i), static_cast<int>(i) + 1});
      starts_[i + 1] = starts_[i] + (us > 0 && scene.nodes[i].live ? us : 0);
    }
  }

  std::vector<StepPart> build() {
    if (starts_.back() <= 0) return {};
    addColumns();
    addGroup(0, false);
    return std::move(parts_);
  }

 private:
  void add(StepLevel level, int begin, int end, int group, int node, const QString& name) {
    const double start = starts_[at(begin)], us = starts_[at(end)] - start;
    if (us <= 0) return;
    const double heat = level == StepLevel::column ? std::nan("") : heat_.heat({begin, end});
    parts_.push_back({level, begin, end, group, node, start, us, heat, name});
  }

  void addColumns() {
    for (const PageColumnHead& column : pages_.columns()) {
      int begin = static_cast<int>(scene_.nodes.size()), end = 0;
      for (int i = column.first; i <= column.last; ++i) {
        const int group = pages_.layers()[at(i)].group;
        if (group < 0) continue;
        begin = std::min(begin, scene_.groups[at(group)].begin);
        end = std::max(end, scene_.groups[at(group)].end);
      }
      if (begin < end) add(StepLevel::column, begin, end, -1, -1, column.name.section(' ', -1));
    }
  }

  void addGroup(int index, bool inLayer) {
    for (const SceneChild& child : scene_.groups[at(index)].children) {
      if (!child.isGroup) {
        const SceneNode& node = scene_.nodes[at(child.index)];
        add(inLayer ? StepLevel::op : StepLevel::wide, child.index, child.index + 1, -1, child.index,
            QString::fromStdString(node.name));
        continue;
      }
      const SceneGroup& group = scene_.groups[at(child.index)];
      const bool layer = !inLayer && group.run >= 0 && scene_.runs[at(group.run)].follows;
      const bool half = inLayer && scene_.groups[at(index)].run >= 0;
      if (layer || half)
        add(layer ? StepLevel::layer : StepLevel::half, group.begin, group.end, child.index, -1,
            QString::fromStdString(group.name));
      addGroup(child.index, inLayer || layer);
    }
  }

  const SceneGraph& scene_;
  const HeatModel& heat_;
  const PageModel& pages_;
  std::vector<double> starts_;  // by position, and the whole
  std::vector<StepPart> parts_;
};

}  // namespace

std::vector<StepPart> stepParts(const SceneGraph& scene, const HeatModel& heat, const PageModel& pages) {
  return StepBuilder(scene, heat, pages).build();
}

}  // namespace orrery::ui
