#include "ui/shell/window_layout.h"

#include <QApplication>
#include <QDockWidget>
#include <QLayout>
#include <QPointer>
#include <QScreen>

namespace orrery::ui {
namespace {

constexpr int kStateVersion = 1;           // of saveState; another one is not restored
constexpr int kSettleMilliseconds = 3000;  // desktops have given a window its size by then
constexpr QMargins kFrame(4, 40, 4, 4);    // what they put around it, at most

}  // namespace

WindowLayout::WindowLayout(QMainWindow* window, std::function<void()> place, std::function<void()> shareOut)
    : QObject(window), window_(window), place_(std::move(place)), shareOut_(std::move(shareOut)) {
  soon_.setSingleShot(true);
  soon_.setInterval(0);
  connect(&soon_, &QTimer::timeout, this, &WindowLayout::restoreDocks);
}

void WindowLayout::restore(const QByteArray& geometry, const QByteArray& docks, const QSize& usual) {
  geometry_ = geometry;
  docks_ = docks;
  window_->resize(usual);
  if (!geometry_.isEmpty()) window_->restoreGeometry(geometry_);
  if (!(window_->windowState() & (Qt::WindowMaximized | Qt::WindowFullScreen))) fitScreen();
  qApp->installEventFilter(this);
  soon_.start();
  QTimer::singleShot(kSettleMilliseconds, this, &WindowLayout::settle);
}

void WindowLayout::fitScreen() {
  const QRect wanted = window_->geometry();
  const QScreen* screen = QGuiApplication::screenAt(wanted.center());
  const QRect room = (screen ? screen : window_->screen())->availableGeometry().marginsRemoved(kFrame);
  QRect place(wanted.topLeft(), wanted.size().boundedTo(room.size()));
  if (place.size() != wanted.size()) fitted_ = place.size();
  if (!room.contains(place) && (!geometry_.isEmpty() || fitted_.isValid())) {
    place.moveLeft(std::clamp(place.left(), room.left(), room.right() + 1 - place.width()));
    place.moveTop(std::clamp(place.top(), room.top(), room.bottom() + 1 - place.height()));
    window_->move(place.topLeft());
  }
  window_->resize(place.size());
}

void WindowLayout::restoreDocks() {
  const QPointer<QWidget> focus = window_->focusWidget();  // docks and tool bars go and come again
  const bool remembered = !docks_.isEmpty() && window_->restoreState(docks_, kStateVersion);
  if (!remembered) shareOut_();
  noteRestored(focus, remembered);
}

void WindowLayout::turnTo(const QByteArray& docks) {
  const QPointer<QWidget> focus = window_->focusWidget();
  settle();
  soon_.stop();
  docks_ = docks;
  QLayout* all = window_->layout();
  all->setEnabled(false);  // or each dock that is shown lays out all of them
  const bool remembered = !docks_.isEmpty() && window_->restoreState(docks_, kStateVersion);
  if (!remembered) {
    docks_.clear();
    place_();
  }
  emit placed();
  all->setEnabled(true);
  all->activate();
  for (QDockWidget* dock : window_->findChildren<QDockWidget*>(QString(), Qt::FindDirectChildrenOnly))
    dock->layout()->activate();  // where one kept its size, but has a title now, or has it no longer
  if (!remembered) shareOut_();
  noteRestored(focus, remembered);
}

void WindowLayout::noteRestored(QWidget* focus, bool remembered) {
  docksRestored_ = window_->saveState(kStateVersion);
  if (focus && focus->isVisible()) focus->setFocus();
  emit restored(remembered);
}

QByteArray WindowLayout::geometry() const {
  return fitted_.isValid() && window_->size() == fitted_ ? geometry_ : window_->saveGeometry();
}

QByteArray WindowLayout::docks() const {
  const QByteArray docks = window_->saveState(kStateVersion);
  return docks == docksRestored_ ? docks_ : docks;
}

bool WindowLayout::eventFilter(QObject* object, QEvent* event) {
  if (settled_) {
    qApp->removeEventFilter(this);
    return false;
  }
  if (event->type() == QEvent::MouseButtonPress || event->type() == QEvent::KeyPress) settle();
  if (event->type() == QEvent::Resize && object == window_) soon_.start();
  return false;
}

}  // namespace orrery::ui
