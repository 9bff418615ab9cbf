// The workspaces of the window: which pages are open for a kind of work, where they stand and how large, and
// how the graph is drawn meanwhile. One more is one more entry of the list: control, menu, keys and what is
// remembered are made from it.
#pragma once

#include <QSize>
#include <QString>
#include <vector>

#include "ui/graph/graph_view.h"

namespace orrery::ui {

/// To the dock before it in the list: none, as it is the first of its area; under it, at its right, or behind
/// it as a tab.
enum class Joint { first, below, beside, tab };

struct DockPlan {
  QString page;  // its id
  Qt::DockWidgetArea area = Qt::BottomDockWidgetArea;
  Joint joint = Joint::first;
  QSize share = {};  // of a window of the usual size; 0: what is left
};

struct WorkspacePlan {
  QString id;     // in the settings and of its command: it stays as it is
  QString title;  // with its mnemonic: "&Talk"
  QString use;    // what it is for, in its tool tip
  bool heat = true;
  bool fused = true;            // what runs is drawn, else what is edited
  GraphView::Parts parts = {};  // around the drawing
  bool foot = true;             // docks below go across the window; else they are a column under the graph
  std::vector<DockPlan> docks = {};
};

/// In the order of the control and of the keys.
const std::vector<WorkspacePlan>& allWorkspaces();
/// Null: there is none of that id.
const WorkspacePlan* findWorkspace(const QString& id);
/// Where a window starts that remembers nothing.
const WorkspacePlan& firstWorkspace();

/// A page that is seen, and where.
struct DockPlace {
  QString page;
  Qt::DockWidgetArea area;
};
/// The workspace that has most in common with what is seen.
const WorkspacePlan& workspaceLike(const std::vector<DockPlace>& seen);

}  // namespace orrery::ui
