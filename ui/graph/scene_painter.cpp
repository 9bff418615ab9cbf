#include "ui/graph/scene_painter.h"

#include <QFontMetricsF>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "ui/theme/format.h"
#include "ui/theme/icons.h"
#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

size_t at(int index) { return static_cast<size_t>(index); }
QRectF rectOf(const Rect& box) { return {box.x, box.y, box.w, box.h}; }
QString text(const std::string& s) { return QString::fromStdString(s); }

bool isEdited(const PaintJob& job, Span span) {
  return job.editedBefore && at(span.end) < job.editedBefore->size() &&
         (*job.editedBefore)[at(span.end)] > (*job.editedBefore)[at(span.begin)];
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

}  // namespace

ScenePainter::ScenePainter(const Theme& theme) : theme_(theme), nodes_(theme) {
  const Theme plain(theme.mode());
  headFont_ = plain.textFont(12, QFont::DemiBold);
  docFont_ = plain.textFont(11);
  timeFont_ = plain.monoFont(11, QFont::Medium);
  pillFont_ = plain.monoFont(10);
  midHeadFont_ = plain.textFont(11, QFont::DemiBold);
}

void ScenePainter::paint(QPainter& painter, const PaintJob& job) const {
  if (!job.drawing || !*job.drawing) return;
  painter.save();
  paintGroup(painter, job, 0, *job.drawing->layout, {});
  painter.restore();
}

void ScenePainter::paintGroup(QPainter& painter, const PaintJob& job, int group, const GroupLayout& layout,
                              Point origin) const {
  const Rect visible = job.visible.grown(12).moved(-origin.x, -origin.y);
  const SceneGraph& scene = *job.drawing->scene;
  for (size_t i = 0; i < layout.items.size(); ++i)  // frames lie under the wires that enter them
    if (layout.items[i].kind == Placed::Kind::open && layout.items[i].box.intersects(visible))
      paintFrame(painter, job, describePlaced(scene, group, layout, static_cast<int>(i), origin));
  paintWires(painter, job, group, layout, origin);
  for (size_t i = 0; i < layout.items.size(); ++i) {
    const Placed& placed = layout.items[i];
    const double side = (placed.leftPill || placed.rightPill) && job.detail == Detail::near ? 220 : 0;
    const Rect reach{placed.box.x - side, placed.box.y, placed.box.w + 2 * side, placed.box.h};
    if (!reach.intersects(visible)) continue;
    const Hit hit = describePlaced(scene, group, layout, static_cast<int>(i), origin);
    if (placed.kind == Placed::Kind::open) {
      paintGroup(painter, job, hit.group, *placed.inner, innerOrigin(placed, origin));
      if (job.detail != Detail::far) paintHeader(painter, job, hit);
    } else {
      nodes_.paint(painter, lookOf(job, hit, placed), job.detail, job.scale);
      if (job.detail == Detail::near && hit.kind == Hit::Kind::node) paintPills(painter, job, hit, placed);
    }
  }
}

void ScenePainter::paintFrame(QPainter& painter, const PaintJob& job, const Hit& hit) const {
  const SceneGroup& group = job.drawing->scene->groups[at(hit.group)];
  const bool selected = job.marks && job.marks->group == hit.group;
  const Token dark[] = {Token::canvas, Token::window, Token::panel},
              light[] = {Token::canvas, Token::panel, Token::sunken};
  QColor ground = theme_((theme_.isDark() ? dark : light)[group.depth < 2 ? group.depth : 2]);
  if (group.depth > 2)
    ground = Theme::blend(ground, theme_(Token::raised), std::min(1.0, 0.5 * (group.depth - 2)));
  const QColor line = Theme::blend(theme_(Token::border), theme_(Token::edge), theme_.isDark() ? 0.17 : 0);
  QPen pen(selected ? theme_(Token::accent) : line, selected ? 2 : 1);
  pen.setCosmetic(job.detail != Detail::near);
  if (!group.live) pen.setStyle(Qt::DashLine);
  painter.setRenderHint(QPainter::Antialiasing, job.detail != Detail::far);
  if (job.detail == Detail::far && hit.box.h * job.scale < 24)
    pen.setStyle(Qt::NoPen);  // would be all one sees
  painter.setPen(pen);
  painter.setBrush(ground);
  const double radius = job.detail == Detail::far ? 0 : group.depth <= 1 ? 8.5 : 6.5;
  painter.drawRoundedRect(rectOf(hit.box).adjusted(0.5, 0.5, -0.5, -0.5), radius, radius);
}

