// Puts a window and its docks back to where they were, and tells what is to be remembered. Docks are shared
// out once the window has its size, and again while the desktop gives it another one before the person does
// anything: what is shared out in a smaller window would stay small. What had to be made smaller for this
// screen, and was left so, is remembered as it was before.
#pragma once

#include <QMainWindow>
#include <QTimer>
#include <functional>

namespace orrery::ui {

class WindowLayout : public QObject {
  Q_OBJECT
 public:
  /// Where none are remembered, `place` says where docks are and `shareOut` how large.
  WindowLayout(QMainWindow* window, std::function<void()> place, std::function<void()> shareOut);

  /// `usual`: the window's size where none is remembered. Before the window is shown.
  void restore(const QByteArray& geometry, const QByteArray& docks, const QSize& usual);
  /// Another arrangement of the docks, now; empty, or one that cannot be read: it is made anew.
  void turnTo(const QByteArray& docks);
  /// Something was done with the docks: from now on they stay as they are.
  void settle() { settled_ = true; }
  QByteArray geometry() const;
  QByteArray docks() const;

 signals:
  /// Before they are laid out.
  void placed();
  /// `remembered`: as they were, not made anew.
  void restored(bool remembered);

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  void fitScreen();
  void restoreDocks();
  void noteRestored(QWidget* focus, bool remembered);

  QMainWindow* window_;
  std::function<void()> place_, shareOut_;
  QByteArray geometry_, docks_, docksRestored_;
  QSize fitted_;  // the window's, made smaller for this screen
  QTimer soon_;
  bool settled_ = false;
};

}  // namespace orrery::ui
