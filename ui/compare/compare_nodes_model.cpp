#include "ui/compare/compare_nodes_model.h"

#include <algorithm>

#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

QString timeText(double us) { return us > 0 ? format::time(us) : format::dash(); }

QString apartText(const api::NodeComparison& node) {
  if (!node.difference) return format::dash();
  return node.difference->max_abs == 0 ? QString("0") : QString::number(node.difference->nmse, 'e', 1);
}

QString tip(const api::NodeComparison& node) {
  QString text = QString::fromStdString(node.node);
  if (node.difference)
    text += QString("\nmax abs %1, NMSE %2, cosine %3")
                .arg(node.difference->max_abs, 0, 'e', 2)
                .arg(node.difference->nmse, 0, 'e', 2)
                .arg(node.difference->cosine, 0, 'f', 7);
  if (node.gone)
    text +=
        QString("\n%1 of the difference goes away with A's value here in B").arg(format::percent(*node.gone));
  if (node.estimated) text += "\ntime estimated: shared out of a fused node";
  return text;
}

}  // namespace

QString ratioText(double a, double b) {
  return a > 0 && b > 0 ? format::number(a / b) + QStringLiteral("×") : format::dash();
}

ScopeValues partsOf(const api::CompareResult& result) {
  ScopeValues parts(QStringLiteral("Share of the difference"));
  double before = 0;
  for (const api::NodeComparison& node : result.nodes) {
    if (!node.gone) continue;
    if (!result.patched_stream) {
      parts.add(node.node, std::max(*node.gone, 0.0));
      continue;
    }
    const size_t end = node.node.rfind('.');
    parts.add(end == std::string::npos ? node.node : node.node.substr(0, end),
              std::max(*node.gone - before, 0.0));
    before = *node.gone;
  }
  return parts;
}

void CompareNodesModel::setResult(ComparePtr result) {
  beginResetModel();
  result_ = std::move(result);
  rows_.clear();
  if (result_)
    for (const api::NodeComparison& node : result_->nodes) rows_.push_back(&node);
  const bool alongStream = !result_ || result_->patched_stream;
  std::stable_sort(rows_.begin(), rows_.end(), [alongStream](const auto* a, const auto* b) {
    if (a->gone && b->gone) return !alongStream && *a->gone > *b->gone;
    if (a->gone || b->gone) return a->gone.has_value();
    return a->a_us - a->b_us > b->a_us - b->b_us;
  });
  endResetModel();
}

int CompareNodesModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int CompareNodesModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : kColumns;
}

QVariant CompareNodesModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const api::NodeComparison& node = at(index.row());
  if (role == Qt::ToolTipRole) return tip(node);
  if (role == Qt::TextAlignmentRole)
    return static_cast<int>((index.column() == nodeColumn ? Qt::AlignLeft : Qt::AlignRight) |
                            Qt::AlignVCenter);
  if (role != Qt::DisplayRole) return {};
  switch (index.column()) {
    case nodeColumn:
      return QString::fromStdString(node.node);
    case aColumn:
      return timeText(node.a_us);
    case bColumn:
      return timeText(node.b_us);
    case ratioColumn:
      return ratioText(node.a_us, node.b_us);
    case apartColumn:
      return apartText(node);
    case goneColumn:
      return node.gone ? format::percent(*node.gone) : QString();
  }
  return {};
}

QVariant CompareNodesModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  static constexpr const char* kNames[] = {"node", "A", "B", "A : B", "NMSE", "gone"};
  return section >= 0 && section < kColumns ? QVariant(kNames[section]) : QVariant();
}

}  // namespace orrery::ui
