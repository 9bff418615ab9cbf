#include "ui/graph/lens_painter.h"

#include <cmath>

#include "ui/graph/node_box.h"
#include "ui/theme/text_metrics.h"

namespace orrery::ui {
namespace {

constexpr double kRadius = 8.5, kStream = 2.4;

}  // namespace

LensPainter::LensPainter(const Theme& theme) : theme_(theme) {}

void LensPainter::paint(QPainter& painter, const ScenePainter& scene, PaintJob job,
                        const LensLook& look) const {
  const std::shared_ptr<const GroupLayout> inner = job.pages->innerOf(*look.layer);
  if (!inner) return;
  painter.save();
  painter.resetTransform();
  painter.setRenderHint(QPainter::Antialiasing);
  paintGround(painter, look.frame);
  paintHead(painter, scene, job, look);
  paintFoot(painter, look);
  const QRectF& frame = look.frame;
  painter.setClipRect(frame.adjusted(1, kLensHead, -1, -kLensFoot));
  painter.translate(frame.left(), frame.top() + kLensHead - kCellHead * look.scale);
  painter.scale(look.scale, look.scale);
  job.detail = detailAt(look.scale, Detail::near);
  job.scale = look.scale;
  job.blocks = false;
  job.visible = {0, 0, inner->halfWidth * 2, inner->height};
  scene.paintInside(painter, job, look.layer->group, *inner, {inner->halfWidth, 0});
  painter.restore();
}

/// A popup: with a soft edge instead of a shadow that would cost a blur.
void LensPainter::paintGround(QPainter& painter, const QRectF& frame) const {
  painter.setPen(Qt::NoPen);
  for (const double reach : {11.0, 7.0, 4.0, 2.0}) {
    painter.setBrush(QColor(0, 0, 0, theme_.isDark() ? 40 : 14));
    painter.drawRoundedRect(frame.adjusted(-reach, -reach * 0.5, reach, reach * 1.5), kRadius + reach,
                            kRadius + reach);
  }
  painter.setPen(QPen(theme_(Token::text2), 1));
  painter.setBrush(theme_(Token::panel));
  painter.drawRoundedRect(frame.adjusted(0.5, 0.5, -0.5, -0.5), kRadius, kRadius);
}

void LensPainter::paintHead(QPainter& painter, const ScenePainter& scene, const PaintJob& job,
                            const LensLook& look) const {
  const Theme plain(theme_.mode());
  const QFont name = plain.textFont(13, QFont::DemiBold), doc = plain.textFont(11),
              time = plain.monoFont(11, QFont::Medium);
  const QRectF& frame = look.frame;
  const PageLayer& layer = *look.layer;
  const double stream = frame.left() + kStreamInset * look.scale;
  painter.setPen(QPen(theme_(Token::edge), kStream, Qt::SolidLine, Qt::FlatCap));
  painter.drawLine(QPointF(stream, frame.top() + 1), QPointF(stream, frame.top() + 5));
  double right = frame.right() - 10;
  if (!layer.time.isEmpty()) {
    const QRectF chip(right - textWidth(layer.time, time) - 12, frame.top() + 5.5,
                      textWidth(layer.time, time) + 12, 17);
    const bool warm = job.heat && std::isfinite(layer.heat);
    const QColor ground = warm ? scene.heatColor(job, layer.heat) : theme_(Token::hover);
    painter.setPen(Qt::NoPen);
    painter.setBrush(ground);
    painter.drawRoundedRect(chip, 4, 4);
    painter.setPen(warm ? Theme::textOn(ground) : theme_(Token::text2));
    drawLabel(painter, chip, Qt::AlignHCenter, layer.time, time);
    right = chip.left() - 8;
  }
  double x = frame.left() + 28;
  painter.setPen(theme_(Token::text));
  const QString shown = elided(layer.name, name, right - x);
  drawLabel(painter, QPointF(x, frame.top() + 18.5), shown, name);
  x += textWidth(shown, name) + 10;
  const int index = static_cast<int>(look.layer - job.pages->layers().data());
  const QString place = job.pages->spokenName(index).section(", ", 1), differs = layer.word;
  for (const auto& [words, token] :
       {std::pair(differs, layer.edited ? Token::edited : Token::text2), std::pair(place, Token::text3)}) {
    if (words.isEmpty() || x + textWidth(words, doc) > right) continue;
    painter.setPen(theme_(token));
    drawLabel(painter, QPointF(x, frame.top() + 18.5), words, doc);
    x += textWidth(words, doc) + 10;
  }
}

/// What the keys do, as far as there is room.
void LensPainter::paintFoot(QPainter& painter, const LensLook& look) const {
  const Theme plain(theme_.mode());
  const QFont key = plain.monoFont(10), word = plain.textFont(10.5), size = plain.monoFont(10.5);
  const QRectF& frame = look.frame;
  const double middle = frame.bottom() - kLensFoot / 2 + 1;
  const QString times = QString::number(look.magnification, 'f', 1) + QChar(0xD7);
  const double right = frame.right() - 10 - textWidth(times, size);
  painter.setPen(theme_(Token::text2));
  drawLabel(painter, QPointF(right, middle + 4), times, size);
  const std::pair<QString, QString> hints[] = {
      {QStringLiteral("Z"), look.pinned ? QStringLiteral("close") : QStringLiteral("pin")},
      {QStringLiteral("↑↓"), QStringLiteral("next")},
      {QStringLiteral("Wheel"), QStringLiteral("size")},
      {QStringLiteral("Enter"), QStringLiteral("open")}};
  double x = frame.left() + 29;
  for (const auto& [sign, words] : hints) {
    const double wide = textWidth(sign, key) + 7, all = wide + 6 + textWidth(words, word);
    if (x + all > right - 12) return;
    const QRectF box(x + 0.5, middle - 7, wide, 14);
    painter.setPen(QPen(theme_(Token::border), 1));
    painter.setBrush(theme_(Token::raised));
    painter.drawRoundedRect(box, 2.5, 2.5);
    painter.setPen(theme_(Token::text2));
    drawLabel(painter, box, Qt::AlignHCenter, sign, key);
    painter.setPen(theme_(Token::text3));
    drawLabel(painter, QPointF(x + wide + 6, middle + 4), words, word);
    x += all + 14;
  }
}

}  // namespace orrery::ui
