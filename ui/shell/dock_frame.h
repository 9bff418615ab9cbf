// Docks with our title bars. In a group of tabs the tab is the title, and the page's buttons move into the
// tab row. A page that is larger than its dock scrolls, so that no page, and nothing that comes and goes in
// one, decides how large the docks are.
#pragma once

#include <QDockWidget>
#include <QMainWindow>
#include <QTabBar>
#include <vector>

#include "ui/shell/dock_title.h"

namespace orrery::ui {

class DockFrame : public QDockWidget {
  Q_OBJECT
 public:
  DockFrame(const Theme& theme, const QString& title, const QString& name, QWidget* page,
            QMainWindow* window);
  DockTitle* title() const { return title_; }
  QWidget* page() const { return page_; }
  /// The page's buttons; shown in the title, or in the tab row while this is the shown tab.
  void setCorner(QWidget* corner);
  QWidget* corner() const { return corner_; }
  void setTabbed(bool tabbed);
  bool tabbed() const { return tabbed_; }

 private:
  DockTitle* title_;
  QWidget *page_, *empty_;
  QWidget* corner_ = nullptr;
  bool tabbed_ = false;
};

/// Keeps titles and tab rows of all docks of a window as they should be.
class DockKeeper : public QObject {
  Q_OBJECT
 public:
  DockKeeper(QMainWindow* window, QObject* parent = nullptr);
  void add(DockFrame* dock);
  const std::vector<DockFrame*>& docks() const { return docks_; }
  /// The bar of the group of tabs that the dock is in; null: it is in none.
  QTabBar* tabsOf(const DockFrame* dock) const;
  /// Not behind another tab.
  bool inFront(const DockFrame* dock) const;
  void refresh();

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  void refreshSoon();
  void placeCorner(QTabBar* bar);
  QList<QTabBar*> bars() const;
  DockFrame* shownDock(const QTabBar* bar) const;

  QMainWindow* window_;
  std::vector<DockFrame*> docks_;
  bool pending_ = false;
};

}  // namespace orrery::ui
