#include "ui/models/outline_model.h"

#include <cmath>
#include <limits>

#include "ui/graph/geometry.h"
#include "ui/graph/place_model.h"
#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

const Bindings kStep = {{kTokens, 1}, {kSequences, 1}, {kOutputs, 1}};

/// One row: the root, a scope, a stack of layers, or a node.
struct Row {
  enum class Kind : uint8_t { scope, stack, node };
  Kind kind = Kind::scope;
  int parent = -1, place = 0;  // row of the parent, place among its children
  int first = 0, last = 0;     // groups; of a node its position
  Span span;
  std::vector<int> children;
};

}  // namespace

class OutlineModel::Private {
 public:
  int add(int parent, Row row) {
    const int index = static_cast<int>(rows.size());
    row.parent = parent;
    if (parent >= 0) {
      row.place = static_cast<int>(rows[at(parent)].children.size());
      rows[at(parent)].children.push_back(index);
    }
    rows.push_back(std::move(row));
    return index;
  }

  void addGroup(int row, int group) {
    rowOfGroup[group] = row;
    const std::vector<SceneChild>& children = scene->groups[at(group)].children;
    for (size_t i = 0; i < children.size();) {
      if (!children[i].isGroup) {
        const int node = children[i++].index;
        rowOfNode[node] = add(row, {Row::Kind::node, 0, 0, node, node, {node, node + 1}, {}});
        continue;
      }
      size_t last = i;
      while (last + 1 < children.size() && continues(children[last], children[last + 1])) ++last;
      int holder = row;
      if (last > i) {
        const int a = children[i].index, b = children[last].index;
        holder = add(
            row, {Row::Kind::stack, 0, 0, a, b, {scene->groups[at(a)].begin, scene->groups[at(b)].end}, {}});
      }
      for (; i <= last; ++i) addScope(holder, children[i].index);
    }
  }

  void addScope(int parent, int group) {
    const SceneGroup& g = scene->groups[at(group)];
    addGroup(add(parent, {Row::Kind::scope, 0, 0, group, group, {g.begin, g.end}, {}}), group);
  }

  bool continues(const SceneChild& a, const SceneChild& b) const {
    return a.isGroup && b.isGroup && layersStack(scene->groups[at(a.index)], scene->groups[at(b.index)]);
  }

  QString nameOf(const Row& row) const {
    if (row.kind == Row::Kind::node) return QString::fromStdString(scene->nodes[at(row.first)].name);
    if (row.first == 0) return name.isEmpty() ? QStringLiteral("graph") : name;
    return QString::fromStdString(foldedName(scene->groups[at(row.first)], scene->groups[at(row.last)]));
  }

  QString scopeOf(const Row& row) const {
    switch (row.kind) {
      case Row::Kind::node:
        return QString::fromStdString(scene->groups[at(scene->nodes[at(row.first)].group)].path);
      case Row::Kind::scope:
        return QString::fromStdString(scene->groups[at(row.first)].path);
      case Row::Kind::stack:
        return QString::fromStdString(stackScope(scene->groups[at(row.first)], scene->groups[at(row.last)]));
    }
    return {};
  }

  QString text(const Row& row, int column) const {
    switch (column) {
      case nameColumn:
        return nameOf(row);
      case timeColumn:
        return heat.timeText(row.span);
      case otherColumn:
        return sides ? format::time(heat.otherUs(row.span), heat.estimated(row.span)) : QString();
      default:
        return sides ? heat.text(row.span) : format::percent(shareOf(row));
    }
  }

  double shareOf(const Row& row) const {
    const double whole = row.parent < 0 ? heat.us(row.span) : heat.us(rows[at(row.parent)].span);
    return whole > 0 ? heat.us(row.span) / whole : std::numeric_limits<double>::quiet_NaN();
  }

  bool edited(const Row& row) const {
    for (int i = row.span.begin; i < row.span.end; ++i)
      if (editedNodes.contains(scene->nodes[at(i)].id)) return true;
    return false;
  }

