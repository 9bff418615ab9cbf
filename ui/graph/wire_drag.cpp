// A wire that is drawn from a port, either way, or taken off one of its ends. It snaps to what accepts it;
// what refuses it says why, also while it hangs there.
#include <algorithm>
#include <cmath>

#include "ui/graph/edit_desk.h"
#include "ui/graph/wires.h"

namespace orrery::ui {
namespace {

class WireDrag : public Gesture {
 public:
  /// `fixed`: the end that stays. `moved`: the input whose wire was taken off.
  WireDrag(EditDesk& desk, const Port& fixed, const std::optional<Port>& moved)
      : desk_(desk), fixed_(fixed), moved_(moved), end_(fixed.at) {}

  Qt::CursorShape cursor() const override { return Qt::CrossCursor; }

  void move(QPointF position, Qt::KeyboardModifiers) override {
    end_ = desk_.toScene(position);
    const double reach = desk_.reach(kSnap);
    const std::optional<Port> before = target_;
    target_.reset();
    refusal_.reset();
    double least = reach;
    std::vector<std::pair<double, Port>> near;
    for (const Port& port : desk_.portsNear(end_, reach)) {
      const double away = std::hypot(port.at.x - end_.x, port.at.y - end_.y);
      if (away <= reach && canEnd(port)) near.emplace_back(away, port);
    }
    std::stable_sort(near.begin(), near.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [away, port] : near) {
      const Result<void> can = verdict(port);
      if (!can.ok()) {
        if (!refusal_ && !target_ && away <= desk_.reach(kHitPort)) {
          refusal_ = can.error();
          refusing_ = port;
        }
        continue;
      }
      if (away > least) break;
      target_ = port;
      refusal_.reset();
      break;
    }
    tell(before);
    desk_.update();
  }

  void drop() override {
    desk_.leaveConsidered();
    if (target_) return desk_.connect(giver(*target_), reader(*target_), moved_);
    if (refusal_) return showRefusal();
    desk_.refusalCard->hide();
    if (moved_ && moved_->optional && !moved_->uses.empty()) {
      EditRequest request;
      for (const graph::Use& use : moved_->uses) request.edits.push_back(disconnectEdit(*desk_.model(), use));
      request.name = GraphEditor::tr("disconnect %1").arg(placeName(*desk_.model(), moved_->uses.front()));
      return desk_.ask(request, moved_->thing.box);
    }
    openPalette();
  }

  void paint(QPainter& painter) const override {
    const std::optional<Port>& to = target_ ? target_ : refusal_ ? refusing_ : std::nullopt;
    const std::vector<Point> points = desk_.routeTo(fixed_, to ? to->at : end_, to ? &*to : nullptr);
    if (refusal_) {
      desk_.layer.paintTry(painter, points);
      desk_.layer.paintErrorOutline(painter, boxOf(*refusing_));
      desk_.layer.paintPort(painter, *refusing_, PortLook::refuses);
    } else {
      desk_.layer.paintDrag(painter, points, !target_);
    }
    desk_.layer.paintPort(painter, fixed_, PortLook::from);
    if (target_) desk_.layer.paintPort(painter, *target_, PortLook::accepts);
  }

 private:
  bool canEnd(const Port& port) const {
    if (port.sameAs(fixed_) || (moved_ && port.sameAs(*moved_))) return false;
    return fixed_.gives() != port.gives();
  }
  const Port& giver(const Port& other) const { return fixed_.gives() ? fixed_ : other; }
  const Port& reader(const Port& other) const { return fixed_.gives() ? other : fixed_; }

  /// Asked once of each port that the wire comes near.
  Result<void> verdict(const Port& port) {
    for (const auto& [known, can] : verdicts_)
      if (known.sameAs(port)) return can;
    verdicts_.emplace_back(port, desk_.canConnect(giver(port), reader(port)));
    return verdicts_.back().second;
  }

  Rect boxOf(const Port& port) const {
    const Draft* draft = desk_.drafts.find(port.draft);
    return draft ? desk_.boxOfDraft(*draft) : port.thing.box;
  }

  void tell(const std::optional<Port>& before) {
    if (refusal_) {
      desk_.refusalCard->setRefusal(desk_.refusalOfWire(giver(*refusing_), reader(*refusing_), *refusal_));
      desk_.tried = RefusedTry{{}, std::nullopt, boxOf(*refusing_)};
      desk_.placeCards();
    } else if (desk_.tried) {
      desk_.forgetRefusal();
    }
    const bool same = target_ && before && target_->sameAs(*before);
    if (same) return;
    if (target_ && target_->draft == 0 && fixed_.draft == 0)
      desk_.consider(desk_.connecting(giver(*target_), reader(*target_), moved_));
    else
      desk_.leaveConsidered();
  }

  void showRefusal() {
    RefusedTry what{desk_.routeTo(fixed_, refusing_->at, &*refusing_), refusing_, boxOf(*refusing_)};
    desk_.refuse(desk_.refusalOfWire(giver(*refusing_), reader(*refusing_), *refusal_), std::move(what));
  }

  /// What would stand at the wire's loose end.
  void openPalette() {
    InsertSpot place;
    place.at = {end_.x, end_.y};
    const graph::Node* own = nullptr;
    const graph::Graph& graph = *desk_.model();
    if (fixed_.gives()) {
      place.giver = fixed_;
      if (moved_) place.readers = moved_->uses;
      if (const graph::Value* value = graph.find_value(fixed_.value)) own = graph.find(value->producer);
    } else {
      place.readers = fixed_.uses;
      if (!fixed_.uses.empty()) own = graph.find(fixed_.uses.front().node);
      if (fixed_.value.valid() && graph.find_value(fixed_.value)) {
        place.giver = fixed_;
        place.giver->kind = Port::Kind::output;
      } else if (fixed_.draft == 0 && fixed_.uses.empty()) {
        return;
      }
    }
    const Draft* draft = desk_.drafts.find(fixed_.draft);
    place.scope = desk_.scopeAt(end_, draft ? draft->scope : own ? own->scope : std::string());
    desk_.openPalette(std::move(place), desk_.toView(end_));
  }

  EditDesk& desk_;
  Port fixed_;
  std::optional<Port> moved_, target_, refusing_;
  std::optional<Error> refusal_;
  std::vector<std::pair<Port, Result<void>>> verdicts_;
  Point end_;
};

}  // namespace

std::unique_ptr<Gesture> wireDrag(EditDesk& desk, const Port& fixed, const std::optional<Port>& moved) {
  return std::make_unique<WireDrag>(desk, fixed, moved);
}

}  // namespace orrery::ui
