// How a session's state changes: prepared beside it, then swapped whole.
#include <fmt/format.h>

#include <utility>

#include "engine/api/guard.h"
#include "engine/api/model_results.h"
#include "engine/api/restore.h"
#include "engine/api/session_impl.h"
#include "engine/api/steering.h"
#include "engine/own/sizes.h"

namespace orrery::api {
namespace {

Error nothing_to(std::string_view what) {
  return {ErrorCode::not_found, fmt::format("There is nothing to {}", what), "", ""};
}

bool changes_nothing(const Change& change, const SessionState& now) {
  if (const auto* fusion = std::get_if<SetFusion>(&change)) return fusion->enabled == now.fusion;
  if (const auto* passes = std::get_if<SetPasses>(&change)) return passes->disabled == now.disabled_passes;
  if (const auto* edits = std::get_if<MakeEdits>(&change)) return edits->edits.empty();
  if (const auto* jump = std::get_if<JumpTo>(&change)) return jump->steps == now.history.position();
  return false;
}

/// A change on its way: whoever drops it unmade tells so.
class Submitted {
 public:
  Submitted(const SessionImpl& session, ChangeEvents events)
      : session_(session), events_(std::move(events)) {}
  Submitted(const Submitted&) = delete;
  Submitted& operator=(const Submitted&) = delete;
  ~Submitted() {
    if (!done_) finish({cancelled_error(), session_.state()});
  }

  const ProgressCallback& on_progress() const { return events_.on_progress; }
  void finish(const Changed& changed) {
    done_ = true;
    if (events_.on_done) events_.on_done(changed);
  }

 private:
  const SessionImpl& session_;
  ChangeEvents events_;
  bool done_ = false;
};

}  // namespace

SessionStatePtr opened_state(graph::GraphVersion graph, std::shared_ptr<const runtime::Version> version,
                             bool fusion) {
  graph::GraphVersion drawn = version->drawn;
  std::set<std::string> disabled(version->passes.disabled.begin(), version->passes.disabled.end());
  History history(graph);
  return std::make_shared<const SessionState>(SessionState{std::move(graph), std::move(drawn),
                                                           std::move(version), fusion, std::move(history),
                                                           std::move(disabled)});
}

SessionStatePtr SessionImpl::state() const {
  const std::scoped_lock lock(state_mutex_);
  return state_;
}

/// A graph of one's own gives what it is edited to give.
Result<void> SessionImpl::check_results_of(const SessionState& now, const graph::Graph& edited) const {
  if (parts_.info.task == Task::tensors) return {};
  return check_results(*now.history.opened(), edited);
}

/// The model's version and the state that it is of change in one section, so that no two readers disagree.
/// The old state ends after it.
void SessionImpl::publish(SessionStatePtr state) {
  const std::scoped_lock lock(state_mutex_);
  state_.swap(state);
  parts_.model->set_version(state_->version);
}

/// The state that a change makes of another. Touches neither the session nor its model: what it compiles is
/// the new version's own.
class SessionImpl::Preparing {
 public:
  struct Next {
    SessionStatePtr state;
    std::vector<EditRecord> records;
  };
  Preparing(const SessionImpl& session, const SessionState& now, const Watch& watch)
      : session_(session), now_(now), watch_(watch) {}

  Result<Next> operator()(const MakeEdits& change) const {
    ORRERY_TRY(watch_.stage("Making the edits"));
    ORRERY_ASSIGN(std::vector<edit::Edit> edits, with_vectors(session_, now_, change.edits, watch_));
    edit::name_contents(now_.model->ops(), edits);
    ORRERY_ASSIGN(const Replayed made, replayed(now_.model, edits));
    ORRERY_ASSIGN(Draft draft, prepare(made.graph));
    Next next;
    HistoryStep step;
    for (size_t i = 0; i < edits.size(); ++i) {
      const std::string words = edits[i].to_string();
      step.record.words += (step.record.words.empty() ? "" : "; ") + words;
      step.record.name = change.step.empty() ? made.names[i] : change.step;
      step.record.kv_kept = draft.kv_kept;
      step.edits.push_back({edits[i], change.recipe});
      const bool last = i + 1 == edits.size();
      if (!last && !change.step.empty()) continue;
      if (last) step.graph = made.graph;
      next.records.push_back(step.record);
      draft.state->history.add(std::exchange(step, {}));
    }
    next.state = std::move(draft.state);
    return next;
  }

  Result<Next> operator()(const UndoEdit&) const {
    if (!now_.history.can_undo()) return nothing_to("undo");
    const size_t position = now_.history.position();
    return move_to(position - 1, now_.history.last().record);
  }

  Result<Next> operator()(const RedoEdit&) const {
    if (!now_.history.can_redo()) return nothing_to("redo");
    return move_to(now_.history.position() + 1, now_.history.next().record);
  }

  Result<Next> operator()(const JumpTo& change) const {
    const auto& steps = now_.history.steps();
    if (change.steps > steps.size())
      return Error{ErrorCode::not_found,
                   fmt::format("The history has {} steps, not {}", steps.size(), change.steps), "", ""};
    return move_to(change.steps, change.steps == 0 ? EditRecord{"as it was opened", "", true}
                                                   : steps[change.steps - 1]->record);
  }

  Result<Next> operator()(const RestoreNodes& change) const {
    ORRERY_TRY(watch_.stage("Making the edits"));
    ORRERY_ASSIGN(std::vector<RecipeEdit> entries,
                  without_edits_of(now_.history, *now_.model, change.scopes));
    return make_anew(std::move(entries), "restore " + change.scopes);
  }

