#include "ui/graph/cell_pictures.h"

#include <QPainterPath>
#include <cmath>
#include <set>

#include "ui/graph/node_box.h"
#include "ui/graph/scene_graph.h"
#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

constexpr double kLeastWords = 6.6;  // pixels that a block with a word is high
constexpr double kNoHeadLine = 4;    // of the stream over a layer's title
constexpr double kTypeGap = 4;       // between a name and what its op computes in
constexpr size_t kMostKnown = 256;

/// All boxes of a layer, with the frames around them: calls back in the layer's own coordinates.
template <class Box, class Frame>
void walk(const SceneGraph& scene, int group, const GroupLayout& layout, Point origin, const Box& box,
          const Frame& frame, bool framed = false) {
  for (const Placed& placed : layout.items) {
    const Rect area = placed.box.moved(origin.x, origin.y);
    if (placed.kind != Placed::Kind::open) {
      box(group, placed, area, framed);
      continue;
    }
    frame(area);
    walk(scene, scene.groups[at(group)].children[at(placed.first)].index, *placed.inner,
         innerOrigin(placed, origin), box, frame, true);
  }
}

QString shortName(const QString& name) {
  QString brief = name;
  if (brief.endsWith(QLatin1String("_proj")) && brief.size() > 5) brief.chop(5);
  if (brief.startsWith(QLatin1String("attn_")) && brief.size() > 5) brief.remove(0, 5);
  return brief;
}

}  // namespace

QStringList briefNames(const QStringList& names) {
  std::map<QString, std::set<QString>> meant;  // by a word, the names that it may stand for
  for (const QString& name : names) {
    meant[name].insert(name);
    meant[shortName(name)].insert(name);
  }
  QStringList brief;
  for (const QString& name : names) brief += meant[shortName(name)].size() == 1 ? shortName(name) : name;
  return brief;
}

QStringList distinctWords(const QStringList& names, QStringList words) {
  std::map<QString, std::set<QString>> meant;  // by a word, whose it is
  for (qsizetype i = 0; i < names.size(); ++i) meant[words[i]].insert(names[i]);
  for (qsizetype i = 0; i < names.size(); ++i)
    if (words[i] != names[i] && meant[words[i]].size() > 1) words[i].clear();
  return words;
}

CellPictures::CellPictures(const Theme& theme) : theme_(theme) {
  const Theme plain(theme.mode());
  nameFont_ = plain.textFont(9, QFont::Medium);
  typeFont_ = plain.monoFont(9);
}

std::vector<CellBlock> CellPictures::blocksOf(const CellSubject& subject, const PixelScale& pixels) const {
  const SceneGraph& scene = *subject.scene;
  const int layer = subject.layer->group, begin = scene.groups[at(layer)].begin;
  const Point corner{-subject.inner->halfWidth, 0};
  std::vector<CellBlock> blocks;
  const auto addBlock = [&](int group, const Placed& placed, const Rect& area, bool framed) {
    const SceneGroup& holder = scene.groups[at(group)];
    const Span span = spanOf(scene, holder, placed);
    const SceneChild& child = holder.children[at(placed.first)];
    const auto px = [&](double units) { return pixels.rounded(units * pixels.scale); };
    const double left = px(area.x - corner.x), top = px(area.y), right = px(area.right() - corner.x),
                 bottom = px(area.bottom());
    blocks.push_back({QRectF(left, top, std::max(1.0, right - left), std::max(1.0, bottom - top)),
                      span.begin - begin, span.end - begin,
                      child.isGroup ? scene.groups[at(child.index)].live : scene.nodes[at(child.index)].live,
                      framed,
                      QString::fromStdString(child.isGroup ? scene.groups[at(child.index)].name
                                                           : scene.nodes[at(child.index)].name)});
  };
  walk(scene, layer, *subject.inner, {}, addBlock, [](const Rect&) {});
  return blocks;
}

bool CellPictures::hasWords(const PixelScale& pixels) { return kNodeHeight * pixels.scale >= kLeastWords; }

QColor CellPictures::colorOf(bool ratio, double heat) const {
  return ratio ? theme_.ratio(8 * heat - 4) : theme_.heat(heat);
}

