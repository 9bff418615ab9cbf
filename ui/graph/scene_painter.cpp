#include "ui/graph/scene_painter.h"

#include <QFontMetricsF>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "ui/graph/box_words.h"
#include "ui/graph/pixel_lines.h"
#include "ui/theme/format.h"
#include "ui/theme/icons.h"
#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

/// A box that would fill no pixel.
bool isTiny(const Placed& placed, const QTransform& toPixels, Point origin) {
  if (placed.kind == Placed::Kind::open) return false;
  const QRectF area = toPixels.mapRect(rectOf(placed.box.moved(origin.x, origin.y)));
  return qRound(area.left()) == qRound(area.right()) || qRound(area.top()) == qRound(area.bottom());
}

bool isBypassed(const SceneGraph& scene, const SceneGroup& holder, const Placed& placed) {
  const SceneChild& child = holder.children[at(placed.first)];
  return child.isGroup ? !scene.groups[at(child.index)].live : !scene.nodes[at(child.index)].live;
}

/// Something may be marked that is smaller than its mark.
bool hasMarks(const PaintJob& job) {
  const Marks* marks = job.marks;
  return (job.editedBefore && !job.editedBefore->empty() && job.editedBefore->back() > 0) ||
         (marks && (marks->anything() || marks->hover.kind != Hit::Kind::nothing || !marks->matches.empty()));
}

}  // namespace

ScenePainter::ScenePainter(const Theme& theme) : theme_(theme), nodes_(theme), pages_(theme) {
  const Theme plain(theme.mode());
  headFont_ = plain.textFont(12, QFont::DemiBold);
  docFont_ = plain.textFont(11);
  timeFont_ = plain.monoFont(11, QFont::Medium);
  pillFont_ = plain.monoFont(10);
  midHeadFont_ = plain.textFont(10.5, QFont::DemiBold);
  smallHeadFont_ = plain.textFont(9, QFont::DemiBold);
  smallTimeFont_ = plain.monoFont(9, QFont::Medium);
  tinyFont_ = plain.monoFont(9.5, QFont::Medium);
}

void ScenePainter::paint(QPainter& painter, const PaintJob& job) const {
  if (!job.drawing || !*job.drawing) return;
  painter.save();
  paintGroup(painter, job, 0, *job.drawing->layout, {});
  painter.restore();
}

void ScenePainter::paintGroup(QPainter& painter, const PaintJob& job, int group, const GroupLayout& layout,
                              Point origin) const {
  const auto eachPage = [&](auto paint) {
    if (!job.pages || layout.pages.empty()) return;
    for (const PagePlace& page : job.pages->pages())
      if (page.layout == &layout) (pages_.*paint)(painter, job, page);
  };
  eachPage(&PagePainter::paintGround);
  paintFrames(painter, job, group, layout, origin);  // frames lie under the wires that enter them
  paintWires(painter, job, group, layout, origin);
  if (job.pages) pages_.paintStreams(painter, job, group, layout, origin);
  if (job.detail == Detail::far && !hasMarks(job)) paintTiny(painter, job, group, layout, origin);
  paintItems(painter, job, group, layout, origin);
  if (job.detail == Detail::far) eachPage(&PagePainter::paintCells);
  eachPage(&PagePainter::paintColumns);
  if (job.places && job.places->crosses(group)) paintCrossings(painter, job, group, layout, origin);
}

void ScenePainter::paintFrames(QPainter& painter, const PaintJob& job, int group, const GroupLayout& layout,
                               Point origin) const {
  const Rect visible = job.visible.grown(12).moved(-origin.x, -origin.y);
  const SceneGraph& scene = *job.drawing->scene;
  for (size_t i = 0; i < layout.items.size(); ++i) {
    const Placed& placed = layout.items[i];
    if (placed.kind != Placed::Kind::open || !placed.box.intersects(visible)) continue;
    if (!job.shows(placed.box.moved(origin.x, origin.y))) continue;
    const Hit hit = describePlaced(scene, group, layout, static_cast<int>(i), origin);
    const int layer = placed.cell && job.pages ? job.pages->layerOf(hit.group) : -1;
    if (layer < 0)
      paintFrame(painter, job, hit);
    else if (job.detail != Detail::far)
      pages_.paintFrame(painter, job, job.pages->layers()[at(layer)]);
  }
}

