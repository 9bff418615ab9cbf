// The rows of a kernel as a table: what each takes, how near it comes to its limit, how far off it is.
#pragma once

#include <QAbstractTableModel>

#include "ui/lab/lab_rows.h"

namespace orrery::ui {

class LabModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column {
    numberColumn,
    nameColumn,
    timeColumn,
    spreadColumn,
    flopsColumn,
    bytesColumn,
    shareColumn,
    errorColumn,
    allowedColumn,
    kColumns
  };
  /// LabMark; whether the machine was busy; the share of the limit, 0 to 1; the colour of the device.
  enum Role { markRole = Qt::UserRole, busyRole, shareRole, tokenRole };

  using QAbstractTableModel::QAbstractTableModel;

  /// Keeps the chosen row where the rows are the same ones.
  void show(std::vector<LabRow> rows);
  const std::vector<LabRow>& rows() const { return rows_; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  std::vector<LabRow> rows_;
};

/// What became of a row, for a tool tip.
QString labTip(const LabRow& row);
/// The same in one paragraph, without the name.
QString labDetail(const LabRow& row);

}  // namespace orrery::ui
