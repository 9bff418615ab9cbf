#include "ui/graph/page_model.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "ui/graph/layer_difference.h"
#include "ui/graph/qt_values.h"
#include "ui/graph/scene_graph.h"
#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

constexpr double kNoTime = std::numeric_limits<double>::quiet_NaN();

QString tr(const char* words) { return QCoreApplication::translate("PageModel", words); }

/// "layers 5–9", "layer 5".
QString rangeName(const SceneGroup& first, const SceneGroup& last) {
  const QString stem = text(first.stem.substr(first.stem.rfind('.') + 1));
  const auto number = [](const SceneGroup& group) {
    return QString::number(group.number) + text(group.copy);
  };
  if (&first == &last) return text(first.name);
  return stem + ' ' + number(first) + QChar(0x2013) + number(last);
}

}  // namespace

void PageModel::setDrawing(const Drawing& drawing, const EditedNodes& edits) {
  drawing_ = drawing;
  edits_ = edits;
  pages_.clear();
  layers_.clear();
  shapes_.clear();
  columns_.clear();
  layerOf_.assign(drawing ? drawing.scene->groups.size() : 0, -1);
  if (drawing) collect(0, *drawing_.layout, {});
}

/// Layers of a page hold no pages.
void PageModel::collect(int holder, const GroupLayout& layout, Point origin) {
  for (const PageLayout& page : layout.pages) addPage(holder, layout, page, origin);
  for (size_t i = 0; i < layout.items.size(); ++i) {
    const Placed& placed = layout.items[i];
    if (placed.kind != Placed::Kind::open || placed.cell) continue;
    const int group = drawing_.scene->groups[at(holder)].children[at(placed.first)].index;
    collect(group, *placed.inner, innerOrigin(placed, origin));
  }
}

void PageModel::addPage(int holder, const GroupLayout& layout, const PageLayout& page, Point origin) {
  const SceneGraph& scene = *drawing_.scene;
  PagePlace place;
  place.holder = holder;
  place.layout = &layout;
  place.page = &page;
  place.origin = origin;
  place.first = static_cast<int>(layers_.size());
  place.count = static_cast<int>(page.cells.size());
  place.firstColumn = static_cast<int>(columns_.size());
  for (const PageCell& cell : page.cells) {
    PageLayer layer;
    layer.page = static_cast<int>(pages_.size());
    layer.column = cell.column;
    layer.row = cell.row;
    layer.area = layer.box = cell.area.moved(origin.x, origin.y);
    if (cell.item >= 0) {
      const Placed& placed = layout.items[at(cell.item)];
      layer.group = scene.groups[at(holder)].children[at(placed.first)].index;
      const SceneGroup& group = scene.groups[at(layer.group)];
      layer.box = placed.box.moved(origin.x, origin.y);
      layer.open = placed.kind == Placed::Kind::open;
      layer.live = group.live;
      layer.name = text(group.name);
      layerOf_[at(layer.group)] = static_cast<int>(layers_.size());
    }
    layers_.push_back(std::move(layer));
  }
  for (const PageColumn& column : page.columns)
    columns_.push_back({{column.label.x + origin.x, column.label.y + origin.y},
                        column.area.w,
                        {},
                        {},
                        place.first + column.first,
                        place.first + column.first + column.count - 1});
  pages_.push_back(place);
}

void PageModel::setFigures(const HeatModel& heat) {
  if (pages_.empty()) return;
  const SceneGraph& scene = *drawing_.scene;
  for (PageLayer& layer : layers_) {
    if (layer.group < 0) continue;
    const SceneGroup& group = scene.groups[at(layer.group)];
    const Span span{group.begin, group.end};
    layer.heat = layer.live ? heat.heat(span) : kNoTime;
    layer.us = heat.us(span);
    layer.time = heat.text(span);
    layer.brief = heat.text(span, true);
  }
  findShapes(heat);
  nameColumns(heat);
  for (PagePlace& page : pages_) findLongest(page);
}