void ScenePainter::paintItems(QPainter& painter, const PaintJob& job, int group, const GroupLayout& layout,
                              Point origin) const {
  const Rect visible = job.visible.grown(12).moved(-origin.x, -origin.y);
  const SceneGraph& scene = *job.drawing->scene;
  const QTransform toPixels = painter.deviceTransform();
  const bool all = job.detail != Detail::far || hasMarks(job);
  for (size_t i = 0; i < layout.items.size(); ++i) {
    const Placed& placed = layout.items[i];
    const double side = (placed.leftPill || placed.rightPill) && job.detail == Detail::near ? 220 : 0;
    const Rect reach{placed.box.x - side, placed.box.y, placed.box.w + 2 * side, placed.box.h};
    if (!reach.intersects(visible)) continue;
    if (placed.kind != Placed::Kind::open && !job.shows(placed.box.moved(origin.x, origin.y))) continue;
    if (placed.cell && job.pages) {
      if (job.detail != Detail::far) paintLayer(painter, job, group, placed, origin);
      continue;
    }
    if (!all && isTiny(placed, toPixels, origin)) continue;
    const Hit hit = describePlaced(scene, group, layout, static_cast<int>(i), origin);
    if (placed.kind == Placed::Kind::open) {
      paintGroup(painter, job, hit.group, *placed.inner, innerOrigin(placed, origin));
      if (job.detail != Detail::far) paintHeader(painter, job, hit);
    } else {
      const NodeLook look = lookOf(job, hit, placed);
      nodes_.paint(painter, look, job.detail, job.scale);
      if (job.detail == Detail::far && !job.blocks && job.pages && !job.pages->empty())
        paintFarWords(painter, job, hit, placed, look);
      if (job.detail == Detail::near && hit.kind == Hit::Kind::node) paintPills(painter, job, hit, placed);
    }
  }
}

/// Of what stands around a page.
void ScenePainter::paintFarWords(QPainter& painter, const PaintJob& job, const Hit& hit, const Placed& placed,
                                 const NodeLook& look) const {
  const SceneGraph& scene = *job.drawing->scene;
  const std::string& name =
      hit.kind == Hit::Kind::node ? scene.nodes[at(hit.node)].name : scene.groups[at(hit.group)].name;
  const QColor ground = look.bypassed ? theme_(Token::canvas)
                        : look.body.isValid()
                            ? look.body
                            : Theme::blend(theme_(Token::canvas), theme_.family(look.family), 0.42);
  pages_.paintBoxWords(painter, job, look.box, text(name),
                       valueText(job, spanOf(scene, scene.groups[at(hit.holder)], placed)), ground);
}

/// A layer of a page from near.
void ScenePainter::paintLayer(QPainter& painter, const PaintJob& job, int holder, const Placed& placed,
                              Point origin) const {
  const int group = job.drawing->scene->groups[at(holder)].children[at(placed.first)].index;
  const int index = job.pages->layerOf(group);
  if (index < 0) return;
  const PageLayer& layer = job.pages->layers()[at(index)];
  if (placed.inner) paintGroup(painter, job, group, *placed.inner, innerOrigin(placed, origin));
  pages_.paintHead(painter, job, layer);
  pages_.paintMarks(painter, job, layer);
}

/// Of what is too small to fill a pixel, the outlines that are pixels all the same.
void ScenePainter::paintTiny(QPainter& painter, const PaintJob& job, int group, const GroupLayout& layout,
                             Point origin) const {
  const Rect visible = job.visible.grown(12).moved(-origin.x, -origin.y);
  const SceneGraph& scene = *job.drawing->scene;
  const QTransform toPixels = painter.deviceTransform();
  painter.save();
  painter.translate(origin.x, origin.y);
  PixelLines outlines(painter.worldTransform(), visible);
  for (const Placed& placed : layout.items) {
    const Rect& box = placed.box;
    if (box.intersects(visible) && isBypassed(scene, scene.groups[at(group)], placed) &&
        isTiny(placed, toPixels, origin))
      outlines.add({{box.x, box.y},
                    {box.right(), box.y},
                    {box.right(), box.bottom()},
                    {box.x, box.bottom()},
                    {box.x, box.y}},
                   false);
  }
  outlines.paint(painter, theme_(Token::text3));
  painter.restore();
}

