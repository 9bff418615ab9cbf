#include "ui/shell/dock_frame.h"

#include <QEvent>
#include <QScrollArea>
#include <QTimer>
#include <algorithm>

namespace orrery::ui {
namespace {

constexpr QSize kSmallestPage(180, 72);

class PageScroll : public QScrollArea {
 public:
  explicit PageScroll(QWidget* page) {
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setFocusPolicy(Qt::NoFocus);
    setWidget(page);
    page->setAutoFillBackground(false);  // it paints all of itself
  }
  QSize sizeHint() const override { return widget()->sizeHint(); }
  QSize minimumSizeHint() const override { return kSmallestPage; }
};

}  // namespace

DockFrame::DockFrame(const Theme& theme, const QString& title, const QString& name, QWidget* page,
                     QMainWindow* window)
    : QDockWidget(title, window),
      title_(new DockTitle(theme, title, this)),
      page_(page),
      empty_(new QWidget(this)) {
  setObjectName(name);
  empty_->setFixedHeight(0);
  empty_->hide();
  setWidget(new PageScroll(page));
  setTitleBarWidget(title_);
  connect(title_, &DockTitle::floatAsked, this, [this] { setFloating(!isFloating()); });
  connect(title_, &DockTitle::closeAsked, this, &QWidget::close);
}

void DockFrame::setCorner(QWidget* corner) {
  corner_ = corner;
  title_->setCorner(corner);
}

void DockFrame::setTabbed(bool tabbed) {
  if (tabbed == tabbed_) return;
  tabbed_ = tabbed;
  layout()->setEnabled(false);  // the page is laid out once, with its tabs, not for each title on its own
  setTitleBarWidget(tabbed ? empty_ : static_cast<QWidget*>(title_));
  layout()->setEnabled(true);
  title_->setVisible(!tabbed);
  if (!tabbed && corner_) title_->setCorner(corner_);
}

DockKeeper::DockKeeper(QMainWindow* window, QObject* parent) : QObject(parent), window_(window) {
  connect(window, &QMainWindow::tabifiedDockWidgetActivated, this, &DockKeeper::refreshSoon);
  window->installEventFilter(this);
}

void DockKeeper::add(DockFrame* dock) {
  docks_.push_back(dock);
  connect(dock, &QDockWidget::dockLocationChanged, this, &DockKeeper::refreshSoon);
  connect(dock, &QDockWidget::topLevelChanged, this, &DockKeeper::refreshSoon);
  connect(dock, &QDockWidget::visibilityChanged, this, &DockKeeper::refreshSoon);
}

void DockKeeper::refreshSoon() {
  if (pending_) return;
  pending_ = true;
  QTimer::singleShot(0, this, &DockKeeper::refresh);
}

void DockKeeper::refresh() {
  pending_ = false;
  for (DockFrame* dock : docks_) {
    // Closed and floating docks keep their place in the group, but no tab.
    const QList<QDockWidget*> group = window_->tabifiedDockWidgets(dock);
    const bool company = std::any_of(group.begin(), group.end(), [](const QDockWidget* other) {
      return !other->isFloating() && !other->isHidden();
    });
    dock->setTabbed(!dock->isFloating() && company);
  }
  for (QTabBar* bar : bars()) {
    // Each setter asks for another layout, even for what is set already; layouts come back here.
    if (bar->expanding()) bar->setExpanding(false);
    if (!bar->documentMode()) bar->setDocumentMode(true);
    if (bar->drawBase()) bar->setDrawBase(false);  // Qt turns it on after the theme has turned it off
    if (bar->elideMode() != Qt::ElideNone) bar->setElideMode(Qt::ElideNone);
    bar->removeEventFilter(this);
    bar->installEventFilter(this);
    placeCorner(bar);
  }
}

QList<QTabBar*> DockKeeper::bars() const {
  return window_->findChildren<QTabBar*>(QString(), Qt::FindDirectChildrenOnly);
}

QTabBar* DockKeeper::tabsOf(const DockFrame* dock) const {
  if (!dock->tabbed()) return nullptr;
  for (QTabBar* bar : bars())
    for (int tab = 0; tab < bar->count(); ++tab)
      if (bar->isVisible() && bar->tabText(tab) == dock->windowTitle()) return bar;
  return nullptr;
}

bool DockKeeper::inFront(const DockFrame* dock) const {
  const QTabBar* bar = tabsOf(dock);
  return !bar || shownDock(bar) == dock;
}

DockFrame* DockKeeper::shownDock(const QTabBar* bar) const {
  for (DockFrame* dock : docks_)
    if (dock->tabbed() && bar->currentIndex() >= 0 &&
        dock->windowTitle() == bar->tabText(bar->currentIndex()))
      return dock;
  return nullptr;
}

void DockKeeper::placeCorner(QTabBar* bar) {
  DockFrame* shown = shownDock(bar);
  for (DockFrame* dock : docks_)
    if (dock->tabbed() && dock != shown && dock->corner() && dock->corner()->parentWidget() == bar)
      dock->corner()->hide();
  if (!shown || !shown->corner()) return;
  QWidget* corner = shown->corner();
  if (corner->parentWidget() != bar) corner->setParent(bar);
  const QSize size = corner->sizeHint();
  corner->setGeometry(bar->width() - size.width() - 2, (bar->height() - size.height()) / 2, size.width(),
                      size.height());
  corner->show();
  corner->raise();
}

bool DockKeeper::eventFilter(QObject* object, QEvent* event) {
  if (event->type() == QEvent::LayoutRequest && object == window_) refreshSoon();
  if (auto* bar = qobject_cast<QTabBar*>(object);
      bar && (event->type() == QEvent::Resize || event->type() == QEvent::Show))
    placeCorner(bar);
  return QObject::eventFilter(object, event);
}

}  // namespace orrery::ui
