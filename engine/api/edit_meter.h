// What edits do to the answers of a session: what is there reads a text once, and each set of edits reads it
// beside.
#pragma once

#include <string_view>
#include <vector>

#include "engine/api/compare_values.h"
#include "engine/api/preview_cost.h"
#include "engine/api/session_impl.h"

namespace orrery::api {

class EditMeter {
 public:
  /// Upon a state of the session, which stays with the meter; the session must outlive it. An empty text is
  /// one of the program's own.
  static Result<EditMeter> over(const SessionImpl& session, SessionStatePtr state, std::string_view text,
                                const std::stop_token& stop);

  /// Blocks; the scheduler serves others before and after the one step. What the edits need of weights is
  /// made for it, and goes with it.
  Result<MeasuredChange> measure(const std::vector<edit::Edit>& edits, const std::stop_token& stop) const;

 private:
  EditMeter(const SessionImpl& session, SessionStatePtr state)
      : session_(&session), state_(std::move(state)) {}
  bool generates() const { return session_->info().task == Task::generate; }
  std::optional<double> nll(const Distributions& answer) const;
  Result<std::optional<double>> tokens_per_second(const runtime::Version& version) const;

  const SessionImpl* session_;
  SessionStatePtr state_;
  std::vector<int32_t> tokens_;
  int64_t positions_ = 0;  // whose distributions are compared; of an encoder 0
  // Of the state.
  Distributions answer_;  // of an encoder only its numbers, as the logits
  std::optional<double> tokens_per_second_;
  std::vector<VersionMemory> memory_;
};

}  // namespace orrery::api
