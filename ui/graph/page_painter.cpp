#include "ui/graph/page_painter.h"

#include <QPainterPath>
#include <cmath>

#include "ui/graph/node_box.h"
#include "ui/graph/qt_values.h"
#include "ui/graph/scene_graph.h"
#include "ui/graph/scene_painter.h"
#include "ui/theme/icons.h"
#include "ui/theme/sprites.h"
#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

// Pixels of the screen.
constexpr double kWrittenWidth = 90;  // of a cell that has its name on it
constexpr double kRoomyWidth = 132;   // of one whose name is written larger
constexpr double kLeastName = 16;     // of a column that has its name above it
constexpr double kNotch = 10, kChipHeight = 14.5;

/// Whether anything of the layer is chosen, or it is itself.
bool chosen(const PaintJob& job, const PageLayer& layer) {
  return job.marks && layer.group >= 0 && job.marks->choosesGroup(layer.group);
}

bool hovered(const PaintJob& job, const PageLayer& layer) {
  return job.marks && layer.group >= 0 && job.marks->hover.kind != Hit::Kind::nothing &&
         job.marks->hover.kind != Hit::Kind::wire && job.marks->hover.group == layer.group;
}

/// Its two ends are lit when the stream between them is pointed at.
bool hoveredEnd(const PaintJob& job, const PageLayer& layer) {
  if (!job.marks || job.marks->hover.kind != Hit::Kind::wire || layer.group < 0) return false;
  const PagePlace& place = job.pages->pages()[at(layer.page)];
  if (job.marks->hover.holder != place.holder) return false;
  const PlacedWire& wire = place.layout->wires[at(job.marks->hover.item)];
  const int item = place.layout->itemOf[at(job.drawing->scene->groups[at(layer.group)].child)];
  return wire.kind == WireKind::stream && (wire.from == item || wire.to == item);
}

/// Does what is chosen or under the pointer lie in it?
bool holdsAttention(const PaintJob& job, const PageColumnHead& column) {
  if (!job.marks) return false;
  const auto in = [&](int layer) { return layer >= column.first && layer <= column.last; };
  const Marks& marks = *job.marks;
  if (marks.hover.kind != Hit::Kind::nothing && marks.hover.kind != Hit::Kind::wire) {
    const int hover = marks.hover.node >= 0 ? job.pages->layerOfNode(marks.hover.node)
                                            : job.pages->layerAround(marks.hover.group);
    if (hover >= 0) return in(hover);
  }
  const int layer =
      marks.node >= 0 ? job.pages->layerOfNode(marks.node) : job.pages->layerAround(marks.group);
  return layer >= 0 && in(layer);
}

void paintNotch(QPainter& painter, const QPointF& corner, double side, const QColor& color,
                const QColor& rim) {
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(rim, 0.8));
  painter.setBrush(color);
  painter.drawPolygon(QPolygonF{corner - QPointF(side, 0), corner, corner + QPointF(0, side)});
}

/// In pixels of the screen from the corner of a cell; ends with the guard.
class InPixels {
 public:
  InPixels(QPainter& painter, const PaintJob& job, const QPointF& corner) : painter_(painter) {
    painter_.save();
    painter_.translate(corner);
    painter_.scale(1 / job.scale, 1 / job.scale);
  }
  ~InPixels() { painter_.restore(); }
  InPixels(const InPixels&) = delete;
  InPixels& operator=(const InPixels&) = delete;

 private:
  QPainter& painter_;
};

}  // namespace

PagePainter::PagePainter(const Theme& theme)
    : theme_(theme),
      pictures_(std::make_shared<CellPictures>(theme)),
      frames_(std::make_shared<FrameSprites>()) {
  const Theme plain(theme.mode());
  nameFont_ = plain.textFont(11.5, QFont::DemiBold);
  smallNameFont_ = plain.textFont(11, QFont::DemiBold);
  smallTimeFont_ = plain.monoFont(9, QFont::Medium);
  nearFont_ = plain.textFont(14, QFont::DemiBold);
  timeFont_ = plain.monoFont(10, QFont::Medium);
  docFont_ = plain.textFont(11);
  wordFont_ = plain.monoFont(9.5, QFont::Medium);
  boxFont_ = plain.textFont(9, QFont::Medium);
  boxValueFont_ = plain.monoFont(9, QFont::Medium);
  columnFont_ = plain.textFont(10.5);
  columnTimeFont_ = plain.monoFont(10.5);
}