  Result<Next> operator()(const SwitchRecipe& change) const {
    ORRERY_TRY(watch_.stage("Making the edits"));
    std::vector<RecipeEdit> entries = now_.history.entries();
    const auto refuse = [&](std::string what) {
      return Error{ErrorCode::not_found, std::move(what), change.name.substr(0, 200), ""};
    };
    bool known = false, changed = false;
    for (RecipeEdit& entry : entries) {
      if (change.name.empty() || entry.recipe != change.name) continue;
      known = true;
      changed = changed || entry.on != change.on;
      entry.on = change.on;
    }
    if (!known) return refuse("No recipe of this name was applied");
    if (!changed) return refuse(change.on ? "The recipe is on already" : "The recipe is off already");
    return make_anew(std::move(entries), fmt::format("recipe {} {}", change.name, change.on ? "on" : "off"));
  }

  Result<Next> operator()(const SetFusion& change) const {
    ORRERY_ASSIGN(Draft draft, prepare(now_.model, change.enabled, now_.disabled_passes));
    return Next{std::move(draft.state), {}};
  }

  Result<Next> operator()(const SetPasses& change) const {
    ORRERY_TRY(check_passes({change.disabled.begin(), change.disabled.end()}));
    ORRERY_ASSIGN(Draft draft, prepare(now_.model, now_.fusion, change.disabled));
    return Next{std::move(draft.state), {}};
  }

  Result<Next> operator()(const SetSizes& change) const {
    ORRERY_ASSIGN(Draft draft, prepare(now_.model, now_.fusion, now_.disabled_passes, change.sizes));
    return Next{std::move(draft.state), {}};
  }

 private:
  /// A state whose history has not moved on yet.
  struct Draft {
    std::shared_ptr<SessionState> state;
    bool kv_kept = true;
  };

  Result<Draft> prepare(graph::GraphVersion graph) const {
    return prepare(std::move(graph), now_.fusion, now_.disabled_passes);
  }
  /// Where an edited graph does not take the sizes of the last run, they are open again.
  Result<Draft> prepare(graph::GraphVersion graph, bool fusion, const std::set<std::string>& disabled) const {
    const bool fits = now_.sizes.empty() || own::with_sizes(graph, now_.sizes).ok();
    return prepare(std::move(graph), fusion, disabled, fits ? now_.sizes : Bindings());
  }
  Result<Draft> prepare(graph::GraphVersion graph, bool fusion, const std::set<std::string>& disabled,
                        Bindings sizes) const {
    ORRERY_TRY(session_.check_results_of(now_, *graph));
    Preparation preparation = session_.preparation(fusion, disabled);
    preparation.sizes = sizes;
    ORRERY_ASSIGN(auto version, prepare_version(graph, preparation, watch_));
    runtime::Model& model = *session_.parts_.model;
    ORRERY_TRY(prepare_plan(model, *version, watch_));
    Draft draft{std::make_shared<SessionState>(now_)};
    draft.kv_kept = model.keeps_context(*version, *session_.chat_sequence());
    draft.state->model = std::move(graph);
    draft.state->sizes = std::move(sizes);
    draft.state->fused = version->drawn;
    draft.state->version = std::move(version);
    draft.state->fusion = fusion;
    draft.state->disabled_passes = disabled;
    return draft;
  }

  /// To another position in the history, told as the step that it is about.
  Result<Next> move_to(size_t steps, EditRecord record) const {
    ORRERY_ASSIGN(graph::GraphVersion graph, now_.history.graph_at(steps));
    ORRERY_ASSIGN(Draft draft, prepare(std::move(graph)));
    record.kv_kept = draft.kv_kept;
    draft.state->history.move_to(steps, draft.kv_kept);
    return Next{std::move(draft.state), {std::move(record)}};
  }

  /// A step after which the recipe consists of these entries.
  Result<Next> make_anew(std::vector<RecipeEdit> entries, std::string name) const {
    ORRERY_ASSIGN(const Replayed made, replayed(now_.history.opened(), edits_of(entries)));
    ORRERY_ASSIGN(Draft draft, prepare(made.graph));
    const EditRecord record{std::move(name), "", draft.kv_kept};
    draft.state->history.add({record, std::move(entries), true, made.graph});
    return Next{std::move(draft.state), {record}};
  }

  const SessionImpl& session_;
  const SessionState& now_;
  const Watch& watch_;
};

/// What would change nothing is done at once.
Changed SessionImpl::make(const Change& change, const Watch& watch) {
  const SessionStatePtr now = state();
  if (changes_nothing(change, *now)) return {std::vector<EditRecord>(), now};
  auto next = guarded([&]() -> Result<Preparing::Next> {
    ORRERY_ASSIGN(Preparing::Next prepared, std::visit(Preparing(*this, *now, watch), change));
    ORRERY_TRY(watch.stage("Adopting the new graph"));
    return prepared;
  });
  if (!next.ok()) return {std::move(next).error(), now};
  publish(next->state);
  return {std::move(next->records), std::move(next->state)};
}

std::stop_source SessionImpl::submit(Change change, ChangeEvents events) {
  auto submitted = std::make_shared<Submitted>(*this, std::move(events));
  return edits_.post(
      [this, submitted = std::move(submitted), change = std::move(change)](std::stop_token stop) {
        submitted->finish(make(change, {submitted->on_progress(), std::move(stop)}));
      });
}

}  // namespace orrery::api
