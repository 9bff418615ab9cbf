// What the command line asks the window to do with the model it opens: go to a page, say a text there.
#pragma once

#include <QObject>
#include <QString>

namespace orrery::ui {

class MainWindow;

struct FirstWordsOptions {
  QString say;  // typed into the page's field and sent; empty: nothing
  QString page = "chat";
};

class FirstWords : public QObject {
  Q_OBJECT
 public:
  FirstWords(MainWindow* window, const FirstWordsOptions& options, QObject* parent = nullptr);

 signals:
  void said();  // once the model has loaded, or failed to

 private:
  void begin();
  void say();

  MainWindow* window_;
  FirstWordsOptions options_;
  bool begun_ = false;
};

}  // namespace orrery::ui
