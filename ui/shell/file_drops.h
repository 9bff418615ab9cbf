// Files that are dragged over a window and dropped on it, wherever in it: fields and views that would take
// them as text, or refuse them, are passed over, but for widgets that take such files (frame/file_taker.h).
#pragma once

#include <QStringList>
#include <QWidget>

namespace orrery::ui {

class FileDrops : public QObject {
  Q_OBJECT
 public:
  explicit FileDrops(QWidget* window);

 signals:
  void entered(const QStringList& paths);
  void left();
  void dropped(const QStringList& paths);  // after left

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  QWidget* window_;
  bool inside_ = false;
};

}  // namespace orrery::ui
