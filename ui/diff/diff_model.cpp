#include "ui/diff/diff_model.h"

#include <algorithm>

#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

QString fromStd(const std::string& words) { return QString::fromStdString(words); }

/// The node whose row shows a difference: of a source the first one that reads it.
const graph::Node* toldAt(const graph::Graph& graph, const std::string& path) {
  const graph::Node* node = graph.find(graph.find_path(path));
  if (!node || !node->is_source() || node->outputs.empty()) return node;
  const std::vector<graph::Use> users = graph.users(node->outputs.front());
  return users.empty() ? node : &graph.node(users.front().node);
}

/// "weight" of "layers.3.mlp.down_proj.weight".
QString lastPart(const std::string& path) { return fromStd(path).section('.', -1); }

QString orNone(const std::string& words) { return words.empty() ? QStringLiteral("none") : fromStd(words); }

QString quoted(QString cell) {
  if (!cell.contains(',') && !cell.contains('"') && !cell.contains('\n')) return cell;
  return '"' + cell.replace("\"", "\"\"") + '"';
}

}  // namespace

DiffModel::Row& DiffModel::rowOf(const std::string& path, Kind kind, const std::string& op) {
  const auto [place, isNew] = places_.try_emplace(path, rows_.size());
  if (isNew) rows_.push_back({kind, path, op, {}, {}});
  return rows_[place->second];
}

void DiffModel::show(DifferencesPtr found) {
  beginResetModel();
  found_ = std::move(found);
  rows_.clear();
  places_.clear();
  values_ = ScopeValues(QStringLiteral("Weight distance"));
  if (found_) {
    addGraph();
    sortByGraph();
    addWeights();
    addTimes();
  }
  endResetModel();
}

/// Nodes first, so that the weights of an added or removed one stand with it.
void DiffModel::addGraph() {
  const auto graphOf = [this](Kind kind) -> const graph::Graph& {
    return kind == Kind::removed ? *found_->a : *found_->b;
  };
  const auto add = [this](const api::NodeDifference& node, const graph::Node& at, size_t rank) {
    Row& row = rowOf(at.path(), at.path() == node.path ? node.kind : Kind::changed, std::string(at.op->name));
    row.rank = std::min(row.rank, rank);
    const QString source = at.path() == node.path ? QString() : lastPart(node.path) + ' ';
    for (const api::NodeDifference::What& what : node.what)
      row.what += QString("%1%2: %3 → %4").arg(source, fromStd(what.what), orNone(what.a), orNone(what.b));
    if (node.what.empty() && !source.isEmpty() && row.kind == Kind::changed)
      row.what += source + (node.kind == Kind::added ? QStringLiteral("added") : QStringLiteral("removed"));
  };
  for (const bool sources : {false, true})
    for (size_t i = 0; i < found_->graph.nodes.size(); ++i) {
      const api::NodeDifference& node = found_->graph.nodes[i];
      const graph::Graph& graph = graphOf(node.kind);
      const graph::Node* own = graph.find(graph.find_path(node.path));
      const graph::Node* at = toldAt(graph, node.path);
      if (own && at && own->is_source() == sources) add(node, *at, i);
    }
}

void DiffModel::sortByGraph() {
  std::ranges::stable_sort(rows_, {}, &Row::rank);
  for (size_t i = 0; i < rows_.size(); ++i) places_[rows_[i].path] = i;
}

void DiffModel::addWeights() {
  if (!found_->weights) return;
  for (const api::WeightDistance& weight : found_->weights->weights) {
    if (weight.readers.empty() || (weight.refusal.empty() && weight.max_abs == 0)) continue;
    for (const std::string& reader : weight.readers) {
      const graph::Node* node = found_->b->find(found_->b->find_path(reader));
      if (!node) continue;
      Row& row = rowOf(reader, Kind::changed, std::string(node->op->name));
      if (!weight.refusal.empty()) {
        row.weights += QString("%1: %2").arg(fromStd(weight.path), fromStd(weight.refusal));
        continue;
      }
      if (row.what.isEmpty()) row.what += "values of " + lastPart(weight.path);
      row.distance = std::max(row.distance.value_or(0), weight.relative);
      row.weights +=
          QString("%1: cosine %2, max abs %3, %4 and %5")
              .arg(fromStd(weight.path), QString::number(weight.cosine, 'f', 6),
                   format::distance(weight.max_abs), format::bytes(static_cast<double>(weight.a.bytes)),
                   format::bytes(static_cast<double>(weight.b.bytes)));
      values_.add(reader, weight.relative);
    }
  }
}

