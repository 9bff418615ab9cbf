#include "ui/shell/file_drops.h"

#include <QCoreApplication>
#include <QDropEvent>
#include <QMimeData>
#include <QUrl>
#include <algorithm>

#include "ui/frame/file_taker.h"

namespace orrery::ui {
namespace {

QStringList filesOf(const QMimeData& data) {
  QStringList paths;
  for (const QUrl& url : data.urls())
    if (url.isLocalFile()) paths += url.toLocalFile();
  return paths;
}

bool takes(const QWidget& widget, const QStringList& paths) {
  const QString end = widget.property(kTakesFiles).toString();
  return !end.isEmpty() &&
         std::all_of(paths.begin(), paths.end(), [&](const QString& path) { return path.endsWith(end); });
}

}  // namespace

FileDrops::FileDrops(QWidget* window) : QObject(window), window_(window) {
  window->setAcceptDrops(true);
  QCoreApplication::instance()->installEventFilter(this);
}

bool FileDrops::eventFilter(QObject* object, QEvent* event) {
  const bool leave = event->type() == QEvent::DragLeave, drop = event->type() == QEvent::Drop;
  if (!leave && !drop && event->type() != QEvent::DragEnter && event->type() != QEvent::DragMove)
    return false;
  const auto* widget = qobject_cast<QWidget*>(object);
  if (!widget || widget->window() != window_) return false;
  if (leave) {
    if (!std::exchange(inside_, false)) return false;
    emit left();
    return true;
  }
  auto* drag = static_cast<QDropEvent*>(event);  // the others are made of it
  const QStringList paths = filesOf(*drag->mimeData());
  if (paths.isEmpty() || takes(*widget, paths)) return false;
  drag->acceptProposedAction();
  if (!std::exchange(inside_, !drop) && !drop) emit entered(paths);
  if (drop) {
    emit left();
    emit dropped(paths);
  }
  return true;
}

}  // namespace orrery::ui
