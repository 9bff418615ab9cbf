#include "ui/session/saved_file.h"

#include <QSaveFile>

namespace orrery::ui {

Result<void> saveFile(const QString& path, const QByteArray& text) {
  QSaveFile file(path);
  if (file.open(QIODevice::WriteOnly) && file.write(text) == text.size() && file.commit()) return {};
  return Error{ErrorCode::io, file.errorString().toStdString(), path.toStdString(),
               "choose another folder or name"};
}

}  // namespace orrery::ui
