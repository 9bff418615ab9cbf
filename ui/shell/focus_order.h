// The order in which the keyboard goes through a main window: part after part as they are read (tool bar,
// docks at the left, the centre, docks at the right, docks below), and in each part control after control,
// line by line. Qt's own order is that of creation, goes into pages behind other tabs, and puts the tool bar
// last.
#pragma once

#include <QTabBar>
#include <vector>

#include "ui/shell/dock_frame.h"

namespace orrery::ui {

/// A tool bar, a dock or the centre. A dock in a group of tabs has their bar above it.
struct FocusPart {
  QWidget* body = nullptr;
  QTabBar* tabs = nullptr;
};

/// Without docks that are closed, that float, or that are behind another tab.
std::vector<FocusPart> partsAsRead(const QMainWindow& window, QWidget* toolBar, const DockKeeper& docks);
/// What Tab can reach in it.
std::vector<QWidget*> controlsAsRead(const FocusPart& part);

/// The keys that move the focus through a window.
class FocusWalk {
 public:
  FocusWalk(QMainWindow& window, QWidget* toolBar, const DockKeeper& docks)
      : window_(window), toolBar_(toolBar), docks_(docks) {}

  /// To the next control or the one before. Where what had the focus is gone, such as a question that was
  /// answered, to `front`.
  bool step(bool next, QWidget* front) const;
  /// To the next part from the one that has the focus, where it was last; at first to the page's own field or
  /// its first control. `centre`: what takes the focus in the centre.
  void stepPart(int step, QWidget* centre) const;

 private:
  QMainWindow& window_;
  QWidget* toolBar_;
  const DockKeeper& docks_;
};

}  // namespace orrery::ui
