// The workspace that the window is in. Each keeps its docks with their sizes, its heat and what stands around
// the drawing: in the settings while another one is shown, and from start to start.
#pragma once

#include <QObject>

#include "ui/frame/command.h"
#include "ui/shell/workspaces.h"

class QMainWindow;

namespace orrery::ui {

class Commands;
class Docks;
class DrawnModel;
class GraphPage;
class WindowLayout;
class Workspace;
class WorkspaceControl;
struct KeptWorkspace;

class WorkspaceSwitch : public QObject {
  Q_OBJECT
 public:
  WorkspaceSwitch(Workspace& work, Docks* docks, WindowLayout* layout, DrawnModel* drawn, GraphPage* graph,
                  QMainWindow* window);

  const QString& current() const { return plan_->id; }
  WorkspaceControl* control() const { return control_; }
  CommandList commands();
  void showKeys(const Commands& commands);
  /// Before the layout is restored. A layout that is older than workspaces becomes that of the one that it is
  /// most like. `asked`: where to go then; empty: nowhere else.
  void start(const QString& asked);
  void turnTo(const QString& id);
  /// As it is at first.
  void reset();
  /// The window closes: the workspace that it is in goes into the settings.
  void keep();

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  void show(const KeptWorkspace& kept);
  void draw(const KeptWorkspace& kept);
  void takeRestored(bool remembered);
  void fitWidth();
  void showCurrent();

  Workspace& work_;
  Docks* docks_;
  WindowLayout* layout_;
  DrawnModel* drawn_;
  GraphPage* graph_;
  QMainWindow* window_;
  WorkspaceControl* control_;
  const WorkspacePlan* plan_ = &firstWorkspace();
  QString asked_;
  bool older_ = false;   // the layout that is restored, than workspaces
  bool narrow_ = false;  // the docks are as in a narrow window
};

}  // namespace orrery::ui
