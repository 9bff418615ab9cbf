// The layout of a whole scene: every open group is laid out on its own, bottom up, and remembered by its
// structure, so that thirty equal layers cost one. Coordinates of a group are relative to the middle of its
// frame's top (layout.h).
#pragma once

#include <array>
#include <memory>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ui/graph/page_cells.h"
#include "ui/graph/page_layout.h"
#include "ui/graph/scene_graph.h"

namespace orrery::ui {

struct Arrangement;
struct GroupLayout;

/// One drawn thing of a group: a node, a folded group, an open group, or a stack of equal folded groups.
struct Placed {
  enum class Kind : uint8_t { node, folded, open, stack };
  Kind kind = Kind::node;
  int first = 0, last = 0;  // children of the group that it stands for
  Rect box;
  double shift = 0;                          // of an open group's origin from the middle of its frame's top
  bool cell = false;                         // a layer of a page
  bool leftPill = false, rightPill = false;  // there is room for the node's pills
  std::shared_ptr<const GroupLayout> inner;  // of an open group
};

struct PlacedWire {
  int edge =
      -1;  // into SceneGroup::edges: the first of those that it stands for; -1: passes what is bypassed
  WireKind kind = WireKind::plain;
  int from = kLayoutEntry, to = kLayoutExit;  // Placed, or the ends
  std::vector<Point> points;
  Rect bounds;
  bool atSide = false, lane = false, arrow = true, dotted = false;
};

struct GroupLayout {
  std::vector<Placed> items;
  std::vector<PlacedWire> wires;
  std::vector<int> itemOf;  // by child
  double halfWidth = 0, height = 0;
  double spine = 0;               // x where wires enter and leave
  std::vector<PageLayout> pages;  // of the runs in it; their items are those of `items`
};

/// Widths that the text needs, in pixels at scale 1; the view gives those of its fonts.
struct TextWidths {
  TextWidths() { name.fill(6.9); }
  std::array<double, 128> name;           // of a letter of a name, by its code; others count as an m
  double time = 6.6, second = 6;          // a letter of a time; of the second line, and of pills
  double fusedChip = 32, stackChip = 36;  // "16 in 1", "× 128"
};

class Hierarchy {
 public:
  explicit Hierarchy(TextWidths widths = {}) : widths_(widths) {}

  /// How runs of open layers become pages in the layouts from now on. A layout brings the plan up to date
  /// with what it made.
  void setPlan(PagePlan plan) { plan_ = std::move(plan); }
  const PagePlan& plan() const { return plan_; }

  /// `open`: paths of the open groups; the root is always open. `arrangement`: what does not stand where the
  /// layout puts it; may be null. Null when stopped.
  std::shared_ptr<const GroupLayout> layout(const SceneGraph& scene,
                                            const std::unordered_set<std::string>& open,
                                            std::stop_token stop = {},
                                            const Arrangement* arrangement = nullptr);
  size_t cached() const { return cache_.size(); }

 private:
  using Open = std::unordered_set<std::string>;
  /// A layer of a page and what is in it is laid out closer, and so is what stands beside a page.
  enum class Place : uint8_t { plain, cell, inCell, beside };

  std::shared_ptr<const GroupLayout> layoutGroup(const SceneGraph& scene, int group, const Open& open,
                                                 Place place, std::stop_token stop);
  std::shared_ptr<const GroupLayout> layoutPaged(const SceneGraph& scene, int group, const Open& open,
                                                 std::stop_token stop);
  uint64_t signature(const SceneGraph& scene, int group, const Open& open) const;
  void choosePaged(const SceneGraph& scene, const Open& open);
  bool isCell(const SceneGraph& scene, int group) const;
  int autoColumns(const PageProblem& problem, const LayoutMetrics& metrics, int layers, int now) const;
  const PageCells& cellsOf(const SceneGraph& scene, const SceneRun& run, const PageProblem& problem,
                           const LayoutMetrics& metrics);
  struct Cores;
  Cores coresOf(const SceneGraph& scene, int group, const std::vector<int>& itemOf) const;

  TextWidths widths_;
  PagePlan plan_;
  std::vector<char> paged_;                   // by run: it is a page
  std::vector<char> holdsPages_;              // by group
  const Arrangement* arrangement_ = nullptr;  // of the layout under way
  std::unordered_map<uint64_t, std::shared_ptr<const GroupLayout>> cache_;
};

/// Neighbouring layers of equal structure: drawn as one stack while folded.
bool layersStack(const SceneGroup& a, const SceneGroup& b);
/// "layers.0–11", or the group's own name where both are one.
std::string foldedName(const SceneGroup& first, const SceneGroup& last);
/// "layers.0-11": the scope of a stack.
std::string stackScope(const SceneGroup& first, const SceneGroup& last);

}  // namespace orrery::ui
