#include "ui/shell/docks.h"

#include <QAction>
#include <QApplication>
#include <algorithm>

#include "ui/frame/workspace.h"
#include "ui/session/model_use.h"
#include "ui/shell/dock_frame.h"
#include "ui/shell/pages.h"

namespace orrery::ui {
namespace {

constexpr double kUsualWidth = 1600, kUsualHeight = 1000;  // of the window that shares are of
constexpr double kMostBelow = 0.36;                        // of the window, for docks below

int pixels(double size) { return static_cast<int>(size); }

}  // namespace

Docks::Docks(Workspace& work, QMainWindow* window)
    : QObject(window), work_(work), window_(window), keeper_(new DockKeeper(window, this)) {
  for (const Page& page : allPages()) {
    Made made{page, page.make(work, window)};
    made.dock =
        new DockFrame(work.theme(), QString(page.title).remove('&'), page.id, made.parts.body, window);
    keeper_->add(made.dock);
    if (made.parts.corner) made.dock->setCorner(made.parts.corner);
    if (made.parts.middle) made.dock->title()->setMiddle(made.parts.middle);
    if (front_.isEmpty() && made.parts.source) front_ = page.id;
    connect(made.dock->toggleViewAction(), &QAction::triggered, this, [this, id = page.id](bool opened) {
      if (opened) open(*find(id));
    });
    made_.push_back(std::move(made));
  }
  connect(window, &QMainWindow::tabifiedDockWidgetActivated, this,
          [this](const QDockWidget* shown) { turnTo(shown->objectName()); });
  // Docks beside each other are no tabs: there the page that has the focus is the one in front.
  connect(qApp, &QApplication::focusChanged, this, [this](QWidget*, QWidget* now) {
    for (const Made& made : made_)
      if (now && made.dock->isAncestorOf(now)) turnTo(made.page.id);
  });
  connect(work.classifier(), &SessionController::opened, this, [this] {
    if (find(front_)->parts.source == work_.classifier()) emit work_.drawAsked(work_.classifier());
  });
  connect(&work, &Workspace::pageAsked, this, &Docks::show);
  connect(&work, &Workspace::subtitleChanged, this, [this](const QString& page, const QString& words) {
    if (DockFrame* shown = dock(page)) shown->title()->setSubtitle(words);
  });
}

const Docks::Made* Docks::find(const QString& page) const {
  const auto found =
      std::find_if(made_.begin(), made_.end(), [&](const Made& made) { return made.page.id == page; });
  return found == made_.end() ? nullptr : &*found;
}

const Docks::Made* Docks::pageOf(const SessionController* source) const {
  const auto found =
      std::find_if(made_.begin(), made_.end(), [&](const Made& made) { return made.parts.source == source; });
  return found == made_.end() ? nullptr : &*found;
}

DockFrame* Docks::dock(const QString& page) const {
  const Made* made = find(page);
  return made ? made->dock : nullptr;
}

QWidget* Docks::front() const { return find(front_)->parts.body; }

std::vector<Unsaved> Docks::unsaved() const {
  std::vector<Unsaved> all;
  for (const Made& made : made_)
    if (const Unsaved one = made.parts.unsaved ? made.parts.unsaved() : Unsaved(); !one.what.isEmpty())
      all.push_back(one);
  return all;
}

CommandList Docks::commands() {
  CommandList all;
  int digit = 1;
  for (const Made& made : made_) {
    const QString name = QString(made.page.title).remove('&');
    if (made.parts.source)
      all.push_back({.id = "page." + made.page.id,
                     .text = made.page.title,
                     .menu = Menu::view,
                     .keys = {QString("Ctrl+%1").arg(digit++)},
                     .title = "Turn to " + name,
                     .run = [this, id = made.page.id] { show(id); }});
    all.push_back({.id = "dock." + made.page.id,
                   .menu = Menu::view,
                   .group = 1,
                   .title = "Show or close " + name,
                   .action = made.dock->toggleViewAction()});
    all.insert(all.end(), made.parts.commands.begin(), made.parts.commands.end());
  }
  return all;
}

void Docks::setPlan(const WorkspacePlan& plan) {
  plan_ = &plan;
  for (const Qt::Corner corner : {Qt::BottomLeftCorner, Qt::BottomRightCorner})
    window_->setCorner(corner, plan.foot                        ? Qt::BottomDockWidgetArea
                               : corner == Qt::BottomLeftCorner ? Qt::LeftDockWidgetArea
                                                                : Qt::RightDockWidgetArea);
}

/// Where docks stand at the graph's side.
Qt::DockWidgetArea Docks::beside() const {
  return plan_->foot ? Qt::RightDockWidgetArea : Qt::BottomDockWidgetArea;
}

bool Docks::planned(const QString& page) const {
  return std::any_of(plan_->docks.begin(), plan_->docks.end(),
                     [&](const DockPlan& dock) { return dock.page == page; });
}

void Docks::place() {
  folded_.clear();
  for (const Made& made : made_) {
    if (made.dock->isFloating()) made.dock->setFloating(false);  // Qt would do the work of it again
    window_->removeDockWidget(made.dock);
  }
  std::vector<const Made*> placed;
  for (const DockPlan& dock : plan_->docks) {
    const Made* made = find(dock.page);
    if (!made) continue;
    if (placed.empty() || dock.joint == Joint::first)
      window_->addDockWidget(dock.area, made->dock);
    else if (dock.joint == Joint::tab)
      window_->tabifyDockWidget(placed.back()->dock, made->dock);
    else
      window_->splitDockWidget(placed.back()->dock, made->dock,
                               dock.joint == Joint::below ? Qt::Vertical : Qt::Horizontal);
    made->dock->show();
    placed.push_back(made);
  }
  const size_t open = placed.size();
  for (const bool source : {true, false})  // those that people turn to are one group
    for (const Made& made : made_) {
      if (planned(made.page.id) || (made.parts.source != nullptr) != source) continue;
      const Qt::DockWidgetArea area = made.page.area == Qt::RightDockWidgetArea ? beside() : made.page.area;
      const auto mate = std::find_if(placed.rbegin(), placed.rend(), [&](const Made* other) {
        if (source || other->parts.source) return source && other->parts.source;
        return window_->dockWidgetArea(other->dock) == area;
      });
      if (mate == placed.rend())
        window_->addDockWidget(area, made.dock);
      else
        window_->tabifyDockWidget((*mate)->dock, made.dock);
      made.dock->hide();
      placed.push_back(&made);
    }
  for (size_t i = open; i > 0; --i) placed[i - 1]->dock->raise();  // the first of a group is in front
}

QSize Docks::shareOf(const Made& made) const {
  for (const DockPlan& dock : plan_->docks)
    if (dock.page == made.page.id) return dock.share;
  return made.page.share;
}

void Docks::shareOut() {
  std::vector<const Made*> all;
  for (const Made& made : made_)
    if (docked(made)) all.push_back(&made);
  shareOut(all);
}

void Docks::shareOut(const std::vector<const Made*>& which) {
  const double across = std::min(1.0, window_->width() / kUsualWidth);
  const double down = std::min(1.0, window_->height() / kUsualHeight);
  QList<QDockWidget*> wide, high;
  QList<int> widths, heights;
  for (const Made* made : which) {
    const QSize share = shareOf(*made);
    const bool foot = plan_->foot && window_->dockWidgetArea(made->dock) == Qt::BottomDockWidgetArea;
    if (share.width() > 0) {
      wide += made->dock;
      widths += pixels(share.width() * across);
    }
    if (share.height() > 0) {
      high += made->dock;
      heights += foot ? std::min(share.height(), pixels(kMostBelow * window_->height()))
                      : pixels(share.height() * down);
    }
  }
  window_->resizeDocks(wide, widths, Qt::Horizontal);
  window_->resizeDocks(high, heights, Qt::Vertical);
}

/// Open, and in the window.
bool Docks::docked(const Made& made) const { return !made.dock->isHidden() && !made.dock->isFloating(); }

std::vector<DockPlace> Docks::seen() const {
  std::vector<DockPlace> places;
  for (const Made& made : made_)
    if (docked(made) && keeper_->inFront(made.dock))
      places.push_back({made.page.id, window_->dockWidgetArea(made.dock)});
  return places;
}

void Docks::fold(bool narrow) {
  if (narrow) {
    std::vector<DockFrame*> column;
    for (const Made& made : made_)
      if (docked(made) && window_->dockWidgetArea(made.dock) == beside()) column.push_back(made.dock);
    if (column.empty()) return;
    std::stable_sort(column.begin(), column.end(),
                     [](const DockFrame* a, const DockFrame* b) { return a->y() < b->y(); });
    DockFrame* head = column.front();
    for (DockFrame* dock : column) {
      if (dock == head || window_->tabifiedDockWidgets(head).contains(dock)) continue;
      window_->removeDockWidget(dock);
      window_->tabifyDockWidget(head, dock);
      dock->show();
      dock->raise();  // Qt hears of the head's raise() where it changes something
      folded_ += dock->objectName();
    }
    if (!folded_.isEmpty()) head->raise();
    return;
  }
  for (const QString& page : std::exchange(folded_, {})) {
    const Made* made = find(page);
    if (!made || !docked(*made) || window_->dockWidgetArea(made->dock) != beside()) continue;
    if (window_->tabifiedDockWidgets(made->dock).isEmpty()) continue;
    window_->removeDockWidget(made->dock);
    window_->addDockWidget(beside(), made->dock, Qt::Vertical);
    made->dock->show();
    shareOut({made});
  }
}

void Docks::refresh() { keeper_->refresh(); }

void Docks::findFront() {
  keeper_->refresh();
  for (const Made& made : made_)
    if (made.parts.source && made.dock->isVisible() && keeper_->inFront(made.dock))
      return turnTo(made.page.id);
}

void Docks::turnTo(const QString& page) {
  const Made* made = find(page);
  if (page == front_ || !made || !made->parts.source) return;
  front_ = page;
  emit work_.turnedTo(page);
  SessionController* source = made->parts.source;
  if (source == work_.session() || !source->loading()) emit work_.drawAsked(source);
}

void Docks::show(const QString& page) {
  const Made* made = find(page);
  if (!made) return;
  emit shown();
  made->dock->isHidden() ? open(*made) : made->dock->raise();
  made->parts.body->setFocus();
  turnTo(page);
}

/// Those that the workspace does not name share their side when one of them is opened.
void Docks::open(const Made& made) {
  made.dock->show();
  made.dock->raise();
  if (!docked(made) || planned(made.page.id)) return;
  std::vector<const Made*> side;
  for (const Made& other : made_)
    if (docked(other) && !planned(other.page.id) &&
        window_->dockWidgetArea(other.dock) == window_->dockWidgetArea(made.dock))
      side.push_back(&other);
  shareOut(side);
}

bool Docks::focusFront() {
  const Made* made = find(front_);
  if (made->dock->isHidden() || !keeper_->inFront(made->dock)) return false;
  made->parts.body->setFocus();
  return true;
}

void Docks::showModel(bool start) {
  SessionController *session = work_.session(), *classifier = work_.classifier();
  const api::ModelInfo& info = session->session()->info();
  if (runs(info) && info.task == api::Task::classify) {
    emit work_.classifierAsked(session->session()->options(), session->title());
    return show(pageOf(classifier)->page.id);
  }
  const SessionController* source = find(front_)->parts.source;
  if (start) {
    if (source == classifier && classifier->session()) emit work_.drawAsked(classifier);
    return front()->setFocus();
  }
  if (!writesText(info) || session->moved()) return;
  const QString page = source == session ? front_ : pageOf(session)->page.id;
  dock(page)->isHidden() ? turnTo(page) : show(page);  // a workspace without a chat stays without one
}

}  // namespace orrery::ui
