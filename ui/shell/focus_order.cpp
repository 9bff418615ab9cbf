#include "ui/shell/focus_order.h"

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
    const auto end =
        std::find_if(line, controls.end(), [&](auto* one) { return placeOf(one).center().y() > bottom; });
    std::stable_sort(line, end, [](auto* a, auto* b) { return placeOf(a).left() < placeOf(b).left(); });
    line = end;
  }
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

}  // namespace orrery::ui