void DiffModel::addTimes() {
  if (!found_->times) return;
  for (const api::NodeComparison& node : found_->times->nodes)
    if (const auto place = places_.find(node.node); place != places_.end()) {
      rows_[place->second].aUs = node.a_us;
      rows_[place->second].bUs = node.b_us;
    }
}

int DiffModel::rowAt(const QString& path) const {
  const auto found = places_.find(path.toStdString());
  return found == places_.end() ? -1 : static_cast<int>(found->second);
}

size_t DiffModel::count(Kind kind) const {
  return static_cast<size_t>(std::ranges::count(rows_, kind, &Row::kind));
}

int DiffModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int DiffModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : kColumns; }

QString DiffModel::text(const Row& row, int column) const {
  const auto timeText = [this](double us) {
    return us > 0 ? format::time(us) : found_->times ? format::dash() : QString();
  };
  switch (column) {
    case nodeColumn:
      return fromStd(row.path);
    case whatColumn:
      return row.what.isEmpty() ? fromStd(row.op) : row.what.join("; ");
    case distanceColumn:
      return row.distance ? format::distance(*row.distance) : QString();
    case aColumn:
      return timeText(row.aUs);
    case bColumn:
      return timeText(row.bUs);
  }
  return {};
}

QVariant DiffModel::sortKey(const Row& row, int column) const {
  switch (column) {
    case distanceColumn:
      return row.distance.value_or(-1);
    case aColumn:
      return row.aUs;
    case bColumn:
      return row.bUs;
    case nodeColumn:
      return static_cast<int>(&row - rows_.data());  // of the graph
    default:
      return text(row, column);
  }
}

QVariant DiffModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Row& row = rows_[static_cast<size_t>(index.row())];
  switch (role) {
    case Qt::DisplayRole:
      return text(row, index.column());
    case Qt::ToolTipRole:
      return (QStringList(fromStd(row.path)) + row.what + row.weights).join('\n');
    case Qt::TextAlignmentRole:
      return static_cast<int>((index.column() < distanceColumn ? Qt::AlignLeft : Qt::AlignRight) |
                              Qt::AlignVCenter);
    case kKindRole:
      return static_cast<int>(row.kind);
    case kSortRole:
      return sortKey(row, index.column());
    case kHeatRole:
      return row.distance ? QVariant(values_.place(*row.distance)) : QVariant();
    default:
      return {};
  }
}

QVariant DiffModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  static constexpr const char* kNames[] = {"node", "what differs", "weights", "A", "B"};
  return section >= 0 && section < kColumns ? QVariant(kNames[section]) : QVariant();
}

QByteArray DiffModel::csv() const {
  static constexpr const char* kKinds[] = {"added", "removed", "changed"};
  QString lines = "kind,node,op,what,weight_distance,a_us,b_us\n";
  for (const Row& row : rows_)
    lines += QString("%1,%2,%3,%4,%5,%6,%7\n")
                 .arg(kKinds[static_cast<size_t>(row.kind)], quoted(fromStd(row.path)), fromStd(row.op),
                      quoted(row.what.join("; ")),
                      row.distance ? QString::number(*row.distance, 'g', 9) : QString(),
                      row.aUs > 0 ? QString::number(row.aUs) : QString(),
                      row.bUs > 0 ? QString::number(row.bUs) : QString());
  return lines.toUtf8();
}

DiffFilter::DiffFilter(DiffModel* rows, QObject* parent) : QSortFilterProxyModel(parent) {
  setSourceModel(rows);
  setSortRole(DiffModel::kSortRole);
}

void DiffFilter::setKind(std::optional<DiffModel::Kind> kind) {
  kind_ = kind;
  invalidateFilter();
}

void DiffFilter::setText(const QString& text) {
  text_ = text.trimmed();
  invalidateFilter();
}

bool DiffFilter::filterAcceptsRow(int row, const QModelIndex& parent) const {
  const auto cell = [&](int column) { return sourceModel()->index(row, column, parent); };
  if (kind_ && cell(0).data(DiffModel::kKindRole).toInt() != static_cast<int>(*kind_)) return false;
  return text_.isEmpty() ||
         cell(DiffModel::nodeColumn).data().toString().contains(text_, Qt::CaseInsensitive) ||
         cell(DiffModel::whatColumn).data().toString().contains(text_, Qt::CaseInsensitive);
}

}  // namespace orrery::ui
