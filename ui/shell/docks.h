// The window's docks, made from the list of pages and placed as a workspace has them; which of the pages that
// people turn to is in front, and so whose graph is drawn and where typing goes.
#pragma once

#include <QObject>

#include "ui/frame/page.h"
#include "ui/shell/workspaces.h"

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
  /// From now on docks are those of this workspace; where they stand is for place(), or for what is
  /// remembered.
  void setPlan(const WorkspacePlan& plan);
  /// Those that the workspace names, where it has them. The others are closed, each with those that are most
  /// alike.
  void place();
  /// Docks take their share of a small window, so that the graph keeps most of it.
  void shareOut();
  std::vector<DockPlace> seen() const;
  /// In a narrow window the docks beside the graph are one group of tabs, and below each other again where
  /// there is room; those that were opened, closed or moved meanwhile stay as they are.
  void fold(bool narrow);
  /// What fold() made tabs.
  const QStringList& folded() const { return folded_; }
  void setFolded(const QStringList& pages) { folded_ = pages; }
  /// After the layout was restored: it says which page is in front.
  void findFront();
  void refresh();
  void show(const QString& page);
  QWidget* front() const;
  /// The model that was opened is for the page that can use it. `start`: it is the first one; the page that
  /// was in front stays.
  void showModel(bool start);
  /// Where typing goes: the page in front, where it is seen.
  bool focusFront();

 signals:
  void shown();  // by the person or for them: docks stay as they are from now on

 private:
  struct Made {
    Page page;
    PageParts parts;
    DockFrame* dock = nullptr;
  };
  void turnTo(const QString& page);
  void open(const Made& made);
  void shareOut(const std::vector<const Made*>& which);
  QSize shareOf(const Made& made) const;
  bool planned(const QString& page) const;
  Qt::DockWidgetArea beside() const;
  bool docked(const Made& made) const;
  const Made* find(const QString& page) const;
  const Made* pageOf(const SessionController* source) const;

  Workspace& work_;
  QMainWindow* window_;
  DockKeeper* keeper_;
  std::vector<Made> made_;
  QString front_;
  const WorkspacePlan* plan_ = &firstWorkspace();
  QStringList folded_;
};

}  // namespace orrery::ui
