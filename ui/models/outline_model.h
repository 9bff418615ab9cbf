// The graph as a tree of scopes and nodes for the Outline: name, time, share of the parent's time; of two
// sides that are compared their times and the ratio. Runs of two or more neighbouring layers of equal
// structure are one row ("layers.0-11") with the layers as children when `stack` is on.
#pragma once

#include <QAbstractItemModel>
#include <memory>
#include <optional>
#include <unordered_set>

#include "engine/graph/graph.h"
#include "ui/graph/figures.h"
#include "ui/placement/places.h"
#include "ui/theme/side_look.h"

namespace orrery::ui {

class OutlineModel : public QAbstractItemModel {
  Q_OBJECT

 public:
  /// otherColumn is B's time, and empty while nothing is compared; then shareColumn is the ratio.
  enum Column { nameColumn, timeColumn, otherColumn, shareColumn, columns };
  enum Role {
    nodeRole = Qt::UserRole,  // uint: the NodeId's value; 0 for a scope
    scopeRole,                // QString: the scope's path; for a node the scope it is in
    pathRole,                 // QString: the full path
    usRole,                   // double: time, sum for scopes; NaN when not measured
    briefRole,                // QString: in fewer letters, for a narrow column: times and headers
    shareRole,                // double 0 to 1: share of the parent's time; NaN when not measured
    familyRole,               // int: graph::OpFamily of a node, -1 for a scope
    fusedRole,                // int: origins fused into the node; 0 or 1: not fused
    editedRole,               // bool: edited, or holds an edited node
    bypassedRole,             // bool: nothing depends on it
    heatRole,                 // double 0 to 1: place on the heat scale; NaN when not measured
    deviceRole,               // int: DeviceMark of what does not run at home; none elsewhere
    fellBackRole,             // bool: it or a node in it runs elsewhere than asked
    ratioRole,                // bool: sides are compared, and heatRole is a place on the ratio's scale
    sideRole,                 // header of a side's column: SideLook
  };

  explicit OutlineModel(QObject* parent = nullptr);
  ~OutlineModel() override;

  void setGraph(graph::GraphVersion graph, std::unordered_set<NodeId> edited = {}, const QString& name = {});
  void setTimings(Figures figures);
  void setPlaces(Places places);
  /// The sides that the timings are of from now on; none: one model's own times.
  void setSides(const std::optional<SideLooks>& sides);
  bool compared() const;

  QModelIndex indexOf(NodeId node) const;
  QModelIndex indexOfScope(const QString& scope) const;

  QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
  QModelIndex parent(const QModelIndex& child) const override;
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  void tellChanged(Column first, Column last);

  class Private;
  std::unique_ptr<Private> d_;
};

}  // namespace orrery::ui

Q_DECLARE_METATYPE(orrery::ui::SideLook)
