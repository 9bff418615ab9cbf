#include "ui/session/own_op_controller.h"

#include <QFileInfo>

#include "ui/session/guarded_job.h"

namespace orrery::ui {
namespace {

QString attemptOf(OwnOpStep step) {
  switch (step) {
    case OwnOpStep::compile:
      return QStringLiteral("Could not compile the op");
    case OwnOpStep::verify:
      return QStringLiteral("Could not try the op");
    case OwnOpStep::add:
      return QStringLiteral("Could not add the op");
  }
  return {};
}

}  // namespace

OwnOpController::OwnOpController(const Services& services, QObject* parent)
    : QObject(parent), calls_(services.ownOps), worker_(std::make_unique<Worker>()) {}

OwnOpController::~OwnOpController() {
  stop_.request_stop();
  worker_.reset();
}

QString OwnOpController::refusal() const {
  return calls_.compile ? QString() : QStringLiteral("This program takes no ops of one's own");
}

void OwnOpController::post(quint64 generation, std::function<void()> call) {
  postAnswer(this, generation_, generation, std::move(call));
}

void OwnOpController::look() {
  if (looked_ || !calls_.join) return;
  looked_ = true;
  worker_->post([this, calls = calls_](std::stop_token stop) {
    const std::vector<Error> failures = calls.join({{}, stop});
    postAnswer(this, look_, 0, [this, failures, entries = calls.list()] {
      takeList(entries);
      for (const Error& error : failures)
        emit failed(describeError("An op that was added is not there", error));
    });
  });
}

void OwnOpController::takeList(std::vector<api::OwnOpEntry> entries) {
  const bool ops = !entries.empty() || !entries_.empty();
  entries_ = std::move(entries);
  emit listed();
  if (ops) emit opsChanged();
}

void OwnOpController::begin(OwnOpStep step, const SourceFiles& files) {
  if (!refusal().isEmpty()) return;
  stop_.request_stop();
  running_ = true;
  stage_ = step == OwnOpStep::compile ? QStringLiteral("Compiling") : QStringLiteral("Waiting");
  const quint64 generation = ++generation_;
  stop_ = worker_->post([this, generation, step, files, calls = calls_](std::stop_token stop) {
    const Watch watch{[this, generation](std::string_view words, uint64_t, uint64_t) {
                        post(generation, [this, words = QString::fromUtf8(words.data(), words.size())] {
                          stage_ = words;
                          emit changed();
                        });
                      },
                      stop};
    const auto& call = step == OwnOpStep::compile  ? calls.compile
                       : step == OwnOpStep::verify ? calls.check
                                                   : calls.add;
    const Result<api::OwnOpReport> result = guardedJob([&] { return call(files, watch); });
    const bool added = step == OwnOpStep::add && result.ok() && result->passed;
    const auto entries = added ? calls.list() : std::vector<api::OwnOpEntry>();
    // Added is added, also where something newer was asked meanwhile.
    if (added) postAnswer(this, look_, 0, [this, entries] { takeList(entries); });
    post(generation, [this, step, files, result] { finish(step, files, result); });
  });
  emit changed();
}

void OwnOpController::finish(OwnOpStep step, const SourceFiles& files,
                             const Result<api::OwnOpReport>& result) {
  running_ = false;
  stage_.clear();
  if (result.ok())
    emit reported(step, files, *result);
  else if (result.error().code != ErrorCode::cancelled)
    emit failed(describeError(attemptOf(step), result.error()));
  emit changed();
}

void OwnOpController::stop() {
  if (running_) stop_.request_stop();
}

void OwnOpController::remove(const QString& name) {
  if (!calls_.remove) return;
  worker_->post([this, name, calls = calls_](std::stop_token) {
    const Result<void> done = guardedJob([&] { return calls.remove(name.toStdString()); });
    postAnswer(this, look_, 0, [this, name, done, entries = calls.list()] {
      takeList(entries);
      if (done.ok())
        emit removed(name);
      else
        emit failed(describeError("Could not remove " + name, done.error()));
    });
  });
}

void OwnOpController::open(const QStringList& paths) {
  if (!calls_.read || paths.isEmpty()) return;
  worker_->post([this, paths, calls = calls_](std::stop_token) {
    const auto files = guardedJob([&]() -> Result<SourceFiles> {
      SourceFiles read;
      for (const QString& path : paths) {
        ORRERY_ASSIGN(custom::SourceFile file, calls.read(path.toStdString()));
        read.push_back(std::move(file));
      }
      return read;
    });
    postAnswer(this, look_, 0, [this, files, folder = QFileInfo(paths.front()).path()] {
      if (files.ok())
        emit opened(*files, folder);
      else
        emit failed(describeError("Could not open the files", files.error()));
    });
  });
}

}  // namespace orrery::ui