void ScenePainter::paintHeader(QPainter& painter, const PaintJob& job, const Hit& hit) const {
  const SceneGroup& group = job.drawing->scene->groups[at(hit.group)];
  const Span span{group.begin, group.end};
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.translate(hit.box.x, hit.box.y);
  double width = hit.box.w, height = kHeaderHeight;
  if (job.detail == Detail::mid) {
    painter.scale(1 / job.scale, 1 / job.scale);
    width *= job.scale;
    height *= job.scale;
    if (height < 9) return painter.restore();
  }
  const double baseline = height / 2 + 4, room = width / 2 - 12;  // wires enter in the middle
  paintIcon(painter, u"down", QRectF(7, height / 2 - 6.5, 13, 13), theme_(Token::text2));
  painter.setFont(headFont_);
  painter.setPen(theme_(group.live ? Token::text : Token::text3));
  const QString name = elided(text(group.name), headFont_, room - 26);
  painter.drawText(QPointF(24, baseline), name);
  double x = 24 + textWidth(name, headFont_) + 8;
  if (isEdited(job, span)) {
    paintIcon(painter, u"pencil", QRectF(x, height / 2 - 6, 12, 12), theme_(Token::edited));
    x += 18;
  }
  if (job.detail == Detail::near && x < room) {
    painter.setFont(docFont_);
    painter.setPen(theme_(Token::text3));
    painter.drawText(QPointF(x, baseline),
                     QFontMetricsF(docFont_).elidedText(text(group.doc), Qt::ElideRight, room - x + 6));
  }
  const QString time = job.heat ? job.heat->text(span, job.detail == Detail::mid) : QString();
  if (!time.isEmpty()) {
    const double t = job.heat->heat(span);
    const double chipWidth = textWidth(time, timeFont_) + 12;
    const QRectF chip(width - 7 - chipWidth, height / 2 - 7.5, chipWidth, 15);
    const QColor ground = std::isfinite(t) ? heatColor(job, t) : theme_(Token::raised);
    painter.setPen(Qt::NoPen);
    painter.setBrush(ground);
    if (chip.left() > x) {
      painter.drawRoundedRect(chip, 4, 4);
      painter.setPen(std::isfinite(t) ? Theme::textOn(ground) : theme_(Token::text2));
      painter.setFont(timeFont_);
      painter.drawText(chip, Qt::AlignCenter, time);
    }
  }
  painter.restore();
}

void ScenePainter::paintPills(QPainter& painter, const PaintJob& job, const Hit& hit,
                              const Placed& placed) const {
  const SceneNode& node = job.drawing->scene->nodes[at(hit.node)];
  const double middle = hit.box.y + hit.box.h / 2;
  constexpr double kGap = 25, kHeight = 19;
  const QFontMetricsF metrics(pillFont_);
  QPen dots(theme_(Token::edge), 1.3);
  dots.setDashPattern({2 / 1.3, 3 / 1.3});
  dots.setCapStyle(Qt::FlatCap);
  const auto one = [&](const ScenePill& pill, bool left) {
    if (pill.empty()) return;
    const QString label = text(pillText(pill));
    const double width = metrics.horizontalAdvance(label) + 30;
    const double x = left ? hit.box.x - kGap - width : hit.box.right() + kGap;
    painter.setPen(dots);
    painter.drawLine(left ? QPointF(hit.box.x - kGap + 1, middle) : QPointF(hit.box.right() + 1, middle),
                     left ? QPointF(hit.box.x - 1, middle) : QPointF(hit.box.right() + kGap - 1, middle));
    paintPill(painter, QRectF(x, middle - kHeight / 2, width, kHeight), label);
  };
  painter.setRenderHint(QPainter::Antialiasing);
  if (placed.leftPill) one(node.weights, true);
  if (placed.rightPill) one(node.inputs, false);
}

void ScenePainter::paintPill(QPainter& painter, const QRectF& rect, const QString& label) const {
  painter.setPen(QPen(Theme::blend(theme_(Token::border), theme_(Token::edge), 0.3), 1));
  painter.setBrush(theme_(Token::canvas));
  painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), rect.height() / 2 - 0.5,
                          rect.height() / 2 - 0.5);
  paintIcon(painter, u"weights", QRectF(rect.left() + 7, rect.center().y() - 6, 12, 12),
            theme_(Token::text3));
  painter.setFont(pillFont_);
  painter.setPen(theme_(Token::text2));
  painter.drawText(rect.adjusted(23, 0, -6, 0), Qt::AlignVCenter | Qt::AlignLeft, label);
}

