// Ports by keyboard: arrows walk from port to port, Enter begins a wire and ends it.
#include <algorithm>
#include <cmath>

#include "ui/graph/edit_desk.h"

namespace orrery::ui {

/// Those in view; while a wire hangs, where it may end.
std::vector<Port> EditDesk::walkablePorts() const {
  const QRectF seen = view->visibleScene();
  std::vector<Port> ports;
  const auto add = [&](const std::vector<Port>& own) {
    for (const Port& port : own)
      if (!wireFrom || (wireFrom->gives() != port.gives() && !port.sameAs(*wireFrom))) ports.push_back(port);
  };
  for (const Hit& thing : thingsIn(view->drawing, {seen.x(), seen.y(), seen.width(), seen.height()}))
    add(portsOf(view->drawing, thing));
  for (const Draft& draft : drafts.all()) add(portsOfDraft(draft));
  return ports;
}

bool EditDesk::walkPorts(int key) {
  if (!focusPort) return false;
  const Port from = *focusPort;
  const Port* best = nullptr;
  double least = 0;
  const std::vector<Port> ports = walkablePorts();
  for (const Port& port : ports) {
    const double dx = port.at.x - from.at.x, dy = port.at.y - from.at.y;
    const bool sideways = key == Qt::Key_Left || key == Qt::Key_Right;
    const bool ahead = key == Qt::Key_Up     ? dy < -2
                       : key == Qt::Key_Down ? dy > 2
                       : key == Qt::Key_Left ? dx < -2 && std::abs(dy) < 24
                                             : dx > 2 && std::abs(dy) < 24;
    if (!ahead || port.sameAs(from)) continue;
    const double cost = sideways ? std::abs(dx) + 3 * std::abs(dy) : std::abs(dy) + 0.6 * std::abs(dx);
    if (best && cost >= least) continue;
    best = &port;
    least = cost;
  }
  if (!best) return true;
  focusPort = *best;
  forgetRefusal();
  if (wireFrom) {
    wireByKeys(*focusPort);
  } else if (focusPort->draft == 0 && focusPort->thing != from.thing) {
    const std::optional<Port> kept = focusPort;  // choosing the thing looks for it
    view->selectHit(kept->thing);
    focusPort = kept;
  }
  const Point at = focusPort->at;
  view->reveal({at.x - 20, at.y - 20, 40, 40});
  update();
  return true;
}

/// Tells whether the wire may end there.
void EditDesk::wireByKeys(const Port& to) {
  const Port &giver = wireFrom->gives() ? *wireFrom : to, &reader = wireFrom->gives() ? to : *wireFrom;
  if (const Result<void> can = canConnect(giver, reader); !can.ok()) {
    leaveConsidered();
    refusalCard->setRefusal(refusalOfWire(giver, reader, can.error()));
    tried = RefusedTry{{}, to, to.thing.box};
    placeCards();
  } else if (giver.draft == 0 && reader.draft == 0) {
    consider(connecting(giver, reader, std::nullopt));
  }
}

bool EditDesk::pressPort() {
  if (wireFrom && focusPort) {
    const Port &giver = wireFrom->gives() ? *wireFrom : *focusPort,
               &reader = wireFrom->gives() ? *focusPort : *wireFrom;
    if (!canConnect(giver, reader).ok()) return true;  // it says why
    wireFrom.reset();
    connect(giver, reader, std::nullopt);
    update();
    return true;
  }
  if (focusPort) {
    if (focusPort->draft != 0 && focusPort->open()) {
      openValues(*focusPort, toView(focusPort->at));
      return true;
    }
    wireFrom = focusPort;
    update();
    return true;
  }
  if (!near()) return false;
  const Draft* draft = drafts.find(chosenDraft);
  const std::vector<Port> ports = draft ? portsOfDraft(*draft) : chosenPorts;
  const bool node = draft || (view->marks.node >= 0 && !ports.empty());  // Enter opens a group
  if (!node) return false;
  const auto output = std::find_if(ports.begin(), ports.end(), [](const Port& port) { return port.gives(); });
  focusPort = output == ports.end() ? ports.front() : *output;
  update();
  return true;
}

}  // namespace orrery::ui
