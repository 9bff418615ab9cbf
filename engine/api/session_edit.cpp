// How a session's state changes: prepared beside it, then swapped whole.
#include <fmt/format.h>

#include "engine/api/guard.h"
#include "engine/api/session_impl.h"

namespace orrery::api {
namespace {

Error nothing_to(std::string_view what) {
  return {ErrorCode::not_found, fmt::format("There is nothing to {}", what), "", ""};
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

SessionStatePtr opened_state(std::shared_ptr<const runtime::Version> version, bool fusion) {
  graph::GraphVersion model = version->model, drawn = version->drawn;
  History history(model);
  return std::make_shared<const SessionState>(
      SessionState{std::move(model), std::move(drawn), std::move(version), fusion, std::move(history)});
}

SessionStatePtr SessionImpl::state() const {
  const std::scoped_lock lock(state_mutex_);
  return state_;
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
    ORRERY_ASSIGN(const Replayed made, replayed(now_.model, change.edits));
    ORRERY_ASSIGN(Draft draft, prepare(made.graph, now_.fusion));
    Next next;
    std::vector<edit::Edit> recipe = now_.history.recipe();
    std::string words;
    for (size_t i = 0; i < change.edits.size(); ++i) {
      recipe.push_back(change.edits[i]);
      const std::string own = change.edits[i].to_string();
      words += (words.empty() ? "" : "; ") + own;
      const bool last = i + 1 == change.edits.size(), one_step = !change.name.empty();
      if (one_step && !last) continue;
      next.records.push_back({one_step ? change.name : made.names[i], one_step ? words : own, draft.kv_kept});
      draft.state->history.add({next.records.back(), recipe, last ? made.graph : nullptr});
    }
    next.state = std::move(draft.state);
    return next;
  }

  Result<Next> operator()(const RestoreScope& change) const {
    ORRERY_TRY(watch_.stage("Making the edits"));
    ORRERY_ASSIGN(std::vector<edit::Edit> recipe,
                  without_bypass(*now_.model, now_.history.recipe(), change.scope));
    ORRERY_ASSIGN(const Replayed made, replayed(now_.history.opened(), recipe));
    ORRERY_ASSIGN(Draft draft, prepare(made.graph, now_.fusion));
    const EditRecord record{"restore " + change.scope, "restore scope=" + change.scope, draft.kv_kept};
    draft.state->history.add({record, std::move(recipe), made.graph});
    return Next{std::move(draft.state), {record}};
  }

  Result<Next> operator()(const UndoEdit&) const {
    if (!now_.history.can_undo()) return nothing_to("undo");
    ORRERY_ASSIGN(graph::GraphVersion graph, now_.history.graph_before());
    ORRERY_ASSIGN(Draft draft, prepare(std::move(graph), now_.fusion));
    EditRecord record = now_.history.last().record;
    record.kv_kept = draft.kv_kept;
    draft.state->history.undone();
    return Next{std::move(draft.state), {std::move(record)}};
  }

  Result<Next> operator()(const RedoEdit&) const {
    if (!now_.history.can_redo()) return nothing_to("redo");
    ORRERY_ASSIGN(graph::GraphVersion graph, now_.history.graph_after());
    ORRERY_ASSIGN(Draft draft, prepare(std::move(graph), now_.fusion));
    draft.state->history.redone(draft.kv_kept);
    EditRecord record = draft.state->history.last().record;
    return Next{std::move(draft.state), {std::move(record)}};
  }

  Result<Next> operator()(const SetFusion& change) const {
    ORRERY_ASSIGN(Draft draft, prepare(now_.model, change.enabled));
    return Next{std::move(draft.state), {}};
  }

 private:
  /// A state whose history has not moved on yet.
  struct Draft {
    std::shared_ptr<SessionState> state;
    bool kv_kept = true;
  };

  Result<Draft> prepare(graph::GraphVersion graph, bool fusion) const {
    ORRERY_ASSIGN(auto version, prepare_version(std::move(graph), session_.preparation(fusion), watch_));
    runtime::Model& model = *session_.parts_.model;
    ORRERY_TRY(prepare_plan(model, *version, watch_));
    Draft draft{std::make_shared<SessionState>(now_)};
    draft.kv_kept = model.keeps_context(*version, *session_.chat_sequence());
    draft.state->model = version->model;
    draft.state->fused = version->drawn;
    draft.state->version = std::move(version);
    draft.state->fusion = fusion;
    return draft;
  }

  const SessionImpl& session_;
  const SessionState& now_;
  const Watch& watch_;
};

/// What would change nothing is done at once.
Changed SessionImpl::make(const Change& change, const Watch& watch) {
  const SessionStatePtr now = state();
  const auto* fusion = std::get_if<SetFusion>(&change);
  const auto* edits = std::get_if<MakeEdits>(&change);
  if ((fusion && fusion->enabled == now->fusion) || (edits && edits->edits.empty()))
    return {std::vector<EditRecord>(), now};
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