void CellPictures::paintGround(QPainter& painter, const CellSubject& subject,
                               const std::vector<CellBlock>& blocks, const PixelScale& pixels) const {
  const double scale = pixels.scale, radius = std::clamp(17 * scale, 1.0, 5.5);
  const bool usual = subject.shape->usual, live = subject.layer->live;
  const QRectF cell(0, 0, pixels.rounded(subject.layer->box.w * scale),
                    pixels.rounded(subject.layer->box.h * scale));
  painter.setRenderHint(QPainter::Antialiasing);
  QPen frame(
      usual ? Theme::blend(theme_(Token::border), theme_(Token::edge), 0.17) : theme_(Token::borderStrong),
      1);
  if (!live) frame.setStyle(Qt::DashLine);
  painter.setPen(frame);
  painter.setBrush(live ? QBrush(theme_(usual ? Token::panel : Token::raised)) : QBrush(Qt::NoBrush));
  painter.drawRoundedRect(cell.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius);
  painter.setPen(Qt::NoPen);
  const auto addFrame = [&](const Rect& area) {
    const QRectF half((area.x + subject.inner->halfWidth) * scale, area.y * scale, area.w * scale,
                      area.h * scale);
    painter.setBrush(theme_(Token::canvas));
    painter.drawRoundedRect(half, radius * 0.7, radius * 0.7);
  };
  if (live)
    walk(
        *subject.scene, subject.layer->group, *subject.inner, {},
        [](int, const Placed&, const Rect&, bool) {}, addFrame);
  paintLines(painter, subject, pixels);
  QPen hollow(theme_(Token::text3), 1, Qt::DashLine);
  painter.setPen(hollow);
  painter.setBrush(Qt::NoBrush);
  for (const CellBlock& block : blocks)
    if (!block.live) painter.drawRect(block.box.adjusted(0.5, 0.5, -0.5, -0.5));
}

/// The stream, its taps and rings; the wires between ops would be ticks of a pixel.
void CellPictures::paintLines(QPainter& painter, const CellSubject& subject, const PixelScale& pixels) const {
  const double scale = pixels.scale, head = kCellHead * scale;
  const auto place = [&](Point p) { return QPointF((p.x + subject.inner->halfWidth) * scale, p.y * scale); };
  const QColor color = theme_(Token::edge);
  const bool titled = subject.layer->box.w * scale >= 90;
  painter.setBrush(Qt::NoBrush);
  for (const PlacedWire& wire : subject.inner->wires) {
    if (wire.kind == WireKind::plain) continue;
    painter.setPen(QPen(color, wire.kind == WireKind::stream ? 1.6 : 1, Qt::SolidLine, Qt::FlatCap));
    QPointF from = place(wire.points.front()), to = place(wire.points.back());
    if (wire.kind == WireKind::stream && titled && from.y() < head && from.x() == to.x()) {
      painter.drawLine(from, QPointF(from.x(), std::min(kNoHeadLine, to.y())));
      from.setY(head - 2);
      if (from.y() >= to.y()) continue;
    }
    painter.drawLine(from, to);
    if (wire.kind != WireKind::ring || scale < 0.15) continue;
    painter.setPen(QPen(color, 1.2));
    painter.setBrush(theme_(Token::canvas));
    painter.drawEllipse(to, 2.2, 2.2);
    painter.setBrush(Qt::NoBrush);
  }
}

void CellPictures::roundCorners(QPainter& painter, const CellSubject& subject, const CellBlock& block) const {
  QPainterPath corners;
  corners.addRect(block.box);
  corners.addRoundedRect(block.box, 2, 2);  // the outer shape less the inner one
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme_(block.framed           ? Token::canvas
                          : subject.shape->usual ? Token::panel
                                                 : Token::raised));
  painter.drawPath(corners);
}

