#include "ui/session/model_title.h"

#include <QDir>
#include <QFileInfo>

namespace orrery::ui {
namespace {

/// A folder's name is its name with and without a slash at the end.
QFileInfo infoOf(const std::string& path) { return QFileInfo(QDir::cleanPath(QString::fromStdString(path))); }

}  // namespace

QString modelTitle(const api::Session& session) {
  const api::ModelInfo& info = session.info();
  const QString own = QString::fromStdString(info.name),
                opened = QString::fromStdString(session.options().model);
  const QFileInfo file = infoOf(info.path), adapter = infoOf(session.options().adapter);
  if (!adapter.fileName().isEmpty())
    return adapter.isFile() ? adapter.completeBaseName() : adapter.fileName();
  if (!opened.contains('/') && QFileInfo(opened) != file) return opened;  // a name, not a path
  if (!file.isFile()) return file.fileName().isEmpty() ? own : file.fileName();
  QString title = file.completeBaseName();
  const QString dtype = QString::fromStdString(info.main_dtype);
  if (!dtype.isEmpty() && title.endsWith(dtype, Qt::CaseInsensitive)) title.chop(dtype.size());
  while (title.endsWith('.') || title.endsWith('-') || title.endsWith('_')) title.chop(1);
  return title.isEmpty() ? own : title;
}

QString shortTitle(const QString& title) { return title.section('-', 0, 0); }

QString deviceTitle(const std::string& device) {
  return QString::fromStdString(device).toUpper().replace(':', ' ');
}

}  // namespace orrery::ui
