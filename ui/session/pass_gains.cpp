#include "ui/session/pass_gains.h"

#include <algorithm>
#include <utility>

#include "ui/session/guarded_job.h"

namespace orrery::ui {
PassGains::PassGains(QObject* parent) : QObject(parent), worker_(std::make_unique<Worker>()) {}

PassGains::~PassGains() {
  stop_.request_stop();
  worker_.reset();
}

void PassGains::setSource(SessionController* source) {
  if (source == source_) return;
  if (source_) source_->disconnect(this);
  source_ = source;
  if (source_) {
    connect(source_, &SessionController::graphChanged, this, &PassGains::refresh);
    connect(source_, &SessionController::loadEnded, this, &PassGains::refresh);
    connect(source_, &SessionController::changeEnded, this, &PassGains::refresh);
    connect(source_, &SessionController::editFailed, this, &PassGains::refresh);
    connect(source_, &SessionController::stateChanged, this, [this] {
      if (source_->running()) pause();
      measureNext();
    });
  }
  refresh();
}

void PassGains::setActive(bool active) {
  if (!std::exchange(active_, active) && active) refresh();
}

/// A reply and a change of the graph go first; what was being measured begins again after them.
void PassGains::pause() {
  if (!running_) return;
  stop_.request_stop();
  ++job_;
  running_ = false;
  waiting_.push_front(current_);
}

void PassGains::refresh() {
  const SessionPtr session = source_ ? source_->session() : nullptr;
  const graph::GraphVersion model = session ? session->model_graph() : nullptr;
  if (session_.lock() != session || model_ != model) {  // gains and reports are of another graph
    pause();
    measured_.clear();
    waiting_.clear();
  }
  if (session_.lock() != session) reports_.clear();
  session_ = session;
  model_ = model;
  if (!source_ || !source_->changing()) asked_.reset();
  ask();
  show();
  measureNext();
}

/// What the passes did to the graph that is there now.
void PassGains::ask() {
  const SessionPtr session = session_.lock();
  const api::SessionStatePtr state = session ? session->state() : nullptr;
  if (!session) reports_.clear();
  if (!active_ || state == reported_) return;
  pause();
  reported_ = state;
  refusal_.clear();
  if (!session) return;
  const auto& report = source_->services().passes.report;
  if (!report) {
    reports_.clear();
    refusal_ = "This program cannot look at passes";
    return;
  }
  worker_->post([this, job = ++report_, session, report](std::stop_token) {
    auto result = guardedJob([&] { return report(*session); });
    QMetaObject::invokeMethod(
        this,
        [this, job, result = std::move(result)] {
          if (job != report_) return;
          reports_ = result.ok() ? *result : std::vector<api::PassReport>();
          refusal_ = result.ok() ? QString() : QString::fromStdString(result.error().to_string());
          show();
          measureNext();
        },
        Qt::QueuedConnection);
  });
}

PassGains::Names PassGains::leftOut() const {
  Names names;
  for (const api::PassReport& report : reports_)
    if (report.disabled) names.insert(report.name);
  return names;
}

void PassGains::show() {
  const Names now = leftOut();
  const SessionPtr session = session_.lock();
  const bool fusion = !session || session->state()->fusion;
  rows_.clear();
  for (const api::PassReport& report : reports_) {
    PassRow row{.report = report};
    row.locked = report.fuses && !fusion;
    row.on = asked_ && !row.locked ? !asked_->contains(report.name) : !report.disabled;
    row.measuring = running_ && current_ == report.name;
    row.waits = std::ranges::find(waiting_, report.name) != waiting_.end();
    if (const auto known = measured_.find(report.name); known != measured_.end()) {
      row.gain = known->second.gain;
      row.refusal = known->second.refusal;
      Names others = now;
      others.erase(report.name);
      row.otherwise = row.gain && others != known->second.others;
    }
    rows_.push_back(std::move(row));
  }
  emit changed();
}

void PassGains::switchPass(const std::string& pass, bool on) {
  const SessionPtr session = session_.lock();
  if (!session || !source_) return;
  if (!asked_) asked_ = session->state()->disabled_passes;
  on ? void(asked_->erase(pass)) : void(asked_->insert(pass));
  source_->setPasses(*asked_);
  emit switched(*asked_);
  show();
}

void PassGains::measure(const std::string& pass) {
  if ((running_ && current_ == pass) || std::ranges::find(waiting_, pass) != waiting_.end()) return;
  measured_.erase(pass);
  waiting_.push_back(pass);
  show();
  measureNext();
}

void PassGains::measureAll() {
  for (const api::PassReport& report : reports_)
    if (report.rewrites > 0 || report.disabled) measure(report.name);
}

void PassGains::stop() {
  stop_.request_stop();
  ++job_;
  running_ = false;
  waiting_.clear();
  show();
}

void PassGains::measureNext() {
  const SessionPtr session = session_.lock();
  if (running_ || waiting_.empty() || !session || !source_ || source_->running() || source_->loading() ||
      source_->changing())
    return;
  const auto call = source_->services().passes.measure;
  if (!call) return;
  running_ = true;
  done_ = 0;
  current_ = waiting_.front();
  waiting_.pop_front();
  Names others = leftOut();
  others.erase(current_);
  stop_ = worker_->post([this, job = ++job_, pass = current_, others, session, call](std::stop_token stop) {
    const auto tell = [this, job](std::string_view, uint64_t done, uint64_t total) {
      QMetaObject::invokeMethod(
          this,
          [this, job, share = total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 0] {
            if (job != job_) return;
            done_ = share;
            emit changed();
          },
          Qt::QueuedConnection);
    };
    auto gain = guardedJob([&] { return call(*session, pass, {}, tell, stop); });
    QMetaObject::invokeMethod(
        this, [this, job, pass, others, gain = std::move(gain)] { take(job, pass, others, gain); },
        Qt::QueuedConnection);
  });
  show();
}

void PassGains::take(quint64 job, const std::string& pass, const Names& others,
                     const Result<api::PassGain>& gain) {
  if (job != job_) return;
  running_ = false;
  if (gain.ok())
    measured_[pass] = {*gain, std::nullopt, others};
  else if (gain.error().code != ErrorCode::cancelled)
    measured_[pass] = {std::nullopt, gain.error(), others};
  show();
  measureNext();
}

}  // namespace orrery::ui
