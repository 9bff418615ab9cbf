// How two models differ, as a table: a row for each node. The difference of a weight or another source stands
// at the node that reads it.
#pragma once

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>

#include "ui/session/diff_controller.h"
#include "ui/session/scope_values.h"

namespace orrery::ui {

class DiffModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  using Kind = api::NodeChange::Kind;
  enum Column { nodeColumn, whatColumn, distanceColumn, aColumn, bColumn, kColumns };
  static constexpr int kHeatRole = Qt::UserRole;  // of a distance: its place on the scale, 0 to 1
  static constexpr int kKindRole = Qt::UserRole + 1;
  static constexpr int kSortRole = Qt::UserRole + 2;

  explicit DiffModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}
  /// Null: nothing.
  void show(DifferencesPtr found);
  QString pathAt(int row) const { return QString::fromStdString(rows_[static_cast<size_t>(row)].path); }
  /// -1: it is not there.
  int rowAt(const QString& path) const;
  size_t count(Kind kind) const;
  /// How far the weights are apart, by the paths of their readers.
  const ScopeValues& values() const { return values_; }
  /// A line of names, then one a row.
  QByteArray csv() const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  struct Row {
    Kind kind = Kind::changed;
    std::string path, op;
    QStringList what = {};
    std::optional<double> distance = {};  // the largest of the weights that it reads
    double aUs = 0, bUs = 0;
    QStringList weights = {};  // of the tip
    size_t rank = SIZE_MAX;    // of its first difference, in the order of the graphs
  };
  Row& rowOf(const std::string& path, Kind kind, const std::string& op);
  void addGraph();
  void sortByGraph();
  void addWeights();
  void addTimes();
  QString text(const Row& row, int column) const;
  QVariant sortKey(const Row& row, int column) const;

  DifferencesPtr found_;
  std::vector<Row> rows_;
  std::unordered_map<std::string, size_t> places_;
  ScopeValues values_;
};

/// The rows of one kind, or of all, whose path or difference has a text in it.
class DiffFilter : public QSortFilterProxyModel {
  Q_OBJECT
 public:
  explicit DiffFilter(DiffModel* rows, QObject* parent = nullptr);
  void setKind(std::optional<DiffModel::Kind> kind);
  void setText(const QString& text);

 protected:
  bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

 private:
  std::optional<DiffModel::Kind> kind_;
  QString text_;
};

}  // namespace orrery::ui
