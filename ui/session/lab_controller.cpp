#include "ui/session/lab_controller.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <algorithm>

#include "ui/session/guarded_job.h"

namespace orrery::ui {
namespace {

constexpr int kTellRowsMilliseconds = 100;

std::vector<api::KeptLabRun> readHistory(const std::string& path) {
  QFile file(QString::fromStdString(path));
  if (path.empty() || !file.open(QIODevice::ReadOnly)) return {};
  return api::parse_lab_history(file.readAll().toStdString());
}

/// A line a run, added at the end: two windows may do so.
Result<void> addToHistory(const std::string& path, const std::string& lines) {
  const QString name = QString::fromStdString(path);
  QFile file(name);
  const bool there = QDir().mkpath(QFileInfo(name).path());
  if (there && file.open(QIODevice::WriteOnly | QIODevice::Append) &&
      file.write(lines.data(), static_cast<qint64>(lines.size())) == static_cast<qint64>(lines.size()) &&
      file.flush())
    return {};
  return Error{ErrorCode::io, file.errorString().toStdString(), path,
               "the run is shown, and is gone with the window"};
}

/// The rows of `run` in place of those that `before` has of the same problem.
api::LabRun merged(const api::LabRun& before, const api::LabRun& run) {
  api::LabRun whole = before;
  for (const api::LabVersion& version : run.versions) {
    const auto found = std::ranges::find(whole.versions, version.name, &api::LabVersion::name);
    if (found == whole.versions.end())
      whole.versions.push_back(version);
    else
      *found = version;
  }
  whole.others = run.others;
  whole.limits = run.limits;
  return whole;
}

bool isSameProblem(const api::LabRun& a, const api::LabRun& b) {
  return a.problem == b.problem && a.device == b.device && a.threads == b.threads;
}

}  // namespace

LabController::LabController(const Services& services, QObject* parent)
    : QObject(parent), calls_(services.lab), worker_(std::make_unique<Worker>()) {
  telling_.setSingleShot(true);
  telling_.setInterval(kTellRowsMilliseconds);
  connect(&telling_, &QTimer::timeout, this, &LabController::advanced);
}

LabController::~LabController() {
  stop_.request_stop();
  worker_.reset();
}

QString LabController::refusal() const {
  return calls_.run ? QString() : QStringLiteral("This program has no kernel lab");
}

void LabController::post(quint64 generation, std::function<void()> call) {
  postAnswer(this, generation_, generation, std::move(call));
}

void LabController::look() {
  if (looked_ || !calls_.list) return;
  looked_ = true;
  worker_->post([this, calls = calls_](std::stop_token) {
    Looked looked{calls.list(), readHistory(calls.history)};
    postAnswer(this, look_, 0, [this, looked = std::move(looked)] { takeLooked(looked); });
  });
}

void LabController::lookAgain() {
  if (!looked_) return;
  worker_->post([this, calls = calls_](std::stop_token) {
    postAnswer(this, look_, 0, [this, kernels = calls.list()] {
      kernels_ = kernels;
      emit listed();
    });
  });
}

void LabController::takeLooked(Looked looked) {
  kernels_ = std::move(looked.kernels);
  for (const api::KeptLabRun& kept : looked.history) {
    Shown& shown = shown_[kept.run.kernel];
    if (!shown.stored && !shown.runs.empty()) continue;  // run since
    shown.stored = true;
    std::erase_if(shown.runs, [&](const api::LabRun& run) {
      return run.problem != kept.run.problem || run.device == kept.run.device;
    });
    shown.runs.push_back(kept.run);
  }
  looked.history.insert(looked.history.end(), history_.begin(), history_.end());
  history_ = std::move(looked.history);
  emit listed();
}

const api::LabKernel* LabController::kernel(const std::string& name) const {
  const auto found = std::ranges::find(kernels_, name, &api::LabKernel::name);
  return found == kernels_.end() ? nullptr : &*found;
}

const std::vector<api::LabRun>& LabController::runs(const std::string& kernel) const {
  static const std::vector<api::LabRun> none;
  const auto found = shown_.find(kernel);
  return found == shown_.end() ? none : found->second.runs;
}

bool LabController::stored(const std::string& kernel) const {
  const auto found = shown_.find(kernel);
  return found != shown_.end() && found->second.stored;
}

void LabController::run() {
  LabAsk ask = ask_;
  ask.rows.clear();
  begin(ask);
}

void LabController::run(const std::vector<std::string>& rows) {
  LabAsk ask = ask_;
  ask.rows = rows;
  begin(ask);
}

void LabController::begin(const LabAsk& ask) {
  if (running_ || !refusal().isEmpty() || ask.kernel.empty() || ask.devices.empty()) return;
  running_ = true;
  begun_ = ask;
  before_.clear();
  Shown& shown = shown_[ask.kernel];
  if (!ask.rows.empty() && !shown.stored) before_ = shown.runs;
  if (before_.empty()) shown.runs.clear();
  shown.stored = false;
  device_ = ask.devices.front();
  row_.clear();
  stage_ = QStringLiteral("Beginning");
  share_ = 0;
  const quint64 generation = ++generation_;
  const auto onRow = [this, generation](const api::LabRun& run) {
    post(generation, [this, run] { take(run); });
  };
  const auto onStage = [this, generation](const std::string& device, std::string_view words, double share) {
    post(generation, [this, device, words = std::string(words), share] { tell(device, words, share); });
  };
  stop_ = worker_->post([this, generation, ask, onRow, onStage, calls = calls_](std::stop_token stop) {
    const Result<void> result = guardedJob([&] { return runAll(ask, calls, onRow, onStage, stop); });
    post(generation, [this, result] { finish(result); });
  });
  emit changed();
}

Result<void> LabController::runAll(
    const LabAsk& ask, const LabCalls& calls, const std::function<void(const api::LabRun&)>& onRow,
    const std::function<void(const std::string&, std::string_view, double)>& onStage,
    const std::stop_token& stop) {
  const auto devices = static_cast<double>(ask.devices.size());
  for (size_t i = 0; i < ask.devices.size(); ++i) {
    std::vector<std::string> rows;  // of a row's name the first part is the kind of its device
    const std::string& device = ask.devices[i];
    const std::string kind = device.substr(0, device.find(':')) + ".";
    for (const std::string& row : ask.rows)
      if (row.starts_with(kind)) rows.push_back(row);
    if (!ask.rows.empty() && rows.empty()) continue;
    const ProgressCallback progress = [&](std::string_view words, uint64_t done, uint64_t total) {
      const double part = total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 0;
      onStage(device, words, (static_cast<double>(i) + part) / devices);
    };
    const auto run =
        calls.run({ask.kernel, ask.shape, device, ask.threads, std::move(rows)}, onRow, progress, stop);
    if (!run.ok()) return run.error();
  }
  return {};
}

void LabController::take(const api::LabRun& run) {
  const auto before =
      std::ranges::find_if(before_, [&](const api::LabRun& other) { return isSameProblem(other, run); });
  const api::LabRun whole = before == before_.end() ? run : merged(*before, run);
  std::vector<api::LabRun>& runs = shown_[begun_.kernel].runs;
  // What is of another problem would be read as this one's.
  std::erase_if(runs, [&](const api::LabRun& other) { return other.problem != run.problem; });
  const auto shown = std::ranges::find(runs, run.device, &api::LabRun::device);
  if (shown == runs.end())
    runs.push_back(whole);
  else
    *shown = whole;
  if (!telling_.isActive()) telling_.start();
}

void LabController::tell(const std::string& device, const std::string& words, double share) {
  device_ = device;
  const bool isRow = words.starts_with("cpu.") || words.starts_with("cuda.");
  row_ = isRow ? words : std::string();
  stage_ = (isRow ? QStringLiteral("Timing ") : QString()) + QString::fromStdString(words);
  share_ = share;
  if (!telling_.isActive()) telling_.start();
}

void LabController::finish(const Result<void>& result) {
  running_ = false;
  telling_.stop();
  row_.clear();
  if (result.ok() && begun_.rows.empty()) keep();
  if (!result.ok() && result.error().code != ErrorCode::cancelled) {
    const ErrorCode code = result.error().code;
    if (code == ErrorCode::invalid_argument || code == ErrorCode::not_found)
      emit refused(result.error());
    else
      emit failed(describeError("Could not run the kernel", result.error()));
  }
  emit changed();
}

/// Whole runs alone: parts of them would be read as a kernel that lost rows.
void LabController::keep() {
  std::string lines;
  for (const api::LabRun& run : runs(begun_.kernel)) {
    history_.push_back({QDateTime::currentDateTimeUtc().toString(Qt::ISODate).toStdString(),
                        QCoreApplication::applicationVersion().toStdString(), run});
    lines += api::lab_history_line(history_.back());
  }
  if (calls_.history.empty()) return;
  worker_->post([this, lines, path = calls_.history](std::stop_token) {
    const Result<void> added = guardedJob([&] { return addToHistory(path, lines); });
    if (added.ok()) return;
    postAnswer(this, look_, 0, [this, error = added.error()] {
      emit failed(describeError("Could not keep the run", error));
    });
  });
}

void LabController::stop() {
  if (running_) stop_.request_stop();
}

}  // namespace orrery::ui