QColor PagePainter::heatColor(const PaintJob& job, double heat) const {
  return job.heat->mode() == HeatMode::ratio ? theme_.ratio(8 * heat - 4) : theme_.heat(heat);
}

QColor PagePainter::blockColor(const PaintJob& job, const PageLayer& layer) const {
  if (job.heat && std::isfinite(layer.heat)) return heatColor(job, layer.heat);
  return Theme::blend(theme_(Token::canvas), theme_(Token::edge), 0.42);
}

std::vector<size_t> PagePainter::wordsOf(const PaintJob& job) const {
  std::vector<size_t> words;
  const bool ratio = job.heat && job.heat->mode() == HeatMode::ratio;
  for (const PageShape& shape : job.pages->shapes()) words.push_back(pictures_->wordsOf(shape, ratio));
  return words;
}

void PagePainter::paintCells(QPainter& painter, const PaintJob& job, const PagePlace& page) const {
  const std::vector<size_t> words = job.blocks ? std::vector<size_t>() : wordsOf(job);
  const Rect visible = job.visible.grown(12 / job.scale);
  const auto paint = [&](const PageLayer& layer) {
    if (job.blocks)
      paintBlock(painter, job, layer);
    else if (layer.open)
      paintCell(painter, job, layer, words);
    else
      paintHead(painter, job, layer);
    paintMarks(painter, job, layer);
  };
  for (int i = page.first; i < page.first + page.count; ++i) {
    const PageLayer& layer = job.pages->layers()[at(i)];
    if (layer.group < 0) continue;
    if (job.moving) {
      PageLayer moved = layer;
      const Point off = (*job.moving)[at(i)];
      moved.box = layer.box.moved(off.x * job.ahead, off.y * job.ahead);
      paint(moved);
    } else if (layer.area.intersects(visible) && job.shows(layer.area)) {
      paint(layer);
    }
  }
}

/// One block in the colour of its heat; what is not like the rest has a rim.
void PagePainter::paintBlock(QPainter& painter, const PaintJob& job, const PageLayer& layer) const {
  painter.setRenderHint(QPainter::Antialiasing, false);
  // Layers below each other stay apart where their gap is less than a pixel.
  const double apart = std::max(0.0, 1 / job.scale - kCellGap);
  const QRectF box = rectOf(layer.box).adjusted(0, 0, 0, -apart);
  QPen pen(theme_(layer.live ? Token::borderStrong : Token::text3), 0,
           layer.live ? Qt::SolidLine : Qt::DashLine);
  if (layer.live)
    painter.fillRect(box, Theme::blend(theme_(Token::canvas), blockColor(job, layer), layer.open ? 0.75 : 1));
  const PageShape* shape = job.pages->shapeOf(layer);
  if (layer.live && (!shape || shape->usual || box.width() * job.scale < 6)) return;
  painter.setPen(pen);
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(box);
}

void PagePainter::paintCell(QPainter& painter, const PaintJob& job, const PageLayer& layer,
                            const std::vector<size_t>& words) const {
  const PageShape* shape = job.pages->shapeOf(layer);
  if (!shape) return;
  CellSubject subject{job.drawing->scene.get(),
                      &layer,
                      shape,
                      job.pages->innerOf(layer),
                      job.heat && job.heat->mode() == HeatMode::ratio,
                      words[at(layer.shape)]};
  if (!drawsPixels(painter)) {
    const PixelScale pixels{job.scale, 1e3};
    const InPixels screen(painter, job, rectOf(layer.box).topLeft());
    CellPicture picture;
    picture.blocks = pictures_->blocksOf(subject, pixels);
    pictures_->paintGround(painter, subject, picture.blocks, pixels);
    paintBlocks(painter, job, layer, picture, {});
    if (CellPictures::hasWords(pixels)) pictures_->paintWords(painter, subject, picture.blocks);
    paintSpecials(painter, job, layer, picture, {});
  } else {
    const QTransform world = painter.worldTransform();
    const PixelScale pixels{world.m11(), painter.deviceTransform().m11() / world.m11()};
    const QPointF mapped = world.map(rectOf(layer.box).topLeft());
    const QPointF corner(pixels.rounded(mapped.x()), pixels.rounded(mapped.y()));
    const CellPicture& picture = pictures_->of(subject, pixels);
    painter.setWorldTransform(QTransform());
    painter.drawPixmap(corner, picture.ground);
    paintBlocks(painter, job, layer, picture, corner);
    if (!picture.words.isNull()) painter.drawPixmap(corner, picture.words);
    paintSpecials(painter, job, layer, picture, corner);
    painter.setWorldTransform(world);
  }
  paintHead(painter, job, layer);
}

