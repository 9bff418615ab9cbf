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

}  // namespace orrery::ui
