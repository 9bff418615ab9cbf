// The form of the program that takes a picture: waits until the first words are said, and then as long as it
// is told, saves what is seen.
#pragma once

#include <QObject>
#include <QString>

#include "ui/shell/first_words.h"

namespace orrery::ui {

struct PictureOptions {
  QString file;
  double after = 3;  // seconds after the first words
};

class PictureRun : public QObject {
  Q_OBJECT
 public:
  PictureRun(MainWindow* window, FirstWords* words, const PictureOptions& options, QObject* parent = nullptr);

 signals:
  /// With an error's text, or an empty one when the picture was saved.
  void finished(const QString& error);

 private:
  void take();

  MainWindow* window_;
  PictureOptions options_;
};

}  // namespace orrery::ui
