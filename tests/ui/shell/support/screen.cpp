#include "support/screen.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryFile>

namespace orrery::ui::testing {

void useScreen(const QSize& size) {
  const QByteArray asked = qgetenv("QT_QPA_PLATFORM");
  if (!asked.isEmpty() && asked != "offscreen") return;
  const QJsonObject screen{{"name", "made"},
                           {"x", 0},
                           {"y", 0},
                           {"width", size.width()},
                           {"height", size.height()},
                           {"logicalDpi", 96},
                           {"logicalBaseDpi", 96},
                           {"dpr", 1.0}};
  const QJsonObject platform{{"synchronousWindowSystemEvents", false},
                             {"windowFrameMargins", true},
                             {"screens", QJsonArray{screen}}};
  static QTemporaryFile file;  // until the program ends
  if (!file.open()) qFatal("The screen's file cannot be written: %s", qPrintable(file.errorString()));
  file.write(QJsonDocument(platform).toJson());
  file.flush();
  qputenv("QT_QPA_PLATFORM", "offscreen:configfile=" + file.fileName().toUtf8());
}

}  // namespace orrery::ui::testing
