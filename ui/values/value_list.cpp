#include "ui/values/value_list.h"

#include <algorithm>

#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

QString cellText(const ShownArray& value, int column) {
  const api::Statistics& of = value.statistics;
  const bool none = of.elements == of.nan + of.infinite;
  switch (column) {
    case ValueList::nameColumn:
      return value.path;
    case ValueList::typeColumn:
      return QString::fromStdString(to_string(value.array.type()));
    case ValueList::leastColumn:
      return none ? format::dash() : format::number(of.least);
    case ValueList::mostColumn:
      return none ? format::dash() : format::number(of.most);
    case ValueList::meanColumn:
      return none ? format::dash() : format::number(of.mean);
    default:
      return of.nan > 0 ? format::count(of.nan) : QString();
  }
}

}  // namespace

void ValueList::setResult(const GraphResultPtr& result) {
  beginResetModel();
  result_ = result;
  endResetModel();
}

int ValueList::rowOf(ValueId value) const {
  if (!result_) return -1;
  const auto found = std::find(result_->order.begin(), result_->order.end(), value);
  return found == result_->order.end() ? -1 : static_cast<int>(found - result_->order.begin());
}

int ValueList::rowCount(const QModelIndex& parent) const {
  return parent.isValid() || !result_ ? 0 : static_cast<int>(result_->order.size());
}

int ValueList::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : kColumns; }

QVariant ValueList::data(const QModelIndex& index, int role) const {
  if (role == Qt::DisplayRole) return cellText(result_->values.at(valueAt(index.row())), index.column());
  if (role == Qt::ToolTipRole && index.column() == nameColumn)
    return static_cast<size_t>(index.row()) < result_->outputs ? QStringLiteral("An output of the graph")
                                                               : QVariant();
  if (role == Qt::TextAlignmentRole && index.column() >= leastColumn && index.column() <= nanColumn)
    return QVariant::fromValue(Qt::Alignment(Qt::AlignRight | Qt::AlignVCenter));
  return {};
}

QVariant ValueList::headerData(int section, Qt::Orientation orientation, int role) const {
  static const QStringList kTitles{"Value", "Least", "Most", "Mean", "NaN", "Type"};
  return orientation == Qt::Horizontal && role == Qt::DisplayRole ? kTitles[section] : QVariant();
}

}  // namespace orrery::ui
