// What edits do to the answers of a session: what is there reads a text once, and each set of edits reads it
// beside.
#pragma once

#include <string_view>
#include <vector>

#include "engine/api/compare_values.h"
#include "engine/api/preview_cost.h"
#include "engine/api/session_impl.h"
#include "engine/generate/probe.h"

namespace orrery::api {

class EditMeter {
 public:
  /// What of an edited graph runs: all of it, or what follows from the edit. What comes before is then taken
  /// from the graph that is there, which comes to the same numbers; and the speed is computed from its nodes'
  /// times (MeasuredChange), not measured by steps of its own.
  enum class Runs : uint8_t { whole, from_the_edit };

  /// Upon a state of the session, which stays with the meter; the session must outlive it. An empty text is
  /// one of the program's own.
  static Result<EditMeter> over(const SessionImpl& session, SessionStatePtr state, std::string_view text,
                                Runs runs, const std::stop_token& stop);

  /// Blocks; the scheduler serves others before and after the one step. What the edits need of weights is
  /// made for it, and goes with it.
  Result<MeasuredChange> measure(const std::vector<edit::Edit>& edits, const std::stop_token& stop) const;

 private:
  EditMeter(const SessionImpl& session, SessionStatePtr state, Runs runs)
      : session_(&session), state_(std::move(state)), runs_(runs) {}
  bool generates() const { return session_->info().task == Task::generate; }
  std::optional<double> nll(const Distributions& answer) const;
  Result<void> read_text();
  Result<void> time_step();
  Result<std::vector<float>> answer_after(const runtime::Version& version) const;
  Result<std::optional<double>> speed_after(const runtime::Version& version) const;
  Result<std::unique_ptr<generate::Probe>> one_token(const runtime::Version& version) const;
  static Result<double> steps_per_second(generate::Probe& probe);

  const SessionImpl* session_;
  SessionStatePtr state_;
  Runs runs_;
  std::vector<int32_t> tokens_;
  int64_t positions_ = 0;  // whose distributions are compared; of an encoder 0
  // Of the state.
  Distributions answer_;  // of an encoder only its numbers, as the logits
  std::optional<double> tokens_per_second_;
  std::vector<VersionMemory> memory_;
  generate::KnownValues known_;  // where a graph runs from the edit
  ProfilePtr step_ = std::make_shared<const Profile>();
  std::vector<weights::WeightBytes> held_;  // as the kernels read them: not packed anew for each graph
};

}  // namespace orrery::api