/// Equal layers look equal: what one has no room for none has.
void PageModel::findLongest(PagePlace& page) {
  page.longestName = page.longestTime = page.longestBrief = QString();
  const auto keep = [](QString& longest, const QString& one) {
    if (one.size() > longest.size()) longest = one;
  };
  for (int i = page.first; i < page.first + page.count; ++i) {
    keep(page.longestName, layers_[at(i)].name);
    keep(page.longestTime, layers_[at(i)].time);
    keep(page.longestBrief, layers_[at(i)].brief);
  }
}

/// Alike are layers of the same ops, shapes, dtypes and kernels that the same edits touched.
void PageModel::findShapes(const HeatModel& heat) {
  const SceneGraph& scene = *drawing_.scene;
  shapes_.clear();
  std::map<std::tuple<int, uint64_t, size_t>, int> known;
  for (size_t i = 0; i < layers_.size(); ++i) {
    PageLayer& layer = layers_[i];
    if (layer.group < 0) continue;
    const SceneGroup& group = scene.groups[at(layer.group)];
    size_t seed = 0;
    layer.edited = false;
    for (int position = group.begin; position < group.end; ++position) {
      seed = qHashMulti(seed, heat.kernel(position));
      for (const auto& edit : edits_) {
        const bool edited = edit.contains(scene.nodes[at(position)].id);
        layer.edited |= edited;
        if (edited) seed = qHashMulti(seed, position - group.begin);
      }
    }
    const auto [place, fresh] =
        known.try_emplace({layer.page, group.kindHash, seed}, static_cast<int>(shapes_.size()));
    if (fresh) shapes_.emplace_back();
    layer.shape = place->second;
    shapes_[at(layer.shape)].layers.push_back(static_cast<int>(i));
  }
  std::vector<int> usual(pages_.size(), -1);
  for (size_t i = 0; i < shapes_.size(); ++i) {
    int& best = usual[at(layers_[at(shapes_[i].layers.front())].page)];
    if (best < 0 || shapes_[i].layers.size() > shapes_[at(best)].layers.size()) best = static_cast<int>(i);
  }
  for (PageShape& shape : shapes_) {
    const int best = usual[at(layers_[at(shape.layers.front())].page)];
    shape.usual = &shape == &shapes_[at(best)];
    describeShape(shape, layers_[at(shapes_[at(best)].layers.front())].group, heat);
  }
}

QString PageModel::editWord(const PageLayer& layer) const {
  const SceneGroup& group = drawing_.scene->groups[at(layer.group)];
  const auto touches = [&](const std::unordered_set<NodeId>& edit) {
    for (int position = group.begin; position < group.end; ++position)
      if (edit.contains(drawing_.scene->nodes[at(position)].id)) return true;
    return false;
  };
  const auto count = std::count_if(edits_.begin(), edits_.end(), touches);
  return format::counted(count, QStringLiteral("edit"));
}

void PageModel::describeShape(PageShape& shape, int usual, const HeatModel& heat) {
  const SceneGraph& scene = *drawing_.scene;
  const PageLayer& first = layers_[at(shape.layers.front())];
  const SceneGroup& group = scene.groups[at(first.group)];
  shape.edited = first.edited;
  shape.type = text(mainType(scene, first.group));
  const auto count = static_cast<size_t>(group.nodeCount());
  shape.nodeWords.assign(count, {});
  shape.medians.assign(count, kNoTime);
  std::vector<double> values(shape.layers.size());
  for (size_t node = 0; node < count; ++node) {
    for (size_t i = 0; i < values.size(); ++i) {
      const int position =
          scene.groups[at(layers_[at(shape.layers[i])].group)].begin + static_cast<int>(node);
      values[i] = heat.heat({position, position + 1});
    }
    if (std::any_of(values.begin(), values.end(), [](double v) { return std::isnan(v); })) continue;
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                     values.end());
    shape.medians[node] = values[values.size() / 2];
  }
  if (!shape.usual) {
    const LayerDifference difference = layerDifference(
        scene, usual, first.group, [&heat](int position) { return heat.kernel(position).toStdString(); });
    for (const auto& [position, word] : difference.nodes)
      shape.nodeWords[at(position - group.begin)] = text(word);
    shape.word = !group.live ? tr("bypassed") : shape.edited ? editWord(first) : text(difference.word);
    shape.where = text(difference.where);
  }
  for (const int layer : shape.layers) layers_[at(layer)].word = shape.word;
}