void PagePainter::paintBlocks(QPainter& painter, const PaintJob& job, const PageLayer& layer,
                              const CellPicture& picture, const QPointF& corner) const {
  const SceneGraph& scene = *job.drawing->scene;
  const int begin = scene.groups[at(layer.group)].begin;
  painter.setRenderHint(QPainter::Antialiasing, false);
  for (const CellBlock& block : picture.blocks) {
    if (!block.live) continue;
    const double heat = job.heat ? job.heat->heat({begin + block.begin, begin + block.end}) : std::nan("");
    const QColor color = std::isfinite(heat)
                             ? heatColor(job, heat)
                             : Theme::blend(theme_(Token::canvas),
                                            theme_.family(scene.nodes[at(begin + block.begin)].family), 0.42);
    painter.fillRect(block.box.translated(corner), color);
  }
}

/// What some blocks have and most have not: edits, another device, what was found, what is chosen.
void PagePainter::paintSpecials(QPainter& painter, const PaintJob& job, const PageLayer& layer,
                                const CellPicture& picture, const QPointF& corner) const {
  const SceneGraph& scene = *job.drawing->scene;
  const SceneGroup& group = scene.groups[at(layer.group)];
  const Span all{group.begin, group.end};
  const Marks* marks = job.marks;
  const bool placed =
      job.places && job.places->drawn() && (job.places->away(all) > 0 || job.places->fellBack(all) > 0);
  const bool marked =
      marks && (marks->anything() || marks->hover.kind != Hit::Kind::nothing || !marks->matches.empty());
  const bool edited = job.isEdited(all);
  if (!placed && !marked && !edited) return;
  for (const CellBlock& block : picture.blocks) {
    const Span span{group.begin + block.begin, group.begin + block.end};
    const QRectF box = block.box.translated(corner);
    if (edited && job.isEdited(span))
      paintNotch(painter, box.topRight(), std::clamp(box.height() * 0.5, 3.0, 6.0), theme_(Token::edited),
                 theme_(Token::canvas));
    if (placed && block.live) {
      painter.setRenderHint(QPainter::Antialiasing, false);
      if (const DeviceMark mark = job.places->mark(span); mark != DeviceMark::none)
        painter.fillRect(QRectF(box.right() - 3, box.bottom() - 3, 3, 3), markColor(mark, theme_));
      if (job.places->fellBack(span) > 0) {
        painter.setPen(QPen(theme_(Token::warn), 1, Qt::DashLine));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(box.adjusted(0, 0, -1, -1));
      }
    }
    if (!marked) continue;
    const bool match =
        std::any_of(marks->matches.begin() + std::min<std::ptrdiff_t>(span.begin, std::ssize(marks->matches)),
                    marks->matches.begin() + std::min<std::ptrdiff_t>(span.end, std::ssize(marks->matches)),
                    [](char found) { return found != 0; });
    const bool isChosen = marks->choosesIn(span);
    const bool isHovered = marks->hover.node >= span.begin && marks->hover.node < span.end;
    if (!match && !isChosen && !isHovered) continue;
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(theme_(isChosen ? Token::accent
                               : match  ? Token::warn
                                        : Token::text2),
                        isChosen ? 2 : 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(box.adjusted(-1.5, -1.5, 1.5, 1.5), 2.5, 2.5);
  }
}

void PagePainter::paintFrame(QPainter& painter, const PaintJob& job, const PageLayer& layer) const {
  const PageShape* shape = job.pages->shapeOf(layer);
  const bool usual = !shape || shape->usual;
  const QColor ground = theme_(usual ? Token::panel : Token::raised),
               line = usual ? Theme::blend(theme_(Token::border), theme_(Token::edge), 0.17)
                            : theme_(Token::borderStrong);
  constexpr double kRadius = 8.5;
  const QRectF box = rectOf(layer.box);
  if (layer.live && frames_->draw(painter, box, kRadius * job.scale, ground, line)) return;
  QPen pen(line, 1);
  pen.setCosmetic(true);
  if (!layer.live) pen.setStyle(Qt::DashLine);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(pen);
  painter.setBrush(ground);
  painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), kRadius, kRadius);
}

