// Which runs of layers are pages, and the groups that hold them.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "ui/graph/group_assembly.h"
#include "ui/graph/node_box.h"
#include "ui/graph/scene_graph.h"

namespace orrery::ui {
namespace {

constexpr double kBetter = 1.2;  // so much larger another number of columns must show the page

std::vector<std::string> pathsOf(const SceneGraph& scene, const SceneRun& run) {
  std::vector<std::string> paths;
  paths.reserve(run.layers.size());
  for (const int group : run.layers) paths.push_back(scene.groups[at(group)].path);
  return paths;
}

/// The commonest size of the open layers.
void measureCells(const GroupLayout& drawn, PageProblem& problem) {
  std::map<const GroupLayout*, int> counts;
  for (const Placed& placed : drawn.items)
    if (placed.cell && placed.inner) ++counts[placed.inner.get()];
  int most = 0;
  for (const auto& [inner, count] : counts) {
    if (count < most || (count == most && inner->height < problem.cellHeight)) continue;
    most = count;
    problem.cellWidth = inner->halfWidth * 2;
    problem.cellHeight = inner->height;
  }
}

}  // namespace

/// A run becomes a page when half of it is open, and stays one until all of it is folded.
void Hierarchy::choosePaged(const SceneGraph& scene, const Open& open) {
  paged_.assign(scene.runs.size(), 0);
  holdsPages_.assign(scene.groups.size(), 0);
  std::map<std::string, PageCells> known;
  for (size_t i = 0; i < scene.runs.size(); ++i) {
    const SceneRun& run = scene.runs[i];
    const auto opened = std::count_if(run.layers.begin(), run.layers.end(),
                                      [&](int group) { return open.contains(scene.groups[at(group)].path); });
    const auto page = plan_.pages.find(run.stem);
    const auto layers = static_cast<std::ptrdiff_t>(run.layers.size());
    const bool begins = layers >= kLeastPaged && opened * 2 >= layers, stays = page != plan_.pages.end();
    if (!run.follows || opened == 0 || !(stays || begins)) continue;
    const std::vector<int> chain = scene.chain(run.parent);
    const auto shown = [&](int group) { return group == 0 || open.contains(scene.groups[at(group)].path); };
    const auto within = [&](int group) {
      const SceneGroup& around = scene.groups[at(group)];
      return around.run >= 0 && paged_[at(around.run)];
    };
    if (!std::all_of(chain.begin(), chain.end(), shown) || std::any_of(chain.begin(), chain.end(), within)) {
      if (stays) known.insert(*page);  // out of sight, not out of place
      continue;
    }
    paged_[i] = 1;
    if (stays) known.insert(*page);
    for (const int group : chain) holdsPages_[at(group)] = 1;
  }
  plan_.pages = std::move(known);
}

/// How many columns Auto gives a page that has `now`, 0 being none yet.
int Hierarchy::autoColumns(const PageProblem& problem, const LayoutMetrics& metrics, int layers,
                           int now) const {
  const bool fixed = plan_.change == PagePlan::Change::keep || plan_.change == PagePlan::Change::close;
  if (plan_.viewWidth <= 0 || (now > 0 && fixed)) return std::max(1, now);
  const PageMargins margins = marginsOf(problem, metrics);
  const PageMeasure measure{layers,      problem.cellWidth, problem.cellHeight, kCellGap,
                            kPageGutter, margins.above,     margins.below};
  const auto scale = [&](int columns) { return measure.scale(columns, plan_.viewWidth, plan_.viewHeight); };
  const int best = bestColumns(measure, plan_.viewWidth, plan_.viewHeight);
  const bool better = now == 0 || scale(best) >= kBetter * scale(now);
  return better || plan_.change == PagePlan::Change::arrange ? best : now;
}

/// The cells of a page as they are to be now.
const PageCells& Hierarchy::cellsOf(const SceneGraph& scene, const SceneRun& run, const PageProblem& problem,
                                    const LayoutMetrics& metrics) {
  const std::vector<std::string> layers = pathsOf(scene, run);
  PageCells& cells = plan_.pages[run.stem];
  const int now = static_cast<int>(cells.columns.size());
  const int columns =
      plan_.columns > 0 ? plan_.columns : autoColumns(problem, metrics, static_cast<int>(layers.size()), now);
  const bool resized = plan_.change == PagePlan::Change::resized && plan_.columns == 0 && columns != now;
  if (now == 0 || resized || plan_.change == PagePlan::Change::arrange)
    cells = arrangeCells(layers, std::max(1, columns));
  else
    followLayers(cells, layers);
  if (plan_.change == PagePlan::Change::close) closeCells(cells, layers);
  return cells;
}

/// What a group's layers and frames with pages are beside each other, in the order of the children; of a page
/// that has no cells yet all layers are one column.
struct Hierarchy::Cores {
  std::vector<PageCore> cores;
  std::vector<int> runs;  // by core; -1: a frame
  bool pages() const {
    return std::any_of(runs.begin(), runs.end(), [](int run) { return run >= 0; });
  }
};

Hierarchy::Cores Hierarchy::coresOf(const SceneGraph& scene, int index,
                                    const std::vector<int>& itemOf) const {
  Cores found;
  for (const SceneChild& child : scene.groups[at(index)].children) {
    if (!child.isGroup) continue;
    const SceneGroup& group = scene.groups[at(child.index)];
    const int item = itemOf[at(group.child)];
    if (isCell(scene, child.index)) {
      auto known = std::find(found.runs.begin(), found.runs.end(), group.run);
      if (known == found.runs.end()) {
        found.runs.push_back(group.run);
        found.cores.push_back({scene.runs[at(group.run)].stem, {{}}, true});
        known = std::prev(found.runs.end());
      }
      found.cores[static_cast<size_t>(known - found.runs.begin())].columns.front().push_back(item);
    } else if (holdsPages_[at(child.index)]) {
      found.runs.push_back(-1);
      found.cores.push_back({"", {{item}}, false});
    }
  }
  return found;
}

bool Hierarchy::isCell(const SceneGraph& scene, int group) const {
  const int run = scene.groups[at(group)].run;
  return run >= 0 && paged_[at(run)];
}

std::shared_ptr<const GroupLayout> Hierarchy::layoutPaged(const SceneGraph& scene, int index,
                                                          const Open& open, std::stop_token stop) {
  const SceneGroup& group = scene.groups[at(index)];
  GroupAssembly assembly(scene, group, open, false, false);
  const auto layoutInner = [&](int inner) {
    const Place place = isCell(scene, inner)     ? Place::cell
                        : holdsPages_[at(inner)] ? Place::plain
                                                 : Place::beside;
    return layoutGroup(scene, inner, open, place, stop);
  };
  if (!assembly.addItems(layoutInner, [&](int child) { return isCell(scene, child); })) return nullptr;
  LayoutMetrics metrics;
  if (group.depth == 0) metrics.top = 20;
  PageProblem problem;
  problem.items = assembly.layoutItems(widths_);
  problem.edges = assembly.layoutEdges();
  problem.streamInset = kStreamInset;
  measureCells(assembly.drawn(), problem);
  Cores found = coresOf(scene, index, assembly.drawn().itemOf);
  if (!found.pages() && found.cores.size() < 2) {  // one frame with a page stands in line as any open group
    LayoutResult result = layoutLayers(problem.items, problem.edges, metrics, stop);
    return result.stopped ? nullptr : assembly.finish(std::move(result));
  }
  problem.cores = found.cores;
  for (size_t i = 0; i < found.cores.size(); ++i) {
    if (found.runs[i] < 0) continue;
    const PageCells& cells = cellsOf(scene, scene.runs[at(found.runs[i])], problem, metrics);
    found.cores[i].columns.clear();
    for (const std::vector<std::string>& column : cells.columns) {
      std::vector<int>& items = found.cores[i].columns.emplace_back();
      for (const std::string& path : column) {
        const int layer = path.empty() ? -1 : scene.group(path);
        items.push_back(layer < 0 ? -1 : assembly.drawn().itemOf[at(scene.groups[at(layer)].child)]);
      }
    }
  }
  problem.cores = std::move(found.cores);
  PageResult result = layoutPages(problem, metrics, stop);
  if (result.layout.stopped) return nullptr;
  const std::shared_ptr<GroupLayout> layout = assembly.finish(std::move(result.layout));
  layout->pages = std::move(result.pages);
  return layout;
}

}  // namespace orrery::ui
