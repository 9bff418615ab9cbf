// The window's docks, made from the list of pages; which of the pages that people turn to is in front, and so
// whose graph is drawn and where typing goes.
#pragma once

#include <QObject>

#include "ui/frame/page.h"

class QMainWindow;

namespace orrery::ui {

class DockFrame;
class DockKeeper;

class Docks : public QObject {
  Q_OBJECT
 public:
  Docks(Workspace& work, QMainWindow* window);

  const DockKeeper& keeper() const { return *keeper_; }
  /// Null: there is no such page.
  DockFrame* dock(const QString& page) const;
  /// Of the pages, and of the docks themselves.
  CommandList commands();
  std::vector<Unsaved> unsaved() const;
  void shareOut();
  /// All of them, where they are at first.
  void reset();
  /// After the layout was restored: it says which page is in front.
  void findFront();
  void refresh();
  void show(const QString& page);
  QWidget* front() const;
  /// The model that was opened is for the page that can use it. `start`: it is the first one; the page that
  /// was in front stays.
  void showModel(bool start);

 signals:
  void shown();  // by the person or for them: docks stay as they are from now on

 private:
  struct Made {
    Page page;
    PageParts parts;
    DockFrame* dock = nullptr;
  };
  void turnTo(const QString& page);
  const Made* find(const QString& page) const;
  const Made* pageOf(const SessionController* source) const;

  Workspace& work_;
  QMainWindow* window_;
  DockKeeper* keeper_;
  std::vector<Made> made_;
  QString front_;
};

}  // namespace orrery::ui
