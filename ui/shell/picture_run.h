// The form of the program that takes a picture: does the named work in the real window, waits, saves what is
// seen.
#pragma once

#include <QObject>
#include <QString>

#include "ui/shell/main_window.h"

namespace orrery::ui {

struct PictureOptions {
  QString file;
  double after = 3;  // seconds after the model has loaded (or failed to)
  QString say;       // typed into the page's field and sent; empty: nothing
  QString page = "chat";
};

class PictureRun : public QObject {
  Q_OBJECT
 public:
  PictureRun(MainWindow* window, const PictureOptions& options, QObject* parent = nullptr);

 signals:
  /// With an error's text, or an empty one when the picture was saved.
  void finished(const QString& error);

 private:
  void begin();
  void say();
  void take();

  MainWindow* window_;
  PictureOptions options_;
  bool begun_ = false;
};

}  // namespace orrery::ui
