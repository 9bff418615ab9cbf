// Where nodes run, as the view draws it: the devices of nodes and groups, what runs elsewhere than asked, and
// the wires on which a value changes devices. Nodes are addressed by their position in the scene.
#pragma once

#include <QStringList>
#include <memory>
#include <unordered_map>
#include <vector>

#include "ui/graph/device_mark.h"
#include "ui/graph/heat_model.h"
#include "ui/graph/scene_graph.h"
#include "ui/placement/places.h"

namespace orrery::ui {

/// What changes devices between two children of a group.
struct Crossing {
  std::vector<ValueId> values;
  double bytes = 0;                  // of one step; a copy counts on the first wire that it is made for
  DeviceMark to = DeviceMark::none;  // mixed: both ways
};

class PlaceModel {
 public:
  void setScene(std::shared_ptr<const SceneGraph> scene, const Bindings& bindings);
  void setPlaces(Places places);

  /// Several devices are in use, or some node runs elsewhere than asked: there is something to draw.
  bool drawn() const { return away_ > 0 || fellBack_ > 0; }
  bool several() const { return away_ > 0; }
  bool anyFellBack() const { return fellBack_ > 0; }
  /// Those in use, home first.
  QStringList devices() const;

  /// Where a node runs.
  const QString& device(int position) const;
  /// Where a transfer takes its value from.
  const QString& sourceDevice(int position) const;
  /// How the node runs elsewhere than asked; null when it does not.
  const NodePlace* fellBack(int position) const;
  /// Nodes of the span that run elsewhere than asked.
  int fellBack(Span span) const;
  /// Nodes of the span that do not run at home.
  int away(Span span) const;
  /// "CUDA 0" when all of the span runs there and that is not home, "mixed" when some of it does, else empty.
  QString tag(Span span) const;
  DeviceMark mark(Span span) const;

  /// What goes from the children [from.begin, from.end) of a group to those of `to` and changes devices; no
  /// values when nothing does.
  Crossing crossing(int group, Span from, Span to) const;
  bool crosses(int group) const { return crossings_.contains(group); }

 private:
  using ByChildren = std::unordered_map<uint64_t, Crossing>;

  void rebuild();
  void addCrossings();
  void addCrossing(const SceneNode& from, const SceneNode& to, const graph::Value& value, double bytes);

  std::shared_ptr<const SceneGraph> scene_;
  Bindings bindings_;
  Places places_;
  QString elsewhere_;                             // the device beside home; one at most
  std::vector<const NodePlace*> at_;              // by position; null: at home as asked
  std::vector<int> awayBefore_, fellBackBefore_;  // by position + 1
  int away_ = 0, fellBack_ = 0;
  std::unordered_map<int, ByChildren> crossings_;  // by group
};

}  // namespace orrery::ui
