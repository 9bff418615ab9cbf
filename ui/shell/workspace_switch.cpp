#include "ui/shell/workspace_switch.h"

#include <QAction>
#include <QEvent>
#include <QMainWindow>

#include "ui/frame/workspace.h"
#include "ui/shell/commands.h"
#include "ui/shell/docks.h"
#include "ui/shell/drawn_model.h"
#include "ui/shell/graph_page.h"
#include "ui/shell/window_layout.h"
#include "ui/shell/workspace_control.h"

namespace orrery::ui {
namespace {

constexpr int kLeastGraph = 240;
constexpr int kRoomForColumns = 1280;  // in a narrower window docks beside the graph are tabs

QString commandOf(const WorkspacePlan& plan) { return "workspace." + plan.id; }

/// Of the drawn model alone, which a comparison's and a sweep's are not.
bool isOwn(int heat) { return heat >= 0 && heat <= static_cast<int>(HeatMode::share); }

}  // namespace

WorkspaceSwitch::WorkspaceSwitch(Workspace& work, Docks* docks, WindowLayout* layout, DrawnModel* drawn,
                                 GraphPage* graph, QMainWindow* window)
    : QObject(window),
      work_(work),
      docks_(docks),
      layout_(layout),
      drawn_(drawn),
      graph_(graph),
      window_(window),
      control_(new WorkspaceControl(work.theme(), window)) {
  connect(control_->choice(), &Segmented::chosen, this,
          [this](int choice) { turnTo(allWorkspaces()[static_cast<size_t>(choice)].id); });
  connect(layout_, &WindowLayout::restored, this, &WorkspaceSwitch::takeRestored);
  window->installEventFilter(this);
}

CommandList WorkspaceSwitch::commands() {
  CommandList all;
  int digit = 1;
  for (const WorkspacePlan& plan : allWorkspaces())
    all.push_back({.id = commandOf(plan),
                   .text = plan.title,
                   .menu = Menu::view,
                   .submenu = "&Workspace",
                   .keys = {QString("Ctrl+Alt+%1").arg(digit++)},
                   .title = "Workspace " + QString(plan.title).remove('&'),
                   .run = [this, id = plan.id] { turnTo(id); },
                   .checked = [this, id = plan.id] { return current() == id; }});
  all.push_back({.id = "view.reset",
                 .text = "&Reset workspace",
                 .menu = Menu::view,
                 .submenu = "&Workspace",
                 .run = [this] { reset(); }});
  return all;
}

void WorkspaceSwitch::showKeys(const Commands& commands) {
  QStringList keys;
  for (const WorkspacePlan& plan : allWorkspaces())
    keys += commands.action(commandOf(plan))->shortcut().toString(QKeySequence::NativeText);
  control_->setKeys(keys);
}

void WorkspaceSwitch::start(const QString& asked) {
  const WindowSettings& settings = work_.settings();
  const WorkspacePlan* left = findWorkspace(settings.workspace);
  older_ = !left && !settings.state.isEmpty();
  asked_ = asked;
  if (left) plan_ = left;
  docks_->setPlan(*plan_);
  docks_->place();
  if (!left && !older_) draw({});
  showCurrent();
}

/// Of the window's start, and of each switch.
void WorkspaceSwitch::takeRestored(bool remembered) {
  if (remembered) docks_->setFolded(work_.settings().workspaces.value(plan_->id).folded);
  if (std::exchange(older_, false)) {
    plan_ = &workspaceLike(docks_->seen());
    docks_->setPlan(*plan_);
    showCurrent();
  }
  fitWidth();
  if (!asked_.isEmpty()) turnTo(std::exchange(asked_, {}));
}

void WorkspaceSwitch::fitWidth() {
  narrow_ = window_->width() < kRoomForColumns;
  docks_->fold(narrow_);
  if (narrow_ && graph_->width() < kLeastGraph) docks_->shareOut();  // docks have sizes of a wider window
}

void WorkspaceSwitch::keep() {
  WindowSettings& settings = work_.settings();
  settings.workspace = plan_->id;
  settings.state = layout_->docks();
  settings.workspaces[plan_->id] = {settings.state, docks_->folded(), static_cast<int>(drawn_->heat()),
                                    graph_->view()->parts().toInt(), graph_->fusedShown()};
}

void WorkspaceSwitch::turnTo(const QString& id) {
  const WorkspacePlan* next = findWorkspace(id);
  if (!next || next == plan_) return;
  keep();
  plan_ = next;
  show(work_.settings().workspaces.value(id));
}

void WorkspaceSwitch::reset() { show({}); }

void WorkspaceSwitch::show(const KeptWorkspace& kept) {
  docks_->setPlan(*plan_);
  layout_->turnTo(kept.docks);
  draw(kept);
  showCurrent();
  if (!docks_->focusFront()) graph_->view()->setFocus();
  emit work_.changed();
}

/// What is not remembered is as the list says.
void WorkspaceSwitch::draw(const KeptWorkspace& kept) {
  const HeatMode before = drawn_->heat();
  const HeatMode usual = !plan_->heat ? HeatMode::off : before == HeatMode::off ? HeatMode::time : before;
  drawn_->setHeat(kept.heat && isOwn(*kept.heat) ? static_cast<HeatMode>(*kept.heat) : usual);
  work_.settings().graphParts = kept.parts.value_or(plan_->parts.toInt());
  graph_->showTab(kept.fused.value_or(plan_->fused));
  graph_->setParts(GraphView::Parts(work_.settings().graphParts));
}

void WorkspaceSwitch::showCurrent() {
  control_->setCurrent(static_cast<int>(plan_ - allWorkspaces().data()));
}

bool WorkspaceSwitch::eventFilter(QObject* object, QEvent* event) {
  if (event->type() == QEvent::Resize && narrow_ != (window_->width() < kRoomForColumns))
    QMetaObject::invokeMethod(this, &WorkspaceSwitch::fitWidth, Qt::QueuedConnection);
  return QObject::eventFilter(object, event);
}

}  // namespace orrery::ui
