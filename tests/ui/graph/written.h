// What a painter writes and where: what a person reads of its work.
#pragma once

#include <QPainter>
#include <QRectF>
#include <QStringList>
#include <functional>
#include <vector>

namespace orrery::ui::testing {

struct Written {
  QString text;
  QRectF area;  // of the ink, in pixels
};

std::vector<Written> writtenBy(const QSize& size, const std::function<void(QPainter&)>& paint);
/// Of what brings a painter of its own.
std::vector<Written> writtenOn(const QSize& size, const std::function<void(QPaintDevice&)>& paint);
/// Every pair of texts whose ink overlaps: "a over b".
QStringList overlaps(const std::vector<Written>& written);
/// Something was left out.
bool isCut(const QString& text);

}  // namespace orrery::ui::testing
