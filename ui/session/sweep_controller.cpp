#include "ui/session/sweep_controller.h"

#include <algorithm>

#include "ui/session/guarded_job.h"

namespace orrery::ui {
namespace {

constexpr int kTellMilliseconds = 100;

}  // namespace

SweepController::SweepController(SessionController* session, QObject* parent)
    : QObject(parent), session_(session), worker_(std::make_unique<Worker>()) {
  telling_.setSingleShot(true);
  telling_.setInterval(kTellMilliseconds);
  connect(&telling_, &QTimer::timeout, this, &SweepController::advanced);
  connect(session_, &SessionController::opened, this, [this] {
    if (session_->session() != model_) forget();
  });
}

SweepController::~SweepController() {
  stop_.request_stop();
  worker_.reset();
}

QString SweepController::refusal() const {
  const SessionPtr session = session_->session();
  if (!session) return "Open a model to sweep";
  if (!session_->services().sweeps.run) return "This program cannot sweep";
  if (!session->info().cannot_run.empty()) return QString::fromStdString(session->info().cannot_run);
  if (session->info().task == api::Task::tensors)
    return "A graph of one's own reads no text to be measured by";
  return {};
}

bool SweepController::canResume() const {
  return !running_ && sweep_.places > 0 && !sweep_.complete() && refusal().isEmpty();
}

double SweepController::secondsEach() const {
  const size_t rows = sweep_.rows.size() - std::min(rowsBefore_, sweep_.rows.size());
  return rows == 0 ? 0 : seconds_ / static_cast<double>(rows);
}

const api::Sweep* SweepController::other() const {
  const auto found = std::find_if(kept_.rbegin(), kept_.rend(), [this](const api::Sweep& kept) {
    return kept.request != sweep_.request && kept.rows.size() > 1;
  });
  return found == kept_.rend() ? nullptr : &*found;
}

std::optional<api::MixTable> SweepController::mixTable() const {
  std::vector<api::Sweep> sweeps;
  const auto add = [&](const api::Sweep& sweep) {
    if (sweep.request.what == api::SweepKind::quantise_tensors && sweep.complete() &&
        (sweeps.empty() || (sweeps.front().conditions == sweep.conditions &&
                            sweeps.front().request.text == sweep.request.text)))
      sweeps.push_back(sweep);
  };
  add(sweep_);
  for (auto kept = kept_.rbegin(); kept != kept_.rend(); ++kept)
    if (kept->request != sweep_.request) add(*kept);
  auto table = api::mix_table(sweeps);
  return table.ok() ? std::optional(std::move(table).value()) : std::nullopt;
}

bool SweepController::edited() const {
  const auto swept = sweep_.conditions.find("recipe");
  if (swept == sweep_.conditions.end()) return false;
  std::string recipe;
  for (const edit::Edit& edit : session_->recipe()) recipe += edit.to_string() + "\n";
  return recipe != swept->second;
}

void SweepController::post(quint64 generation, std::function<void()> call) {
  postAnswer(this, generation_, generation, std::move(call));
}

void SweepController::start(const api::SweepRequest& request) {
  const SessionPtr session = session_->session();
  if (running_ || !refusal().isEmpty()) return;
  const graph::GraphVersion model = session->model_graph();
  auto places = session_->services().sweeps.places(*model, request);
  if (!places.ok()) return emit failed(describeError("Could not sweep", places.error()));
  keep();
  model_ = session;
  places_ = std::move(places).value();
  sweep_ = {request, places_.size()};
  run({request});
}

void SweepController::resume() {
  if (canResume() && model_ == session_->session()) run(sweep_);
}

void SweepController::run(api::Sweep begun) {
  running_ = true;
  rowsBefore_ = begun.rows.size();
  seconds_ = 0;
  since_.start();
  const quint64 generation = ++generation_;
  const api::SweepCallback onRow = [this, generation](const api::Sweep& sweep) {
    post(generation, [this, row = sweep.rows.back()] {
      sweep_.rows.push_back(row);
      seconds_ = static_cast<double>(since_.elapsed()) * 1e-3;
      if (!telling_.isActive()) telling_.start();
    });
  };
  stop_ = worker_->post([this, generation, begun = std::move(begun), session = model_, onRow,
                         call = session_->services().sweeps.run](std::stop_token stop) {
    post(generation,
         [this, result = guardedJob([&] { return call(*session, begun, onRow, stop); })] { finish(result); });
  });
  emit changed();
}

void SweepController::finish(const Result<api::Sweep>& result) {
  running_ = false;
  telling_.stop();
  if (result.ok())
    sweep_ = result.value();
  else if (result.error().code != ErrorCode::cancelled)
    emit failed(describeError("Could not sweep", result.error()));
  emit advanced();
}

void SweepController::stop() {
  if (running_) stop_.request_stop();
}

/// The sweep that is shown, in the place of an earlier one of the same request.
void SweepController::keep() {
  if (sweep_.rows.empty()) return;
  std::erase_if(kept_, [this](const api::Sweep& kept) { return kept.request == sweep_.request; });
  kept_.push_back(sweep_);
}

/// Another model is open.
void SweepController::forget() {
  stop_.request_stop();
  ++generation_;
  running_ = measuring_ = false;
  sweep_ = {};
  places_.clear();
  kept_.clear();
  model_ = nullptr;
  emit changed();
}

void SweepController::measureMix(const std::vector<edit::Edit>& edits) {
  if (running_ || measuring_ || !model_) return;
  measuring_ = true;
  const quint64 generation = generation_;
  worker_->post([this, generation, edits, session = model_,
                 text = sweep_.request.text](std::stop_token stop) {
    post(generation, [this, edits, result = guardedJob([&] { return session->measure(edits, text, stop); })] {
      measuring_ = false;
      if (result.ok())
        emit mixMeasured(edits, api::distance_of(result.value()));
      else
        emit failed(describeError("Could not measure the mix", result.error()));
      emit advanced();
    });
  });
  emit advanced();
}

}  // namespace orrery::ui
