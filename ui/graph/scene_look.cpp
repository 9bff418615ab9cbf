// What a box of ScenePainter looks like: names, figures, device, states, from what the job knows of it.
#include <QStringList>
#include <algorithm>
#include <cmath>

#include "ui/graph/scene_painter.h"
#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

/// "vnni.matvec" of "cpu.avx512_vnni.matvec": without the device, which the tool bar or a tag says, and
/// without what the instruction set builds on.
QString shortKernel(const QString& kernel) {
  QStringList parts = kernel.split('.');
  if (parts.size() > 1) parts.removeFirst();
  if (parts.size() > 1) parts.first() = parts.first().section('_', -1);
  return parts.join('.');
}

bool anyMatch(const Marks& marks, Span span) {
  for (int i = span.begin; i < span.end && at(i) < marks.matches.size(); ++i)
    if (marks.matches[at(i)]) return true;
  return false;
}

/// The family that does most of a group's work, by bytes moved.
graph::OpFamily mainFamily(const SceneGraph& scene, Span span) {
  double sums[16] = {};
  int best = static_cast<int>(graph::OpFamily::linear);
  const int end = std::min(span.end, span.begin + 512);  // a large group's first nodes tell enough
  for (int i = span.begin; i < end; ++i) {
    const SceneNode& node = scene.nodes[at(i)];
    const int family = static_cast<int>(node.family);
    sums[family] += node.movedBytes + 1;
    if (sums[family] > sums[best]) best = family;
  }
  return static_cast<graph::OpFamily>(best);
}

/// "int8" when all of the span is asked for that, "mixed" when some of it is; empty: all as the model.
QString precisionOf(const SceneGraph& scene, Span span) {
  const std::string* all = nullptr;
  for (int i = span.begin; i < span.end; ++i) {
    const SceneNode& node = scene.nodes[at(i)];
    if (!multiplies(node.family)) continue;
    if (all && *all != node.precision) return QStringLiteral("mixed");
    all = &node.precision;
  }
  return all ? text(*all) : QString();
}

}  // namespace

void Marks::choose(std::vector<Chosen> chosen) {
  nodes_.clear();
  groups_.clear();
  for (const Chosen& one : chosen) {
    if (one.node >= 0) nodes_.push_back(one.node);
    if (one.group >= 0) groups_.push_back(one.group);
  }
  std::sort(nodes_.begin(), nodes_.end());
  std::sort(groups_.begin(), groups_.end());
  static_cast<Chosen&>(*this) = chosen.empty() ? Chosen() : chosen.back();
  if (!chosen.empty()) chosen.pop_back();
  also = std::move(chosen);
}

bool Marks::choosesIn(Span span) const {
  const auto first = std::lower_bound(nodes_.begin(), nodes_.end(), span.begin);
  return first != nodes_.end() && *first < span.end;
}

bool Marks::chooses(const SceneGraph& scene, const Hit& hit, Span span) const {
  if (hit.kind == Hit::Kind::node) return choosesIn({hit.node, hit.node + 1});
  if (choosesIn(span)) return true;
  auto one = std::lower_bound(groups_.begin(), groups_.end(), hit.group);
  for (; one != groups_.end() && *one <= hit.lastGroup; ++one)
    if (scene.groups[at(*one)].parent == scene.groups[at(hit.group)].parent) return true;
  return false;
}

bool Marks::choosesGroup(int wanted) const {
  return std::binary_search(groups_.begin(), groups_.end(), wanted);
}

bool PaintJob::isEdited(Span span) const {
  return editedBefore && at(span.end) < editedBefore->size() &&
         (*editedBefore)[at(span.end)] > (*editedBefore)[at(span.begin)];
}

void ScenePainter::describeNode(const PaintJob& job, int position, NodeLook& look) const {
  const SceneNode& node = job.drawing->scene->nodes[at(position)];
  look.family = node.family;
  look.fused = node.fused > 1;
  look.bypassed = !node.live;
  look.edited = job.isEdited({position, position + 1});
  if (job.detail == Detail::far) return;
  look.name = text(node.name);
  if (job.detail != Detail::near) return;
  if (look.fused) look.chip = QStringLiteral("%1 in 1").arg(node.fused);
  const QString kernel = job.heat ? job.heat->kernel(position) : QString();
  const bool moves = node.family == graph::OpFamily::linear || node.transfer;  // bytes are what it costs
  const bool narrow = look.box.width() < 200 && node.family == graph::OpFamily::linear;
  look.left = kernel.isEmpty() || narrow ? text(node.detail) : shortKernel(kernel);
  if (job.changeWords)
    if (const auto word = job.changeWords->find(node.id); word != job.changeWords->end())
      look.left = word->second;
  const QString bandwidth = job.heat && !narrow && moves ? job.heat->bandwidthText(position) : QString();
  if (!bandwidth.isEmpty())
    look.right = bandwidth;
  else
    look.right = node.transfer ? format::bytes(node.movedBytes) : text(node.type);
}