void ScenePainter::paintFrame(QPainter& painter, const PaintJob& job, const Hit& hit) const {
  const SceneGroup& group = job.drawing->scene->groups[at(hit.group)];
  const bool selected = job.marks && job.marks->choosesGroup(hit.group);
  const Token dark[] = {Token::canvas, Token::window, Token::panel},
              light[] = {Token::canvas, Token::panel, Token::sunken};
  const bool inLayer = job.pages && job.pages->layerOf(group.parent) >= 0;  // lies on the layer's own ground
  const int depth = inLayer ? 0 : group.depth;
  QColor ground = theme_((theme_.isDark() ? dark : light)[depth < 2 ? depth : 2]);
  if (depth > 2) ground = Theme::blend(ground, theme_(Token::raised), std::min(1.0, 0.5 * (depth - 2)));
  const QColor line = Theme::blend(theme_(Token::border), theme_(Token::edge), theme_.isDark() ? 0.17 : 0);
  const double radius = job.detail == Detail::far ? 0 : depth <= 1 ? 8.5 : 6.5;
  if (job.detail != Detail::far && !selected && group.live &&
      frames_->draw(painter, rectOf(hit.box), radius * job.scale, ground, line))
    return;
  QPen pen(selected ? theme_(Token::accent) : line, selected ? 2 : 1);
  pen.setCosmetic(job.detail != Detail::near);
  if (!group.live) pen.setStyle(Qt::DashLine);
  painter.setRenderHint(QPainter::Antialiasing, job.detail != Detail::far);
  if (job.detail == Detail::far && hit.box.h * job.scale < 24)
    pen.setStyle(Qt::NoPen);  // would be all one sees
  painter.setPen(pen);
  painter.setBrush(ground);
  painter.drawRoundedRect(rectOf(hit.box).adjusted(0.5, 0.5, -0.5, -0.5), radius, radius);
}

void ScenePainter::paintHeader(QPainter& painter, const PaintJob& job, const Hit& hit) const {
  const SceneGroup& group = job.drawing->scene->groups[at(hit.group)];
  const Span span{group.begin, group.end};
  const bool near = job.detail == Detail::near;
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.translate(hit.box.x, hit.box.y);
  const double unit = near ? 1 : job.scale;  // Mid keeps its measures on the screen, as far as there is room
  painter.scale(1 / unit, 1 / unit);
  const double width = hit.box.w * unit, height = kHeaderHeight * unit;
  const double tall = std::clamp(kHeaderHeight * unit + 3, 10.0, 15.0);  // of what is drawn
  const bool small = tall < 13;
  const QFont &headFont = near    ? headFont_
                          : small ? smallHeadFont_
                                  : midHeadFont_,
              &timeFont = small ? smallTimeFont_ : timeFont_;
  const double baseline = height / 2 + (small ? 3.2 : 4), room = width / 2 - 12;  // wires enter in the middle
  const auto sign = [&](QStringView name, double x, double most, Token token) {
    const double side = std::min(most, tall);
    paintIcon(painter, name, QRectF(x, (height - side) / 2, side, side), theme_(token));
  };
  sign(u"down", 7, 13, Token::text2);
  painter.setPen(theme_(group.live ? Token::text : Token::text3));
  const QString name = elided(text(group.name), headFont, room - 26);
  drawLabel(painter, QPointF(24, baseline), name, headFont);
  double x = 24 + textWidth(name, headFont) + 8;
  if (job.isEdited(span)) {
    sign(u"pencil", x, 12, Token::edited);
    x += 18;
  }
  const QString doc = near && x < room
                          ? QFontMetricsF(docFont_).elidedText(text(group.doc), Qt::ElideRight, room - x + 6)
                          : QString();
  painter.setPen(theme_(Token::text3));
  drawLabel(painter, QPointF(x, baseline), doc, docFont_);
  x += textWidth(doc, docFont_);
  const QString time = valueText(job, span);
  const double t = job.heat ? job.heat->heat(span) : 0, chipWidth = textWidth(time, timeFont) + 12;
  const QRectF chip(width - 7 - chipWidth, (height - tall) / 2, chipWidth, tall);
  if (!time.isEmpty() && chip.left() > x) {
    const QColor ground = std::isfinite(t) ? heatColor(job, t) : theme_(Token::raised);
    painter.setPen(Qt::NoPen);
    painter.setBrush(ground);
    painter.drawRoundedRect(chip, 4, 4);
    painter.setPen(std::isfinite(t) ? Theme::textOn(ground) : theme_(Token::text2));
    drawLabel(painter, chip, Qt::AlignHCenter, time, timeFont);
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
  painter.setPen(theme_(Token::text2));
  drawLabel(painter, rect.adjusted(23, 0, -6, 0), Qt::AlignLeft, label, pillFont_);
}

}  // namespace orrery::ui
