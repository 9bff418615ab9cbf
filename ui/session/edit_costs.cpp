#include "ui/session/edit_costs.h"

#include <algorithm>

#include "ui/session/guarded_job.h"

namespace orrery::ui {
namespace {

std::string keyOf(const std::vector<edit::Edit>& edits) {
  std::string key;
  for (const edit::Edit& edit : edits) key += edit.to_string() + '\n';
  return key;
}

Result<api::MeasuredChange> measuredAgainst(KeptOriginal& kept, const SessionPtr& session,
                                            const std::vector<edit::Edit>& edits, const std::string& text,
                                            const std::stop_token& stop) {
  return guardedJob([&]() -> Result<api::MeasuredChange> {
    ORRERY_ASSIGN(const SessionPtr original, kept.of(session, stop));
    return original->measure(edits, text, stop);
  });
}

}  // namespace

std::vector<EditCost> costsOf(const api::History& history) {
  const auto& steps = history.steps();
  size_t first = history.position();  // the last step that made all anew, or none
  while (first > 0 && !steps[first - 1]->anew) --first;
  std::vector<EditCost> costs;
  for (size_t i = first == 0 ? 0 : first - 1; i < history.position(); ++i) {
    const api::HistoryStep& step = *steps[i];
    const std::vector<edit::Edit> edits = api::edits_of(step.edits);
    if (!step.anew && !edits.empty()) costs.push_back({step.record.name, edits});
    if (step.anew)
      for (const edit::Edit& edit : edits) costs.push_back({edit.to_string(), {edit}});
  }
  if (!costs.empty()) costs.push_back({{}, history.recipe(), true});
  return costs;
}

EditCosts::EditCosts(QObject* parent)
    : QObject(parent), original_(std::make_shared<KeptOriginal>()), worker_(std::make_unique<Worker>()) {}

EditCosts::~EditCosts() {
  stop_.request_stop();
  worker_.reset();
}

void EditCosts::setSource(SessionController* source) {
  if (source == source_) return;
  if (source_) source_->disconnect(this);
  source_ = source;
  if (source_) {
    connect(source_, &SessionController::graphChanged, this, &EditCosts::refresh);
    connect(source_, &SessionController::stateChanged, this, &EditCosts::measureNext);
    connect(source_, &SessionController::loadEnded, this, &EditCosts::measureNext);
  }
  refresh();
}

void EditCosts::setActive(bool active) {
  if (std::exchange(active_, active) == active) return;
  if (!active) {
    stop_.request_stop();
    worker_->post([kept = original_](std::stop_token) { *kept = {}; });  // its memory
  }
  measureNext();
}

void EditCosts::setText(const QString& text) {
  if (std::exchange(text_, text) == text) return;
  forget();
  refresh();
}

/// What was measured is of other conditions.
void EditCosts::forget() {
  stop_.request_stop();
  ++job_;
  running_ = false;
  measured_.clear();
}

void EditCosts::refresh() {
  const SessionPtr session = source_ ? source_->session() : nullptr;
  const api::History* history = source_ ? source_->history() : nullptr;
  if (session_.lock() != session) {
    forget();
    worker_->post([kept = original_](std::stop_token) { *kept = {}; });
  }
  session_ = session;
  costs_.clear();
  if (session && history) {
    const api::SessionStatePtr state = session->state();
    if (fusion_ != state->fusion || disabledPasses_ != state->disabled_passes) forget();
    fusion_ = state->fusion;
    disabledPasses_ = state->disabled_passes;
    costs_ = costsOf(*history);
    for (EditCost& cost : costs_) {
      const Key key = keyOf(cost.edits);
      cost.measuring = running_ && key == runningKey_;
      if (const auto known = measured_.find(key); known != measured_.end()) {
        cost.change = known->second.change;
        cost.refusal = known->second.refusal;
      }
    }
  }
  emit changed();
  measureNext();
}

/// A reply and a change of the graph go first.
void EditCosts::measureNext() {
  const SessionPtr session = session_.lock();
  if (running_ || !active_ || !session || !source_ || source_->running() || source_->loading()) return;
  const auto next = std::find_if(costs_.begin(), costs_.end(),
                                 [](const EditCost& cost) { return !cost.change && !cost.refusal; });
  if (next == costs_.end()) return;
  running_ = true;
  next->measuring = true;
  runningKey_ = keyOf(next->edits);
  stop_ = worker_->post([this, job = ++job_, key = runningKey_, edits = next->edits,
                         text = text_.toStdString(), kept = original_, session](std::stop_token stop) {
    auto result = measuredAgainst(*kept, session, edits, text, stop);
    QMetaObject::invokeMethod(
        this, [this, job, key, result = std::move(result)] { take(job, key, result); }, Qt::QueuedConnection);
  });
  emit changed();
}

void EditCosts::take(quint64 job, const Key& key, const Result<api::MeasuredChange>& result) {
  if (job != job_) return;
  running_ = false;
  const bool stopped = !result.ok() && result.error().code == ErrorCode::cancelled;
  if (!stopped)
    measured_[key] = result.ok() ? Measured{*result, std::nullopt} : Measured{std::nullopt, result.error()};
  refresh();
}

}  // namespace orrery::ui
