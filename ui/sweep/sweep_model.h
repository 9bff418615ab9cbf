// The places of a sweep as a table: what was measured, the least changed first; then the one that is being
// measured, then those that wait.
#pragma once

#include <QAbstractTableModel>

#include "ui/session/scope_values.h"
#include "ui/session/sweep_controller.h"

namespace orrery::ui {

class SweepModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { placeColumn, distanceColumn, top1Column, perplexityColumn, speedColumn, kColumns };
  /// Where the distance lies on the scale, 0 to 1; none: it is not known.
  static constexpr int kHeatRole = Qt::UserRole;

  explicit SweepModel(const SweepController* sweeps, QObject* parent = nullptr);

  /// Another sweep is shown.
  void reset();
  /// It has gone on: chosen rows stay chosen.
  void refresh();

  /// Of the places, by their order in the graph.
  size_t placeAt(int row) const { return order_[static_cast<size_t>(row)]; }
  int rowOf(size_t place) const;
  /// -1: none is at that path, nor around it.
  int rowAt(std::string_view path) const;
  QString scopeAt(int row) const;
  /// How far answers are from what they were, by the paths of the places.
  const ScopeValues& values() const { return values_; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  const api::SweepRow* measured(size_t place) const;  // null: waiting
  bool isMeasuring(size_t place) const;
  void sort();
  QString text(size_t place, int column) const;
  QString tip(size_t place) const;

  const SweepController* sweeps_;
  std::vector<size_t> order_;
  ScopeValues values_;
};

/// "KL", or "1 - cos" of an encoder, with what was done: "KL, bypass".
QString distanceTitle(const api::Sweep& sweep);

}  // namespace orrery::ui