/// The time in its colour.
void PagePainter::paintTime(QPainter& painter, const PaintJob& job, const PageLayer& layer,
                            const QString& time, const QFont& font, const QRectF& chip) const {
  const bool warm = job.heat && std::isfinite(layer.heat);
  const QColor ground = warm ? heatColor(job, layer.heat) : theme_(Token::hover);
  painter.setPen(Qt::NoPen);
  painter.setBrush(ground);
  painter.drawRoundedRect(chip, 3.5, 3.5);
  painter.setPen(warm ? Theme::textOn(ground) : theme_(Token::text2));
  drawLabel(painter, chip, Qt::AlignHCenter, time, font);
}

/// How the layer differs.
void PagePainter::paintWord(QPainter& painter, const PageLayer& layer, const QPointF& place,
                            double room) const {
  if (layer.word.isEmpty()) return;
  const QString word = elided(layer.word, wordFont_, room - 9);
  const QRectF chip(place, QSizeF(textWidth(word, wordFont_) + 9, 12.5));
  if (chip.width() > room) return;
  const bool edit = layer.edited && layer.live;
  painter.setPen(QPen(theme_(edit ? Token::edited : Token::borderStrong), edit ? 0.6 : 1));
  painter.setBrush(theme_(edit ? Token::editedBg : Token::hover));
  painter.drawRoundedRect(chip, 2.5, 2.5);
  painter.setPen(theme_(edit ? Token::edited : Token::text));
  drawLabel(painter, chip, Qt::AlignHCenter, word, wordFont_);
}

void PagePainter::paintHead(QPainter& painter, const PaintJob& job, const PageLayer& layer) const {
  const InPixels screen(painter, job, rectOf(layer.box).topLeft());
  const double width = layer.box.w * job.scale, height = kCellHead * job.scale;
  painter.setRenderHint(QPainter::Antialiasing);
  if (!layer.open) paintPlate(painter, job, layer);
  if (layer.edited)
    paintNotch(painter, {width, 0}, std::min(kNotch, width / 6), theme_(Token::edited),
               theme_(Token::canvas));
  if (width < kWrittenWidth) return;
  const bool near = job.detail == Detail::near, small = height < 13;
  const bool chevron = !layer.open || near;
  const QFont& font = near ? nearFont_ : width < kRoomyWidth ? smallNameFont_ : nameFont_;
  const double left = chevron ? (near ? 26 : 22) : 9, tall = near ? 17 : std::min(kChipHeight, height - 1);
  // Heads that are higher than their words need have them at the top.
  const double middle = near ? 17 : small ? height / 2 + 1 : std::min(height / 2 + 1, 11.0);
  if (chevron)
    paintIcon(painter, layer.open ? u"down" : u"right", QRectF(left - 16, middle - 6.5, 13, 13),
              theme_(Token::text2));
  const double notch = layer.edited ? 7 : 0;
  double room = width - left - 5;
  const PagePlace& page = job.pages->pages()[at(layer.page)];
  struct Time {
    const QString &text, &longest;
    const QFont& font;
    double pad;
  };
  const Time times[] = {{layer.time, page.longestTime, timeFont_, 10},
                        {layer.brief, page.longestBrief, timeFont_, 8},
                        {layer.brief, page.longestBrief, smallTimeFont_, 6}};
  const double nameWidth = textWidth(page.longestName, font);
  bool timed = false;
  for (const Time& time : times) {  // the name keeps what it needs
    if (time.text.isEmpty() || textWidth(time.longest, time.font) + time.pad + 4 + nameWidth + 7 > room)
      continue;
    const double wide = textWidth(time.text, time.font) + time.pad;
    paintTime(painter, job, layer, time.text, time.font,
              QRectF(width - 4 - notch - wide, middle - tall / 2, wide, tall));
    room -= wide + 4 + notch;
    timed = true;
    break;
  }
  if (!timed && job.heat && std::isfinite(layer.heat)) {  // no room for it: its colour
    constexpr double kSwatch = 9;
    paintTime(painter, job, layer, {}, timeFont_,
              QRectF(width - 5 - notch - kSwatch, middle - tall / 2 + 1, kSwatch, tall - 2));
    room -= kSwatch + 4 + notch;
  }
  painter.setPen(theme_(layer.live ? Token::text : Token::text3));
  const QString number = layer.name.section('.', -1);
  const QString name = fitted(layer.name, number, font, room);
  drawLabel(painter, QPointF(left, middle + (near ? 5 : 4)), name, font);
  const double inset = (kStreamInset + kStreamRoom) / 2 * job.scale;  // between the stream and the first op
  if (!near) return paintWord(painter, layer, {inset, std::max(height + 2, middle + 9)}, width * 0.55);
  const double after = left + textWidth(name, font) + 10;
  const QString doc = job.pages->spokenName(job.pages->layerOf(layer.group)).section(", ", 1);
  painter.setPen(theme_(Token::text3));
  drawLabel(painter, QPointF(left, middle + 24), doc, docFont_);
  paintWord(painter, layer, {after, middle - 6}, room - (after - left));
}

