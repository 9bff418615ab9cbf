// The part of SessionController that changes the graph. A change is handed to the session and prepared there;
// the window hears how far it is, and reads the state that came of it.
#include <algorithm>

#include "engine/api/recipes.h"
#include "ui/session/session_controller.h"
#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

constexpr size_t kMisfitsTold = 3;
constexpr qint64 kQuickMilliseconds = 300;  // a change that is done by then needs no telling

using Misfits = std::function<std::vector<edit::Misfit>(const graph::Graph&, const std::vector<edit::Edit>&)>;

/// Each edit that does not fit, with its reason, one per line.
Result<void> refusalOf(const std::vector<edit::Misfit>& misfits, const std::vector<edit::Edit>& edits,
                       bool madeElsewhere) {
  if (misfits.empty()) return {};
  std::string lines = madeElsewhere ? "The recipe was made on another model.\n" : "";
  for (size_t i = 0; i < std::min(misfits.size(), kMisfitsTold); ++i) {
    const edit::Misfit& misfit = misfits[i];
    lines += "Edit " + std::to_string(misfit.index + 1) + ", \"" + edits[misfit.index].to_string() +
             "\": " + misfit.error.to_string() + "\n";
  }
  const size_t untold = misfits.size() - std::min(misfits.size(), kMisfitsTold);
  lines += untold > 0 ? "and " + std::to_string(untold) + " more. " : "";
  return Error{ErrorCode::unsupported, lines + "Nothing was changed", "",
               "open the model that the recipe was made for, or take these edits out of it"};
}

}  // namespace

const std::vector<edit::Edit>& SessionController::recipe() const {
  static const std::vector<edit::Edit> kNone;
  return shown_ ? shown_->history.recipe() : kNone;
}

void SessionController::apply(const edit::Edit& edit) {
  submit(api::MakeEdits{{edit}},
         {QString("Could not %1").arg(QString::fromStdString(edit.to_string())), EditKind::applied, {}, {}});
}

void SessionController::applyByHand(const std::vector<edit::Edit>& edits, const QString& name) {
  ChangeWords words{"Could not make the edit", EditKind::applied, {}, {}};
  words.byHand = true;
  submit(api::MakeEdits{edits, {}, name.toStdString()}, words);
}

void SessionController::replay(const std::vector<edit::Edit>& edits, const QString& name,
                               const std::string& model) {
  if (recipe().empty()) savedRecipe_ = edits;
  const QString done = format::counted(static_cast<qint64>(edits.size()), "edit") + " of " + name;
  // On failure: all edits that do not fit, not only the first.
  const bool elsewhere = session_ && !model.empty() && model != api::identity_of(session_->info());
  const auto explain = [edits, elsewhere, misfits = services_.recipes.misfits](const api::Changed& changed) {
    const Result<void> fit =
        misfits ? refusalOf(misfits(*changed.state->model, edits), edits, elsewhere) : Result<void>();
    return fit.ok() ? changed.records.error() : fit.error();
  };
  submit(api::MakeEdits{edits, name.toStdString()},
         {"Could not make the edits of " + name, EditKind::applied, done.toStdString(), explain});
}

QString SessionController::undoName() const {
  return canUndo() ? QString::fromStdString(shown_->history.last().record.name) : QString();
}

QString SessionController::redoName() const {
  return canRedo() ? QString::fromStdString(shown_->history.next().record.name) : QString();
}

void SessionController::undo() { submit(api::UndoEdit{}, {"Could not undo", EditKind::undone, {}, {}}); }

void SessionController::redo() { submit(api::RedoEdit{}, {"Could not redo", EditKind::redone, {}, {}}); }

void SessionController::restore(const QString& scopes) {
  submit(api::RestoreNodes{scopes.toStdString()},
         {"Could not restore " + scopes, EditKind::restored, {}, {}});
}

void SessionController::setFusion(bool enabled) {
  submit(api::SetFusion{enabled}, {"Could not change the fusion", std::nullopt, {}, {}});
}

void SessionController::setPasses(std::set<std::string> disabled) {
  submit(api::SetPasses{std::move(disabled)}, {"Could not change the passes", std::nullopt, {}, {}});
}

void SessionController::submit(api::Change change, const ChangeWords& words) {
  if (!session_) return;
  const quint64 id = ++lastChange_;
  api::ChangeEvents events;
  events.on_progress =
      paced([this, id](const LoadProgress& progress) { tellChange(id, progress); }, kQuickMilliseconds);
  events.on_done = [this, id, words, mailbox = mailbox_](const api::Changed& changed) {
    UiError failure;
    if (!changed.records.ok())
      failure = describeError(words.failed, words.explain ? words.explain(changed) : changed.records.error());
    mailbox->post([this, id, words, changed, failure] { finishChange(id, words, changed, failure); });
  };
  changes_.push_back({id, std::stop_source(std::nostopstate)});
  std::stop_source stop = session_->submit(std::move(change), std::move(events));
  changes_.back().stop = std::move(stop);
}

void SessionController::cancelChanges() {
  for (Submitted& change : changes_) change.stop.request_stop();
}

bool SessionController::isPending(quint64 change) const {
  return std::any_of(changes_.begin(), changes_.end(),
                     [change](const Submitted& one) { return one.id == change; });
}

void SessionController::tellChange(quint64 id, const LoadProgress& progress) {
  if (!isPending(id)) return;
  if (!std::exchange(changeTold_, true)) emit changeStarted();
  emit changeProgress(progress);
}

void SessionController::forgetChanges() {
  changes_.clear();
  if (std::exchange(changeTold_, false)) emit changeEnded();
}

void SessionController::finishChange(quint64 id, const ChangeWords& words, const api::Changed& changed,
                                     const UiError& failure) {
  if (!isPending(id)) return;  // of a session that is closed
  std::erase_if(changes_, [id](const Submitted& one) { return one.id == id; });
  if (changes_.empty()) forgetChanges();
  if (!changed.records.ok()) {
    const ErrorCode code = changed.records.error().code;
    const bool steps = words.kind == EditKind::undone || words.kind == EditKind::redone;
    const bool nothing = steps && code == ErrorCode::not_found;
    if (nothing || code == ErrorCode::cancelled) return;
    words.byHand ? emit handRefused(changed.records.error()) : emit editFailed(failure);
    return;
  }
  const api::SessionStatePtr before = std::exchange(shown_, changed.state);
  profiles_[0] = profiles_[1] = nullptr;  // before `edited`: who hears of it reads nothing of before
  const std::vector<api::EditRecord>& records = *changed.records;
  if (words.kind && !records.empty()) {
    api::EditRecord record = records.back();
    if (!words.done.empty()) record = {words.done, {}, record.kv_kept};
    emit edited(record, *words.kind);
    if (words.kind == EditKind::applied || words.kind == EditKind::restored) tellReplaced(before->history);
  }
  takeGraph();
}

}  // namespace orrery::ui
