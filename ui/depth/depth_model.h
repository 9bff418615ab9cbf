// The depths of a run as a table: what a token takes at each and what the context does, side by side; then
// those that wait.
#pragma once

#include <QAbstractTableModel>
#include <QPointer>

#include "ui/session/depth_controller.h"

namespace orrery::ui {

class DepthModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { tokensColumn, timeColumn, timeBesideColumn, bytesColumn, bytesBesideColumn, kColumns };
  /// Whether the cell is of what is being read now.
  static constexpr int kLiveRole = Qt::UserRole;

  explicit DepthModel(const DepthController* depths, QObject* parent = nullptr);

  /// Another run is shown.
  void reset();
  /// It has gone on.
  void refresh();
  /// All that is known of a depth, of each side a line.
  QString tip(int row) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  const api::BenchResult::Depth* at(int row, size_t side) const;  // null: not measured
  bool isLive(int row, size_t side) const;
  QString text(int row, int column) const;

  QPointer<const DepthController> depths_;  // goes before the window does
};

}  // namespace orrery::ui