/// A folded layer: the head alone, on a second plate.
void PagePainter::paintPlate(QPainter& painter, const PaintJob& job, const PageLayer& layer) const {
  const double off = std::clamp(8 * job.scale, 1.5, 4.0);
  const QRectF plate(0.5, 0.5, layer.box.w * job.scale - 1 - off, layer.box.h * job.scale - 1);
  QPen pen(Theme::blend(theme_(Token::border), theme_(Token::edge), 0.5), 1);
  if (!layer.live) pen.setStyle(Qt::DashLine);
  painter.setPen(pen);
  const PageShape* shape = job.pages->shapeOf(layer);
  painter.setBrush(Theme::blend(theme_(Token::panel), theme_(Token::raised), 0.4));
  painter.drawRoundedRect(plate.translated(off, off), 5, 5);
  painter.setBrush(layer.live ? theme_(!shape || shape->usual ? Token::panel : Token::raised)
                              : theme_(Token::canvas));
  painter.drawRoundedRect(plate, 5, 5);
}

void PagePainter::paintMarks(QPainter& painter, const PaintJob& job, const PageLayer& layer) const {
  const bool lit = job.litShape < 0 || layer.shape == job.litShape;
  const bool isChosen = chosen(job, layer), isHovered = hovered(job, layer) || hoveredEnd(job, layer);
  if (lit && !isChosen && !isHovered && job.litShape < 0) return;
  const InPixels screen(painter, job, rectOf(layer.box).topLeft());
  const QRectF cell(0, 0, layer.box.w * job.scale, layer.box.h * job.scale);
  painter.setRenderHint(QPainter::Antialiasing);
  const auto ring = [&](double off, const QColor& color, double width, Qt::PenStyle style) {
    painter.setPen(QPen(color, width, style));
    painter.setBrush(Qt::NoBrush);
    const double radius = std::min(6.0, cell.width() / 4) + off;
    painter.drawRoundedRect(cell.adjusted(-off, -off, off, off), radius, radius);
  };
  if (!lit) {
    QColor veil = theme_(Token::canvas);
    veil.setAlphaF(0.66F);
    painter.fillRect(cell.adjusted(-1, -1, 1, 1), veil);
  }
  if (isChosen) ring(3, theme_(Token::accent), 2, Qt::SolidLine);
  if (isChosen && job.marks->focused) ring(5.5, theme_(Token::text), 1, Qt::DotLine);
  if (!isChosen && isHovered) ring(1.5, theme_(Token::text2), 1, Qt::SolidLine);
}

