// The values of a run, one a row: outputs, what was kept, what was given; with their range.
#pragma once

#include <QAbstractTableModel>

#include "ui/session/graph_controller.h"

namespace orrery::ui {

class ValueList : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { nameColumn, leastColumn, mostColumn, meanColumn, nanColumn, typeColumn, kColumns };
  using QAbstractTableModel::QAbstractTableModel;

  void setResult(const GraphResultPtr& result);
  ValueId valueAt(int row) const { return result_->order[static_cast<size_t>(row)]; }
  /// -1: it is not among them.
  int rowOf(ValueId value) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  GraphResultPtr result_;
};

}  // namespace orrery::ui
