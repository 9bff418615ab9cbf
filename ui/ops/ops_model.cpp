#include "ui/ops/ops_model.h"

#include <QMimeData>
#include <algorithm>

#include "ui/graph/op_fit.h"
#include "ui/graph/op_mime.h"
#include "ui/theme/icons.h"

namespace orrery::ui {
namespace {

// As the families stand in the list.
constexpr graph::OpFamily kOrder[] = {
    graph::OpFamily::attention,   graph::OpFamily::linear,        graph::OpFamily::norm,
    graph::OpFamily::elementwise, graph::OpFamily::activation,    graph::OpFamily::embedding,
    graph::OpFamily::sampling,    graph::OpFamily::data_movement, graph::OpFamily::custom};

/// An op's index holds the place of its family and one more; a family's 0.
constexpr quintptr kFamily = 0;

bool holds(const QString& name, const QString& doc, graph::OpFamily family, const QString& typed) {
  const QStringList words = typed.split(' ', Qt::SkipEmptyParts);
  return std::all_of(words.begin(), words.end(), [&](const QString& word) {
    return name.contains(word, Qt::CaseInsensitive) || doc.contains(word, Qt::CaseInsensitive) ||
           familyName(family).contains(word, Qt::CaseInsensitive);
  });
}

}  // namespace

void OpsModel::setOps(const std::vector<graph::OpPtr>& ops) {
  all_.clear();
  for (const graph::OpFamily family : kOrder) {
    Family own{family, {}};
    for (const graph::OpPtr& op : ops) {
      if (op->family != family || !isOffered(*op)) continue;
      const QString doc = QString::fromStdString(op->doc);
      QString help = doc.section(". ", 0, 0);
      if (help.endsWith('.')) help.chop(1);
      own.ops.push_back({QString::fromStdString(op->name), help, doc});
    }
    if (!own.ops.empty()) all_.push_back(std::move(own));
  }
  narrow();
}

void OpsModel::setWords(const QString& typed) {
  typed_ = typed;
  narrow();
}

void OpsModel::narrow() {
  beginResetModel();
  shown_.clear();
  for (const Family& family : all_) {
    Family kept{family.family, {}};
    for (const Op& op : family.ops)
      if (holds(op.name, op.doc, family.family, typed_)) kept.ops.push_back(op);
    if (!kept.ops.empty()) shown_.push_back(std::move(kept));
  }
  endResetModel();
}

int OpsModel::count() const {
  int count = 0;
  for (const Family& family : all_) count += static_cast<int>(family.ops.size());
  return count;
}

QModelIndex OpsModel::index(int row, int column, const QModelIndex& parent) const {
  if (!hasIndex(row, column, parent)) return {};
  return createIndex(row, column, parent.isValid() ? static_cast<quintptr>(parent.row()) + 1 : kFamily);
}

QModelIndex OpsModel::parent(const QModelIndex& index) const {
  if (!index.isValid() || index.internalId() == kFamily) return {};
  return createIndex(static_cast<int>(index.internalId()) - 1, 0, kFamily);
}

int OpsModel::rowCount(const QModelIndex& parent) const {
  if (!parent.isValid()) return static_cast<int>(shown_.size());
  if (parent.internalId() != kFamily || parent.column() > 0) return 0;
  return static_cast<int>(shown_[static_cast<size_t>(parent.row())].ops.size());
}

QVariant OpsModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const bool isFamily = index.internalId() == kFamily;
  const Family& family =
      shown_[static_cast<size_t>(isFamily ? index.row() : static_cast<int>(index.internalId()) - 1)];
  if (role == familyRole) return static_cast<int>(family.family);
  if (isFamily) {
    if (role == Qt::DisplayRole) return familyName(family.family);
    if (role == helpRole) return QString::number(family.ops.size());
    return {};
  }
  const Op& op = family.ops[static_cast<size_t>(index.row())];
  if (role == Qt::DisplayRole || role == opRole) return op.name;
  if (role == helpRole) return op.help;
  if (role == Qt::ToolTipRole) return op.name + '\n' + op.doc;
  return {};
}

Qt::ItemFlags OpsModel::flags(const QModelIndex& index) const {
  Qt::ItemFlags flags = QAbstractItemModel::flags(index);
  if (index.isValid() && index.internalId() != kFamily)
    flags |= Qt::ItemIsDragEnabled | Qt::ItemNeverHasChildren;
  return flags;
}

QStringList OpsModel::mimeTypes() const { return {kOpMime}; }

QMimeData* OpsModel::mimeData(const QModelIndexList& indexes) const {
  return indexes.isEmpty() ? nullptr : mimeOfOp(indexes.front().data(opRole).toString());
}

}  // namespace orrery::ui
