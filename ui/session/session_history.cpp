// The part of SessionController that walks the history.
#include "ui/session/session_controller.h"

namespace orrery::ui {

void SessionController::jumpTo(size_t steps) {
  submit(api::JumpTo{steps}, {"Could not go to that step", EditKind::jumped, {}, {}});
}

void SessionController::switchRecipe(const std::string& name, bool on) {
  submit(
      api::SwitchRecipe{name, on},
      {QString(on ? "Could not switch %1 on" : "Could not switch %1 off").arg(QString::fromStdString(name)),
       EditKind::applied,
       {},
       {}});
}

void SessionController::tellReplaced(const api::History& before) {
  if (!before.can_redo()) return;
  api::History all = before;
  all.move_to(all.steps().size(), true);
  emit stepsReplaced(all.recipe(), static_cast<int>(before.steps().size() - before.position()));
}

}  // namespace orrery::ui
