// The model as it was opened, beside what was made of it.
#pragma once

#include "ui/session/services.h"

namespace orrery::ui {

/// Another session over the same weights, before the first of its edits. Waits.
Result<SessionPtr> originalOf(const api::Session& session, std::stop_token stop);

/// The original of a session, kept as long as it is that of the session asked about. On one thread.
class KeptOriginal {
 public:
  Result<SessionPtr> of(const SessionPtr& session, std::stop_token stop);

 private:
  std::weak_ptr<api::Session> session_;
  bool fusion_ = true;
  std::set<std::string> disabledPasses_;
  SessionPtr original_;
};

}  // namespace orrery::ui
