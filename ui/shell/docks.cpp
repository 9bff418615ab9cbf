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

constexpr double kUsualWidth = 1600;  // of the window that shares are of
constexpr double kMostBelow = 0.36;   // of the window, for docks below

int pixels(double size) { return static_cast<int>(size); }

}  // namespace

Docks::Docks(Workspace& work, QMainWindow* window)
    : QObject(window), work_(work), window_(window), keeper_(new DockKeeper(window, this)) {
  DockFrame* last = nullptr;
  for (const Page& page : allPages()) {
    Made made{page, page.make(work, window)};
    made.dock =
        new DockFrame(work.theme(), QString(page.title).remove('&'), page.id, made.parts.body, window);
    window->addDockWidget(page.area, made.dock);
    keeper_->add(made.dock);
    if (page.closed) made.dock->hide();
    if (made.parts.corner) made.dock->setCorner(made.parts.corner);
    if (made.parts.middle) made.dock->title()->setMiddle(made.parts.middle);
    made_.push_back(std::move(made));
  }
  for (const Made& made : made_) {
    if (!made.parts.source) continue;
    if (front_.isEmpty()) front_ = made.page.id;
    if (last) window->tabifyDockWidget(last, made.dock);
    last = made.dock;
  }
  dock(front_)->raise();
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

/// Docks take their share of a small window, so that the graph keeps most of it.
void Docks::shareOut() {
  const double across = std::min(1.0, window_->width() / kUsualWidth);
  struct Row {
    QList<QDockWidget*> docks;
    QList<int> sizes;
    void add(DockFrame* dock, int size) {
      docks += dock;
      sizes += size;
    }
  };
  Row sides, column, below, height;
  for (const Made& made : made_) {
    const QSize& share = made.page.share;
    const bool bottom = made.page.area == Qt::BottomDockWidgetArea;
    if (bottom && share.width() > 0) below.add(made.dock, share.width());
    if (bottom && share.height() > 0)
      height.add(made.dock, std::min(share.height(), pixels(kMostBelow * window_->height())));
    if (!bottom && share.height() > 0) column.add(made.dock, share.height());
    const auto alike = [&](const Made& other) { return other.page.area == made.page.area; };
    const bool first = &made == &*std::find_if(made_.begin(), made_.end(), alike);
    if (!bottom && first) sides.add(made.dock, pixels(share.width() * across));
  }
  window_->resizeDocks(sides.docks, sides.sizes, Qt::Horizontal);
  window_->resizeDocks(column.docks, column.sizes, Qt::Vertical);
  window_->resizeDocks(below.docks, below.sizes, Qt::Horizontal);
  window_->resizeDocks(height.docks, height.sizes, Qt::Vertical);
}

void Docks::reset() {
  for (const Made& made : made_) {
    made.dock->setFloating(false);
    made.dock->setVisible(!made.page.closed);
  }
  shareOut();
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
  made->dock->show();
  made->dock->raise();
  made->parts.body->setFocus();
  turnTo(page);
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
  if (writesText(info) && !session->moved()) show(source == session ? front_ : pageOf(session)->page.id);
}

}  // namespace orrery::ui
