// The drawing as a file: png, svg or pdf, in the light theme.
#include <QFileInfo>
#include <QImage>
#include <QPageSize>
#include <QPdfWriter>
#include <QSvgGenerator>

#include "ui/graph/graph_view_private.h"

namespace orrery::ui {
namespace {

constexpr double kPictureMargin = 24;

bool refuse(QString* reason, const QString& text) {
  if (reason) *reason = text;
  return false;
}

}  // namespace

bool GraphView::exportImage(const QString& path, QString* reason) {
  Private& d = *d_;
  if (!d.drawing) return refuse(reason, tr("There is no graph to export: open a model first"));
  const Theme light(Theme::Mode::light, d.theme.bodySize());
  const ScenePainter scenePainter(light);
  const Rect box = d.drawing.bounds();
  const QSizeF size(box.w + 2 * kPictureMargin, box.h + 2 * kPictureMargin);
  Marks none;
  PaintJob job = d.job(QRectF());
  job.marks = &none;
  job.visible = box.grown(kPictureMargin);
  job.detail = Detail::near;
  job.scale = 1;
  job.running = -1;
  const auto draw = [&](QPainter& painter) {
    painter.fillRect(QRectF(QPointF(), size), light(Token::canvas));
    painter.translate(kPictureMargin - box.x, kPictureMargin - box.y);
    scenePainter.paint(painter, job);
  };
  const QString suffix = QFileInfo(path).suffix().toLower();
  if (suffix == QLatin1String("svg")) {
    QSvgGenerator svg;
    svg.setFileName(path);
    svg.setResolution(96);
    svg.setSize(size.toSize());
    svg.setViewBox(QRectF(QPointF(), size));
    svg.setTitle(d.name);
    QPainter painter;
    if (!painter.begin(&svg))
      return refuse(reason, tr("%1 cannot be written: choose another folder").arg(path));
    draw(painter);
    return painter.end();
  }
  if (suffix == QLatin1String("pdf")) {
    QPdfWriter pdf(path);
    pdf.setTitle(d.name);
    pdf.setResolution(96);
    pdf.setPageSize(QPageSize(size * 72 / 96, QPageSize::Point, QString(), QPageSize::ExactMatch));
    pdf.setPageMargins({});
    QPainter painter;
    if (!painter.begin(&pdf))
      return refuse(reason, tr("%1 cannot be written: choose another folder").arg(path));
    draw(painter);
    return painter.end();
  }
  if (suffix != QLatin1String("png"))
    return refuse(reason, tr("%1 is no picture format that Orrery writes: use png, svg or pdf").arg(suffix));
  constexpr double kMostPixels = 12000;  // of a side
  const double ratio = std::min({2.0, kMostPixels / size.width(), kMostPixels / size.height()});
  QImage image((size * ratio).toSize(), QImage::Format_RGB32);
  if (image.isNull())
    return refuse(reason, tr("There is not enough memory for the picture: fold some groups"));
  QPainter painter(&image);
  painter.scale(ratio, ratio);
  job.detail = detailAt(ratio, Detail::near);
  job.scale = ratio;
  draw(painter);
  painter.end();
  return image.save(path) || refuse(reason, tr("%1 cannot be written: choose another folder").arg(path));
}

}  // namespace orrery::ui
