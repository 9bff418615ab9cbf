#include "ui/values/array_model.h"

#include <algorithm>
#include <cmath>

#include "engine/api/array_text.h"
#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

constexpr int kDigits = 6;

}  // namespace

QString elementText(DType dtype, double number) {
  if (dtype == DType::boolean) return number != 0 ? QStringLiteral("true") : QStringLiteral("false");
  if (std::isnan(number)) return QStringLiteral("NaN");
  if (std::isinf(number)) return number > 0 ? QStringLiteral("inf") : QStringLiteral("-inf");
  const bool small = std::abs(number) < 1e15 && number == std::floor(number);
  return small ? format::count(static_cast<qint64>(number)) : format::number(number, kDigits);
}

void ArrayModel::setArray(const api::Array& array) {
  beginResetModel();
  if (array.shape != array_.shape) place_.assign(array.shape.size(), 0);
  array_ = array;
  endResetModel();
}

int64_t ArrayModel::rows() const {
  const size_t rank = array_.shape.size();
  return !array_.data ? 0 : rank < 2 ? 1 : array_.shape[rank - 2];
}

int64_t ArrayModel::columns() const {
  return !array_.data ? 0 : array_.shape.empty() ? 1 : array_.shape.back();
}

int64_t ArrayModel::last(size_t dim) const {
  const size_t rank = array_.shape.size();
  const int64_t size = array_.shape[dim];
  const int64_t shown = dim + 1 == rank ? kMostColumns : dim + 2 == rank ? kMostRows : 1;
  return std::max<int64_t>(size - shown, 0);
}

void ArrayModel::setPlace(size_t dim, int64_t place) {
  if (dim >= place_.size()) return;
  beginResetModel();
  place_[dim] = std::clamp<int64_t>(place, 0, last(dim));
  endResetModel();
}

int ArrayModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(std::min(rows(), kMostRows));
}

int ArrayModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(std::min(columns(), kMostColumns));
}

QVariant ArrayModel::data(const QModelIndex& index, int role) const {
  if (role == Qt::TextAlignmentRole)
    return QVariant::fromValue(Qt::Alignment(Qt::AlignRight | Qt::AlignVCenter));
  if (role != Qt::DisplayRole) return {};
  const size_t rank = array_.shape.size();
  int64_t element = 0;
  for (size_t dim = 0; dim < rank; ++dim) {
    const int64_t within = dim + 1 == rank ? index.column() : dim + 2 == rank ? index.row() : 0;
    element = element * array_.shape[dim] + place_[dim] + within;
  }
  return elementText(array_.dtype, api::number_at(array_, element));
}

QVariant ArrayModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (role != Qt::DisplayRole) return {};
  const size_t rank = array_.shape.size(), back = orientation == Qt::Horizontal ? 1 : 2;
  return static_cast<qlonglong>(section + (rank >= back ? place_[rank - back] : 0));
}

}  // namespace orrery::ui
