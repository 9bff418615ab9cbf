// The nodes of a comparison as a table, where values were put into B those of the stream first, in their
// order, or every node by what goes away; the others the largest gain first: time on either side, their
// ratio, how far the values are apart, and how much of the difference goes away with A's value in B.
#pragma once

#include <QAbstractTableModel>

#include "ui/session/compare_controller.h"
#include "ui/session/scope_values.h"

namespace orrery::ui {

class CompareNodesModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { nodeColumn, aColumn, bColumn, ratioColumn, apartColumn, goneColumn, kColumns };

  explicit CompareNodesModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}
  void setResult(ComparePtr result);
  QString pathAt(int row) const { return QString::fromStdString(at(row).node); }
  const api::NodeComparison& at(int row) const { return *rows_[static_cast<size_t>(row)]; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  ComparePtr result_;
  std::vector<const api::NodeComparison*> rows_;
};

/// How much of the difference each part of the graph makes, by its scope: what more goes away with A's value
/// at its end than at its beginning, as a share. Of every node what goes away with its own value. Empty where
/// nothing was put into B.
ScopeValues partsOf(const api::CompareResult& result);

/// "6.1×"; a dash where a side has no time.
QString ratioText(double a, double b);

}  // namespace orrery::ui