void PageModel::nameColumns(const HeatModel& heat) {
  const SceneGraph& scene = *drawing_.scene;
  for (PageColumnHead& column : columns_) {
    const SceneGroup *first = nullptr, *last = nullptr;
    double us = 0;
    int nodes = 0;
    for (int i = column.first; i <= column.last; ++i) {
      const PageLayer& layer = layers_[at(i)];
      if (layer.group < 0) continue;
      last = &scene.groups[at(layer.group)];
      if (!first) first = last;
      us += std::isfinite(layer.us) ? layer.us : 0;
      nodes += last->nodeCount();
    }
    column.name = first ? rangeName(*first, *last) : QString();
    const bool inOneSpan = first && last->end - first->begin == nodes;  // as long as none was moved there
    column.time = inOneSpan ? heat.text({first->begin, last->end}) : us > 0 ? format::time(us) : QString();
  }
}

std::shared_ptr<const GroupLayout> PageModel::innerOf(const PageLayer& layer) const {
  if (layer.group < 0 || !layer.open) return nullptr;
  const GroupLayout& around = *pages_[at(layer.page)].layout;
  return around.items[at(around.itemOf[at(drawing_.scene->groups[at(layer.group)].child)])].inner;
}

int PageModel::layerOf(int group) const {
  return group >= 0 && at(group) < layerOf_.size() ? layerOf_[at(group)] : -1;
}

int PageModel::layerAround(int group) const {
  for (; !pages_.empty() && group >= 0; group = drawing_.scene->groups[at(group)].parent)
    if (const int layer = layerOf(group); layer >= 0) return layer;
  return -1;
}

int PageModel::layerOfNode(int position) const {
  return pages_.empty() || position < 0 ? -1 : layerAround(drawing_.scene->nodes[at(position)].group);
}

int PageModel::layerAt(Point point) const {
  for (size_t i = 0; i < layers_.size(); ++i)
    if (layers_[i].group >= 0 && layers_[i].box.contains(point)) return static_cast<int>(i);
  return -1;
}

int PageModel::neighbour(int layer, int step, int columns) const {
  if (layer < 0) return -1;
  const PageLayer& from = layers_[at(layer)];
  int next = layer;
  if (columns != 0) {
    next = -1;
    int nearest = std::numeric_limits<int>::max();
    for (size_t i = 0; i < layers_.size(); ++i) {
      const PageLayer& other = layers_[i];
      if (other.group < 0 || other.page != from.page || other.column != from.column + columns) continue;
      const int away = std::abs(other.row - from.row);
      if (away >= nearest) continue;
      nearest = away;
      next = static_cast<int>(i);
    }
    return next;
  }
  do next += step;
  while (next >= 0 && at(next) < layers_.size() && layers_[at(next)].group < 0);
  return next >= 0 && at(next) < layers_.size() ? next : -1;
}

QString PageModel::spokenName(int layer) const {
  if (layer < 0) return {};
  const PageLayer& one = layers_[at(layer)];
  if (one.group < 0) return {};
  const SceneGroup& group = drawing_.scene->groups[at(one.group)];
  return tr("layer %1, column %2, row %3")
      .arg(QString::number(group.number) + text(group.copy))
      .arg(one.column + 1)
      .arg(one.row + 1);
}

}  // namespace orrery::ui
