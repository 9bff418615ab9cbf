// Ctrl+Z and Ctrl+Shift+Z belong to a text field only while it has something to undo or redo; otherwise to
// the window's actions. By themselves text fields take both keys whenever they have the focus.
#pragma once

#include <QObject>

namespace orrery::ui {

class UndoKeys : public QObject {
  Q_OBJECT
 public:
  explicit UndoKeys(QObject* parent);

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;
};

}  // namespace orrery::ui