void ScenePainter::describeGroup(const PaintJob& job, const Hit& hit, Span span, NodeLook& look) const {
  const SceneGraph& scene = *job.drawing->scene;
  const SceneGroup &first = scene.groups[at(hit.group)], &last = scene.groups[at(hit.lastGroup)];
  const int count = last.number - first.number + 1;
  const bool stack = hit.kind == Hit::Kind::stack;
  look.group = true;
  look.plates = stack ? 2 : 1;
  look.family = mainFamily(scene, span);
  look.bypassed = !first.live;
  look.edited = job.isEdited(span);
  look.name = text(foldedName(first, last));
  if (stack) look.chip = QStringLiteral("× %1").arg(count);
  if (job.detail != Detail::near) return;
  look.left = stack ? (job.heat ? job.heat->eachText(span, count) : QString())
                    : format::counted(first.nodeCount(), "node");
  if (look.left.isEmpty()) look.left = format::counted(first.nodeCount(), "node") + QStringLiteral(" each");
  if (job.heat && std::isfinite(job.heat->share(span))) look.right = format::percent(job.heat->share(span));
}

/// What passes a bypassed thing by does so at its border; inside, nothing passes.
QString ScenePainter::bypassText(const SceneGroup& holder) {
  return holder.live ? QStringLiteral("bypassed: x passes through") : QStringLiteral("bypassed");
}

QColor ScenePainter::heatColor(const PaintJob& job, double t) const {
  return job.heat->mode() == HeatMode::ratio ? theme_.ratio(8 * t - 4) : theme_.heat(t);
}

QString ScenePainter::valueText(const PaintJob& job, Span span) {
  return job.heat ? job.heat->text(span, job.detail != Detail::near) : QString();
}

void ScenePainter::describePlace(const PaintJob& job, const Hit& hit, Span span, NodeLook& look) const {
  const PlaceModel& places = *job.places;
  look.mark = places.mark(span);
  look.fellBack = places.fellBack(span) > 0;
  if (hit.kind == Hit::Kind::node && job.drawing->scene->nodes[at(hit.node)].transfer) {
    look.transfer = true;
    look.source = markOf(places.sourceDevice(hit.node));
    look.mark = markOf(places.device(hit.node));
    if (job.detail != Detail::near) return;
    look.left = places.sourceDevice(hit.node) + QStringLiteral(" → ") + places.device(hit.node);
    return;
  }
  if (job.detail != Detail::near) return;
  look.device = places.tag(span);
  if (hit.kind != Hit::Kind::node) return;
  if (const NodePlace* place = places.fellBack(hit.node))
    look.right = QStringLiteral("asked ") + place->asked;
}

NodeLook ScenePainter::lookOf(const PaintJob& job, const Hit& hit, const Placed& placed) const {
  const SceneGraph& scene = *job.drawing->scene;
  const Span span = spanOf(scene, scene.groups[at(hit.holder)], placed);
  NodeLook look;
  look.box = rectOf(hit.box);
  if (hit.kind == Hit::Kind::node)
    describeNode(job, hit.node, look);
  else
    describeGroup(job, hit, span, look);
  if (job.heat) {
    const int parts = hit.kind == Hit::Kind::stack ? placed.last - placed.first + 1 : 1;
    if (const double t = job.heat->heat(span, parts); std::isfinite(t) && !look.bypassed)
      look.body = heatColor(job, t);
    if (job.detail != Detail::far) look.time = valueText(job, span);
  }
  if (job.places && job.places->drawn()) describePlace(job, hit, span, look);
  if (job.detail == Detail::near && !look.bypassed) look.precision = precisionOf(scene, span);
  if (look.bypassed) look.left = bypassText(scene.groups[at(hit.holder)]);
  if (!job.marks) return look;
  const Marks& marks = *job.marks;
  look.selected = marks.anything() && marks.chooses(scene, hit, span);
  look.focused = look.selected && marks.focused;
  look.hovered = marks.hover == hit;
  look.match = anyMatch(marks, span);
  if (hit.kind == Hit::Kind::node && job.heat && job.heat->us(span) > 1e5) look.running = job.running;
  return look;
}

}  // namespace orrery::ui
