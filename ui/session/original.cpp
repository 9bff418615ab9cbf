#include "ui/session/original.h"

namespace orrery::ui {

Result<SessionPtr> originalOf(const api::Session& session, std::stop_token stop) {
  ORRERY_ASSIGN(SessionPtr original, session.fork({}, {{}, std::move(stop)}));
  ORRERY_TRY(original->jump_to(0));
  return original;
}

Result<SessionPtr> KeptOriginal::of(const SessionPtr& session, std::stop_token stop) {
  const api::SessionStatePtr state = session->state();
  const bool same = original_ && session_.lock() == session && fusion_ == state->fusion &&
                    disabledPasses_ == state->disabled_passes;
  if (same) return original_;
  original_ = nullptr;  // its memory first
  ORRERY_ASSIGN(original_, originalOf(*session, std::move(stop)));
  session_ = session;
  fusion_ = state->fusion;
  disabledPasses_ = state->disabled_passes;
  return original_;
}

}  // namespace orrery::ui
