// An op that is dragged from a list onto the drawing.
#pragma once

#include <QMimeData>
#include <QString>

namespace orrery::ui {

inline constexpr const char* kOpMime = "application/x-orrery-op";

inline QMimeData* mimeOfOp(const QString& op) {
  auto* mime = new QMimeData;
  mime->setData(kOpMime, op.toUtf8());
  return mime;
}
/// Its name; empty: it is another drag.
inline QString opIn(const QMimeData* mime) { return QString::fromUtf8(mime->data(kOpMime)); }

}  // namespace orrery::ui
