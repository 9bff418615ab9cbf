// The elements of an array as a table: its last two dims, at a place in the others. Only what is seen is
// read; of very long dims a part is shown, from a place that can be chosen.
#pragma once

#include <QAbstractTableModel>

#include "engine/api/array.h"

namespace orrery::ui {

class ArrayModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  /// Rows and columns that are shown at once.
  static constexpr int64_t kMostRows = 20'000, kMostColumns = 512;
  using QAbstractTableModel::QAbstractTableModel;

  /// Of no elements: nothing is shown. The place stays where the shape does.
  void setArray(const api::Array& array);
  const api::Array& array() const { return array_; }
  /// In each of the dims: of the outer ones the slice, of the last two where the part that is shown begins.
  void setPlace(size_t dim, int64_t place);
  int64_t place(size_t dim) const { return place_[dim]; }
  /// The largest place of a dim, at 0 where all of it is shown.
  int64_t last(size_t dim) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  int64_t rows() const;
  int64_t columns() const;

  api::Array array_;
  std::vector<int64_t> place_;
};

/// As a table and a list of numbers write it: whole numbers as they are.
QString elementText(DType dtype, double number);

}  // namespace orrery::ui
