#include "ui/shell/focus_order.h"

#include <QApplication>
#include <QScrollArea>
#include <algorithm>

namespace orrery::ui {
namespace {

QRect placeOf(const QWidget* widget) {
  return {widget->mapTo(widget->window(), QPoint(0, 0)), widget->size()};
}

bool takesTab(const QWidget* widget) {
  return (widget->focusPolicy() & Qt::TabFocus) && widget->isVisible() && widget->isEnabled() &&
         !widget->focusProxy();
}

int rankOf(Qt::DockWidgetArea area) {
  switch (area) {
    case Qt::TopDockWidgetArea:
      return 0;
    case Qt::LeftDockWidgetArea:
      return 1;
    case Qt::RightDockWidgetArea:
      return 3;
    case Qt::BottomDockWidgetArea:
      return 4;
    default:
      return 2;  // the centre
  }
}

void addControls(QWidget* part, std::vector<QWidget*>& controls) {
  if (takesTab(part)) controls.push_back(part);
  for (QWidget* child : part->findChildren<QWidget*>())
    if (takesTab(child) && child->window() == part->window()) controls.push_back(child);
}

/// A line is what has its middle beside the first of it, from the left.
void sortAsRead(std::vector<QWidget*>& controls) {
  const auto top = [](const QWidget* widget) { return placeOf(widget).top(); };
  std::stable_sort(controls.begin(), controls.end(), [&](auto* a, auto* b) { return top(a) < top(b); });
  for (auto line = controls.begin(); line != controls.end();) {
    const int bottom = placeOf(*line).bottom();
    const auto end = std::find_if(line + 1, controls.end(),  // one without a height is a line, too
                                  [&](auto* one) { return placeOf(one).center().y() > bottom; });
    std::stable_sort(line, end, [](auto* a, auto* b) { return placeOf(a).left() < placeOf(b).left(); });
    line = end;
  }
}

void focusOn(QWidget* control, Qt::FocusReason reason) {
  control->activateWindow();  // which a floating dock is
  control->setFocus(reason);
  for (QWidget* around = control->parentWidget(); around; around = around->parentWidget())
    if (auto* scroll = qobject_cast<QScrollArea*>(around)) scroll->ensureWidgetVisible(control);
}

bool holds(const FocusPart& part, QWidget* widget) {
  return widget && (part.body->isAncestorOf(widget) || (part.tabs && part.tabs->isAncestorOf(widget)) ||
                    part.tabs == widget);
}

/// Where the focus was in the part, else the page's own control, else the first.
void enter(const FocusPart& part, QWidget* page) {
  const std::vector<QWidget*> controls = controlsAsRead(part);
  const auto reached = [&](QWidget* widget) {
    return widget && std::find(controls.begin(), controls.end(), widget) != controls.end();
  };
  QWidget* own = page;
  while (own->focusProxy()) own = own->focusProxy();
  if (QWidget* last = part.body->focusWidget(); reached(last)) return focusOn(last, Qt::ShortcutFocusReason);
  if (reached(own)) return focusOn(own, Qt::ShortcutFocusReason);
  if (!controls.empty()) focusOn(controls.front(), Qt::ShortcutFocusReason);
}

}  // namespace

std::vector<FocusPart> partsAsRead(const QMainWindow& window, QWidget* toolBar, const DockKeeper& docks) {
  struct Ranked {
    FocusPart part;
    int rank;
  };
  std::vector<Ranked> parts{{{window.centralWidget(), nullptr}, rankOf(Qt::NoDockWidgetArea)}};
  for (DockFrame* dock : docks.docks())
    if (!dock->isFloating() && dock->isVisible() && docks.inFront(dock))
      parts.push_back({{dock, docks.tabsOf(dock)}, rankOf(window.dockWidgetArea(dock))});
  std::stable_sort(parts.begin(), parts.end(), [](const Ranked& a, const Ranked& b) {
    if (a.rank != b.rank) return a.rank < b.rank;
    const QPoint left = placeOf(a.part.body).topLeft(), right = placeOf(b.part.body).topLeft();
    const bool down = a.rank == rankOf(Qt::LeftDockWidgetArea) || a.rank == rankOf(Qt::RightDockWidgetArea);
    return down ? std::pair(left.y(), left.x()) < std::pair(right.y(), right.x())
                : std::pair(left.x(), left.y()) < std::pair(right.x(), right.y());
  });
  std::vector<FocusPart> read{{toolBar, nullptr}};
  for (const Ranked& ranked : parts) read.push_back(ranked.part);
  return read;
}

std::vector<QWidget*> controlsAsRead(const FocusPart& part) {
  std::vector<QWidget*> controls, above;
  if (part.tabs) addControls(part.tabs, above);
  addControls(part.body, controls);
  sortAsRead(above);
  sortAsRead(controls);
  above.insert(above.end(), controls.begin(), controls.end());
  return above;
}

bool FocusWalk::step(bool next, QWidget* front) const {
  std::vector<QWidget*> order;
  for (const FocusPart& part : partsAsRead(window_, toolBar_, docks_)) {
    const std::vector<QWidget*> controls = controlsAsRead(part);
    order.insert(order.end(), controls.begin(), controls.end());
  }
  if (order.empty()) return false;
  QWidget* now = window_.focusWidget();
  if (now && !now->isVisible() && front->isVisible()) {
    front->setFocus();
    return true;
  }
  const auto current = std::find(order.begin(), order.end(), now);
  const size_t count = order.size();
  const size_t at =
      current == order.end() ? (next ? count - 1 : 0) : static_cast<size_t>(current - order.begin());
  focusOn(order[(at + (next ? 1 : count - 1)) % count], next ? Qt::TabFocusReason : Qt::BacktabFocusReason);
  return true;
}

void FocusWalk::stepPart(int step, QWidget* centre) const {
  std::vector<FocusPart> parts = partsAsRead(window_, toolBar_, docks_);
  parts.erase(parts.begin());  // the tool bar is no panel
  for (DockFrame* dock : docks_.docks())
    if (dock->isFloating() && dock->isVisible()) parts.push_back({dock, nullptr});
  const auto current = std::find_if(parts.begin(), parts.end(), [&](const FocusPart& part) {
    return holds(part, QApplication::focusWidget());
  });
  const auto count = static_cast<ptrdiff_t>(parts.size());
  const ptrdiff_t at = current == parts.end() ? (step > 0 ? -1 : 0) : current - parts.begin();
  const FocusPart& part = parts[static_cast<size_t>((at + step + count) % count)];
  const auto* frame = qobject_cast<DockFrame*>(part.body);
  enter(part, frame ? frame->page() : centre);
}

}  // namespace orrery::ui
