#include "ui/session/model_title.h"

#include <QFileInfo>

namespace orrery::ui {

QString modelTitle(const api::ModelInfo& info) {
  const QString own = QString::fromStdString(info.name);
  const QFileInfo file(QString::fromStdString(info.path));
  if (!file.isFile()) return file.fileName().isEmpty() ? own : file.fileName();
  QString title = file.completeBaseName();
  const QString dtype = QString::fromStdString(info.main_dtype);
  if (!dtype.isEmpty() && title.endsWith(dtype, Qt::CaseInsensitive)) title.chop(dtype.size());
  while (title.endsWith('.') || title.endsWith('-') || title.endsWith('_')) title.chop(1);
  return title.isEmpty() ? own : title;
}

QString modelShortTitle(const api::ModelInfo& info) { return modelTitle(info).section('-', 0, 0); }

QString deviceTitle(const std::string& device) {
  return QString::fromStdString(device).toUpper().replace(':', ' ');
}

}  // namespace orrery::ui