void PagePainter::paintGround(QPainter& painter, const PaintJob& job, const PagePlace& page) const {
  QPen dots(Theme::blend(theme_(Token::border), theme_(Token::edge), 0.5), 1, Qt::CustomDashLine);
  dots.setDashPattern({1.5, 3});
  dots.setCosmetic(true);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(dots);
  painter.setBrush(Qt::NoBrush);
  const Rect visible = job.visible.grown(12);
  for (int i = page.first; i < page.first + page.count; ++i) {
    const PageLayer& layer = job.pages->layers()[at(i)];
    if ((layer.group >= 0 && layer.open) || !layer.area.intersects(visible) || !job.shows(layer.area))
      continue;
    const double radius = std::min(17.0, 5 / job.scale);
    painter.drawRoundedRect(rectOf(layer.area), radius, radius);
  }
}

/// "layers 5–9" and what they take together, of one size at every scale; where one has no room for all of it,
/// none has all.
void PagePainter::paintColumns(QPainter& painter, const PaintJob& job, const PagePlace& page) const {
  constexpr double kApart = 10;
  const auto begin = job.pages->columns().begin() + page.firstColumn,
             end = begin + std::ssize(page.page->columns);
  const auto fits = [&](const auto& widthOf) {
    return std::all_of(begin, end, [&](const PageColumnHead& column) {
      return widthOf(column) <= column.width * job.scale;
    });
  };
  const auto numbers = [](const PageColumnHead& column) { return column.name.section(' ', -1); };
  const auto timeWidth = [this](const PageColumnHead& column) {
    return textWidth(column.time, columnTimeFont_) + kApart;
  };
  const bool timed =
      fits([&](const PageColumnHead& c) { return textWidth(numbers(c), columnFont_) + timeWidth(c); });
  const bool whole = fits(
      [&](const PageColumnHead& c) { return textWidth(c.name, columnFont_) + (timed ? timeWidth(c) : 0); });
  for (auto column = begin; column != end; ++column) {
    const Rect line{column->label.x, column->label.y - 16 / job.scale, column->width, 20 / job.scale};
    if (!line.intersects(job.visible) || !job.shows(line)) continue;
    const double width = column->width * job.scale;
    if (width < kLeastName) continue;
    QString name = whole ? column->name : numbers(*column);
    if (textWidth(name, columnFont_) > width) {  // where it begins, as far as the gutter
      name = name.section(QChar(0x2013), 0, 0);
      if (textWidth(name, columnFont_) > (column->width + kPageGutter) * job.scale - 3) continue;
    }
    const InPixels screen(painter, job, {column->label.x, column->label.y});
    painter.setPen(theme_(holdsAttention(job, *column) ? Token::text : Token::text2));
    drawLabel(painter, QPointF(0, 0), name, columnFont_);
    if (timed)
      drawLabel(painter, QPointF(width - timeWidth(*column) + kApart, 0), column->time, columnTimeFont_);
  }
}

/// Beside a page also what stands around it says its name, and its value where that has room.
void PagePainter::paintBoxWords(QPainter& painter, const PaintJob& job, const QRectF& box,
                                const QString& name, const QString& value, const QColor& ground) const {
  constexpr double kPad = 5, kApart = 8;
  if (!CellPictures::hasWords({job.scale, 1})) return;
  const InPixels screen(painter, job, box.topLeft());
  const double width = box.width() * job.scale, height = box.height() * job.scale, room = width - 2 * kPad;
  const double valueWidth = textWidth(value, boxValueFont_);
  const bool both = !value.isEmpty() && textWidth(name, boxFont_) + kApart + valueWidth <= room;
  const double baseline = std::round(height / 2 + 3.2);
  painter.setPen(Theme::textOn(ground));
  const QString shown = elided(name, boxFont_, both ? room - valueWidth - kApart : room);
  if (textWidth(shown, boxFont_) <= room) drawLabel(painter, QPointF(kPad, baseline), shown, boxFont_);
  if (both) drawLabel(painter, QPointF(width - kPad - valueWidth, baseline), value, boxValueFont_);
}

}  // namespace orrery::ui