std::vector<CellPictures::Label> CellPictures::labelsOf(const CellSubject& subject,
                                                        const std::vector<CellBlock>& blocks) const {
  constexpr double kPad = 1;
  QStringList names;
  for (const CellBlock& block : blocks) names += block.name;
  const QStringList briefs = briefNames(names);
  std::vector<Label> labels;
  QStringList words;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const CellBlock& block = blocks[i];
    const QString& brief = briefs[static_cast<qsizetype>(i)];
    const double room = block.box.width() - 2 * kPad;
    Label label;
    if (block.end == block.begin + 1) label.type = subject.shape->nodeWords[at(block.begin)];
    label.typeWidth = label.type.isEmpty() ? 0 : textWidth(label.type, typeFont_) + kTypeGap;
    if (textWidth(brief, nameFont_) + label.typeWidth > room) label = {};
    label.name = fitted(block.name, brief, nameFont_, room - label.typeWidth);
    if (textWidth(label.name, nameFont_) > room) label = {};
    words += label.name;
    labels.push_back(std::move(label));
  }
  const QStringList distinct = distinctWords(names, words);
  for (size_t i = 0; i < labels.size(); ++i)
    if (distinct[static_cast<qsizetype>(i)].isEmpty()) labels[i] = {};
  return labels;
}

/// Black or white by the middle one of the shape's layers, so that equal layers look equal; then what rounds
/// the blocks' corners.
void CellPictures::paintWords(QPainter& painter, const CellSubject& subject,
                              const std::vector<CellBlock>& blocks) const {
  painter.setRenderHint(QPainter::Antialiasing);
  const std::vector<Label> labels = labelsOf(subject, blocks);
  for (size_t i = 0; i < blocks.size(); ++i) {
    const CellBlock& block = blocks[i];
    const Label& label = labels[i];
    if (block.live) roundCorners(painter, subject, block);
    if (label.name.isEmpty()) continue;
    const double heat = block.end == block.begin + 1 ? subject.shape->medians[at(block.begin)] : std::nan("");
    painter.setPen(!block.live           ? theme_(Token::text3)
                   : std::isfinite(heat) ? Theme::textOn(colorOf(subject.ratio, heat))
                                         : theme_(Token::text));
    const double width = textWidth(label.name, nameFont_) + label.typeWidth;
    const QPointF baseline(block.box.center().x() - width / 2, std::round(block.box.center().y() + 3.2));
    drawLabel(painter, baseline, label.name, nameFont_);
    if (!label.type.isEmpty())
      drawLabel(painter, baseline + QPointF(width - label.typeWidth + kTypeGap, 0), label.type, typeFont_);
  }
}

size_t CellPictures::wordsOf(const PageShape& shape, bool ratio) const {
  size_t seed = ratio;
  for (size_t i = 0; i < shape.medians.size(); ++i) {
    const double heat = shape.medians[i];
    const int tone = !std::isfinite(heat)                                       ? 0
                     : Theme::textOn(colorOf(ratio, heat)) == QColor(Qt::black) ? 1
                                                                                : 2;
    seed = qHashMulti(seed, tone, shape.nodeWords[i]);
  }
  return seed;
}

const CellPicture& CellPictures::of(const CellSubject& subject, const PixelScale& pixels) {
  if (!(pixels == pixels_) || known_.size() > kMostKnown) known_.clear();
  pixels_ = pixels;
  const auto device = [&pixels](double units) {
    return static_cast<int>(std::lround(units * pixels.scale * pixels.ratio));
  };
  const Key key{subject.inner.get(), device(subject.layer->box.w), device(subject.layer->box.h),
                subject.shape->usual, subject.words};
  const auto [place, fresh] = known_.try_emplace(key);
  CellPicture& picture = place->second;
  if (!fresh) return picture;
  picture.layout = subject.inner;
  picture.blocks = blocksOf(subject, pixels);
  const auto paint = [&](const auto& draw) {
    QPixmap pixmap(std::max(1, key.width), std::max(1, key.height));
    pixmap.fill(Qt::transparent);
    pixmap.setDevicePixelRatio(pixels.ratio);
    QPainter painter(&pixmap);
    draw(painter);
    painter.end();
    return pixmap;
  };
  picture.ground = paint([&](QPainter& painter) { paintGround(painter, subject, picture.blocks, pixels); });
  if (hasWords(pixels))
    picture.words = paint([&](QPainter& painter) { paintWords(painter, subject, picture.blocks); });
  return picture;
}

}  // namespace orrery::ui