  QString pathOf(const Row& row) const {
    return row.kind == Row::Kind::node ? QString::fromStdString(scene->nodes[at(row.first)].path)
                                       : scopeOf(row);
  }

  QString tipOf(const Row& row) const {
    QString tip = pathOf(row);
    if (const QString device = places.tag(row.span); !device.isEmpty())
      tip += QStringLiteral("\n") + OutlineModel::tr("runs on: %1").arg(device);
    if (const NodePlace* place = row.kind == Row::Kind::node ? places.fellBack(row.first) : nullptr)
      tip += QStringLiteral("\n") + OutlineModel::tr("asked for %1: %2").arg(place->asked, place->reason);
    else if (const int count = places.fellBack(row.span))
      tip += QStringLiteral("\n") + OutlineModel::tr("%1 not where asked").arg(format::count(count));
    return tip;
  }

  bool bypassed(const Row& row) const {
    if (row.kind == Row::Kind::node) return !scene->nodes[at(row.first)].live;
    return !scene->groups[at(row.first)].live;
  }

  std::shared_ptr<const SceneGraph> scene;
  QString name;
  std::unordered_set<NodeId> editedNodes;
  std::optional<SideLooks> sides;
  HeatModel heat;
  PlaceModel places;
  std::vector<Row> rows;  // 0 is the root
  std::unordered_map<int, int> rowOfGroup, rowOfNode;
};

OutlineModel::OutlineModel(QObject* parent) : QAbstractItemModel(parent), d_(std::make_unique<Private>()) {}

OutlineModel::~OutlineModel() = default;

void OutlineModel::setGraph(graph::GraphVersion graph, std::unordered_set<NodeId> edited,
                            const QString& name) {
  beginResetModel();
  d_->rows.clear();
  d_->rowOfGroup.clear();
  d_->rowOfNode.clear();
  d_->name = name;
  d_->editedNodes = std::move(edited);
  d_->scene = graph ? makeScene(std::move(graph), kStep, {}) : nullptr;
  d_->heat.setScene(d_->scene);
  d_->places.setScene(d_->scene, kStep);
  if (d_->scene) d_->addScope(-1, 0);
  endResetModel();
}

void OutlineModel::setTimings(Figures figures) {
  d_->heat.setFigures(std::move(figures));
  tellChanged(timeColumn, shareColumn);
}

void OutlineModel::setPlaces(Places places) {
  d_->places.setPlaces(std::move(places));
  tellChanged(nameColumn, nameColumn);
}

void OutlineModel::tellChanged(Column first, Column last) {
  if (d_->rows.empty()) return;
  emit dataChanged(index(0, first), index(0, last));
  for (const Row& row : d_->rows)
    if (!row.children.empty())
      emit dataChanged(createIndex(0, first, static_cast<quintptr>(row.children.front())),
                       createIndex(static_cast<int>(row.children.size()) - 1, last,
                                   static_cast<quintptr>(row.children.back())));
}

void OutlineModel::setSides(const std::optional<SideLooks>& sides) {
  if (sides == d_->sides) return;
  d_->sides = sides;
  d_->heat.setFigures({});
  d_->heat.setMode(sides ? HeatMode::ratio : HeatMode::time);
  if (sides) d_->heat.setSides(*sides);
  emit headerDataChanged(Qt::Horizontal, 0, columns - 1);
}

bool OutlineModel::compared() const { return d_->sides.has_value(); }

QModelIndex OutlineModel::indexOf(NodeId node) const {
  const SceneNode* found = d_->scene ? d_->scene->find(node) : nullptr;
  if (!found) return {};
  const int row = d_->rowOfNode.at(found->position);
  return createIndex(d_->rows[at(row)].place, 0, static_cast<quintptr>(row));
}

QModelIndex OutlineModel::indexOfScope(const QString& scope) const {
  for (size_t i = 0; i < d_->rows.size(); ++i)
    if (d_->rows[i].kind != Row::Kind::node && d_->scopeOf(d_->rows[i]) == scope)
      return createIndex(d_->rows[i].place, 0, static_cast<quintptr>(i));
  return {};
}