void ScenePainter::describeNode(const PaintJob& job, int position, NodeLook& look) const {
  const SceneNode& node = job.drawing->scene->nodes[at(position)];
  look.family = node.family;
  look.fused = node.fused > 1;
  look.bypassed = !node.live;
  look.edited = isEdited(job, {position, position + 1});
  if (job.detail == Detail::far) return;
  look.name = text(node.name);
  if (job.detail != Detail::near) return;
  if (look.fused) look.chip = QStringLiteral("%1 in 1").arg(node.fused);
  const QString kernel = job.heat ? job.heat->kernel(position) : QString();
  const bool narrow = look.box.width() < 200 && node.family == graph::OpFamily::linear;
  look.left = kernel.isEmpty() || narrow ? text(node.detail) : kernel;
  const QString bandwidth = job.heat && !narrow && node.family == graph::OpFamily::linear
                                ? job.heat->bandwidthText(position)
                                : QString();
  look.right = bandwidth.isEmpty() ? text(node.type) : bandwidth;
  if (job.heat && job.heat->severalDevices()) {
    look.device = job.heat->device(position);
    look.otherDevice = !look.device.startsWith(QLatin1String("CPU"));
  }
}

void ScenePainter::describeGroup(const PaintJob& job, const Hit& hit, Span span, NodeLook& look) const {
  const SceneGraph& scene = *job.drawing->scene;
  const SceneGroup &first = scene.groups[at(hit.group)], &last = scene.groups[at(hit.lastGroup)];
  const int count = last.number - first.number + 1;
  const bool stack = hit.kind == Hit::Kind::stack;
  look.group = true;
  look.plates = stack ? 2 : 1;
  look.family = mainFamily(scene, span);
  look.bypassed = !stack && !first.live;
  look.edited = isEdited(job, span);
  look.name =
      stack ? text(first.name) + QStringLiteral("–") + QString::number(last.number) : text(first.name);
  if (stack) look.chip = QStringLiteral("× %1").arg(count);
  if (job.detail != Detail::near) return;
  look.left = stack ? (job.heat ? job.heat->eachText(span, count) : QString())
                    : QStringLiteral("%1 nodes").arg(first.nodeCount());
  if (look.left.isEmpty()) look.left = QStringLiteral("%1 nodes each").arg(first.nodeCount());
  if (job.heat && std::isfinite(job.heat->share(span))) look.right = format::percent(job.heat->share(span));
  const SceneGroup& holder = scene.groups[at(hit.holder)];
  int bypassed = 0, number = 0;
  for (int child = first.child; stack && child <= last.child; ++child)
    if (const SceneGroup& layer = scene.groups[at(holder.children[at(child)].index)]; !layer.live) {
      ++bypassed;
      number = layer.number;
    }
  if (bypassed == 1) look.left = QStringLiteral("layer %1 bypassed").arg(number);
  if (bypassed > 1) look.left = QStringLiteral("%1 layers bypassed").arg(bypassed);
}

QColor ScenePainter::heatColor(const PaintJob& job, double t) const {
  return job.heat->mode() == HeatMode::ratio ? theme_.ratio(8 * t - 4) : theme_.heat(t);
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
    if (job.detail == Detail::near) look.time = job.heat->text(span);
    if (job.detail == Detail::mid) look.shortTime = job.heat->text(span, true);
  }
  if (!job.marks) return look;
  const Marks& marks = *job.marks;
  look.selected = hit.kind == Hit::Kind::node ? marks.node == hit.node
                                              : marks.node >= span.begin && marks.node < span.end;
  if (hit.kind != Hit::Kind::node && marks.group >= 0)
    look.selected |= marks.group >= hit.group && marks.group <= hit.lastGroup &&
                     scene.groups[at(marks.group)].parent == scene.groups[at(hit.group)].parent;
  look.focused = look.selected && marks.focused;
  look.hovered = marks.hover == hit;
  look.match = anyMatch(marks, span);
  if (hit.kind == Hit::Kind::node && job.heat && job.heat->us(span) > 1e5) look.running = job.running;
  return look;
}

}  // namespace orrery::ui