QModelIndex OutlineModel::index(int row, int column, const QModelIndex& parent) const {
  if (column < 0 || column >= columns || row < 0 || d_->rows.empty() || parent.column() > 0) return {};
  if (!parent.isValid()) return row == 0 ? createIndex(0, column, quintptr{0}) : QModelIndex();
  const std::vector<int>& children = d_->rows[parent.internalId()].children;
  return at(row) < children.size() ? createIndex(row, column, static_cast<quintptr>(children[at(row)]))
                                   : QModelIndex();
}

QModelIndex OutlineModel::parent(const QModelIndex& child) const {
  if (!child.isValid()) return {};
  const int parent = d_->rows[child.internalId()].parent;
  return parent < 0 ? QModelIndex()
                    : createIndex(d_->rows[at(parent)].place, 0, static_cast<quintptr>(parent));
}

int OutlineModel::rowCount(const QModelIndex& parent) const {
  if (parent.column() > 0) return 0;
  if (!parent.isValid()) return d_->rows.empty() ? 0 : 1;
  return static_cast<int>(d_->rows[parent.internalId()].children.size());
}

int OutlineModel::columnCount(const QModelIndex&) const { return columns; }

QVariant OutlineModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Private& d = *d_;
  const Row& row = d.rows[index.internalId()];
  const bool node = row.kind == Row::Kind::node;
  switch (role) {
    case Qt::DisplayRole:
      return d.text(row, index.column());
    case Qt::ToolTipRole:
      return d.tipOf(row);
    case Qt::TextAlignmentRole:
      return index.column() == nameColumn ? QVariant() : QVariant(Qt::AlignRight | Qt::AlignVCenter);
    case nodeRole:
      return node ? d.scene->nodes[at(row.first)].id.value : 0U;
    case scopeRole:
      return d.scopeOf(row);
    case pathRole:
      return d.pathOf(row);
    case usRole:
      return d.heat.us(row.span);
    case briefRole:
      return index.column() == otherColumn
                 ? format::timeBrief(d.heat.otherUs(row.span), d.heat.estimated(row.span))
                 : d.heat.timeText(row.span, true);
    case shareRole:
      return d.shareOf(row);
    case familyRole:
      return node ? static_cast<int>(d.scene->nodes[at(row.first)].family) : -1;
    case fusedRole:
      return node ? d.scene->nodes[at(row.first)].fused : 0;
    case editedRole:
      return d.edited(row);
    case bypassedRole:
      return d.bypassed(row);
    case ratioRole:
      return d.sides.has_value();
    case heatRole:
      return d.heat.heat(row.span, row.kind == Row::Kind::stack ? static_cast<int>(row.children.size()) : 1);
    case deviceRole:
      return static_cast<int>(d.places.mark(row.span));
    case fellBackRole:
      return d.places.fellBack(row.span) > 0;
    default:
      return {};
  }
}

QVariant OutlineModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole && section != nameColumn)
    return QVariant(Qt::AlignRight | Qt::AlignVCenter);
  const bool side = d_->sides && (section == timeColumn || section == otherColumn);
  const SideLook look = side ? (*d_->sides)[section == otherColumn ? 1 : 0] : SideLook{};
  if (role == sideRole) return side ? QVariant::fromValue(look) : QVariant();
  if (role == briefRole)
    return side                     ? (section == otherColumn ? tr("B") : tr("A"))
           : section == shareColumn ? tr("share")
                                    : QString();
  if (role == Qt::ToolTipRole && side) return tr("Time on ") + look.name;
  if (role != Qt::DisplayRole) return {};
  switch (section) {
    case nameColumn:
      return tr("scope");
    case timeColumn:
    case otherColumn:
      return side ? look.name : section == timeColumn ? tr("time") : QString();
    case shareColumn:
      return d_->sides ? tr("A : B") : tr("of parent");
    default:
      return {};
  }
}

}  // namespace orrery::ui
