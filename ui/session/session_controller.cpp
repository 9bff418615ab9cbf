#include "ui/session/session_controller.h"

#include <QFileInfo>

#include "ui/session/guarded_job.h"
#include "ui/session/model_title.h"

namespace orrery::ui {
namespace {

constexpr int kProgressMilliseconds = 50;

QString shownName(const api::OpenOptions& options) {
  const QString text = QString::fromStdString(options.adapter.empty() ? options.model : options.adapter);
  const QString name = QFileInfo(text).fileName();
  return name.isEmpty() ? text : name;
}

}  // namespace

SessionController::SessionController(Services services, QObject* parent)
    : QObject(parent),
      services_(std::move(services)),
      mailbox_(std::make_shared<Mailbox>()),
      feed_(std::make_shared<RunFeed>()),
      jobs_(std::make_unique<Worker>()),
      runs_(std::make_unique<Worker>()) {
  mailbox_->owner = this;
  feedTimer_.setTimerType(Qt::PreciseTimer);
  connect(&feedTimer_, &QTimer::timeout, this, &SessionController::feed);
}

SessionController::~SessionController() {
  cancelChanges();
  loadStop_.request_stop();
  runStop_.request_stop();
  runs_.reset();
  jobs_.reset();
  const std::scoped_lock lock(mailbox_->mutex);
  mailbox_->owner = nullptr;
}

void SessionController::Mailbox::post(std::function<void()> call) {
  const std::scoped_lock lock(mutex);
  if (owner) QMetaObject::invokeMethod(owner, std::move(call), Qt::QueuedConnection);
}

void SessionController::post(std::function<void()> call) { mailbox_->post(std::move(call)); }

bool SessionController::idle() const {
  return !running() && !loading_ && !changing() && !pollPending_ && !polled_ && jobs_->idle() &&
         runs_->idle();
}

void SessionController::open(const api::OpenOptions& options, const QString& name) {
  load(options, openCall(options), false, name);
}

SessionController::OpenCall SessionController::openCall(const api::OpenOptions& options) const {
  if (options.model.empty() && services_.graphs.make)  // a graph of one's own in no file, whose edits follow
    return [make = services_.graphs.make, options](const ProgressCallback&, std::stop_token) {
      return make(options);
    };
  return [open = services_.open, options](const ProgressCallback& progress, std::stop_token stop) {
    return open(options, progress, std::move(stop));
  };
}

/// Words on their way from a working thread to the window, a few a second.
ProgressCallback SessionController::paced(std::function<void(const LoadProgress&)> tell, qint64 from) {
  struct Clock {
    QElapsedTimer since;
    qint64 next = 0;
  };
  const auto clock = std::make_shared<Clock>();
  clock->since.start();
  clock->next = from;
  return [mailbox = mailbox_, clock, tell = std::move(tell)](std::string_view stage, uint64_t done,
                                                             uint64_t total) {
    const qint64 now = clock->since.elapsed();
    if (now < clock->next) return;
    clock->next = now + kProgressMilliseconds;
    const LoadProgress value{QString::fromUtf8(stage.data(), static_cast<qsizetype>(stage.size())), done,
                             total, static_cast<double>(now) * 1e-3};
    mailbox->post([tell, value] { tell(value); });
  };
}

void SessionController::load(const api::OpenOptions& options, OpenCall call, bool moving,
                             const QString& name) {
  loadStop_.request_stop();
  const quint64 generation = ++loadGeneration_;
  loading_ = true;
  moving_ = moving;
  loadingOptions_ = options;
  chosenName_ = name;
  loadingName_ = name.isEmpty() ? shownName(options) : name;
  emit loadStarted(loadingName_);
  loadStop_ = jobs_->post([this, generation, call = std::move(call)](std::stop_token stop) {
    const ProgressCallback progress = paced([this, generation](const LoadProgress& value) {
      if (generation == loadGeneration_ && loading_) emit loadProgress(value);
    });
    auto result = guardedJob([&] { return call(progress, stop); });
    post([this, generation, result = std::move(result)] { finishLoad(generation, result); });
  });
}

void SessionController::cancelLoad() {
  if (!loading_) return;
  loadStop_.request_stop();
  ++loadGeneration_;  // whatever it still returns is not wanted
  loading_ = false;
  emit loadEnded();
}

void SessionController::finishLoad(quint64 generation, Result<SessionPtr> result) {
  if (generation != loadGeneration_) {
    if (result.ok()) jobs_->post([unused = std::move(result).value()](std::stop_token) {});
    return;
  }
  loading_ = false;
  if (result.ok()) {
    adopt(std::move(result).value());
  } else if (result.error().code != ErrorCode::cancelled) {
    emit loadFailed(describeError("Could not open " + loadingName_, result.error(), {"Open another"}));
  }
  emit loadEnded();
}

void SessionController::adopt(SessionPtr session) {
  if (running()) {
    runStop_.request_stop();
    drain();
    endRun();
    api::ChatResult stopped;
    stopped.stop_reason = "cancelled";
    emit replyFinished(stopped);
  }
  cancelChanges();
  forgetChanges();
  std::swap(session_, session);
  // The weights of the old session are unmapped on the thread that may still use them, not on the window's.
  if (session) runs_->post([old = std::move(session)](std::stop_token) {});
  title_ = !session_ || !chosenName_.isEmpty() ? chosenName_ : modelTitle(*session_);
  ++sessionGeneration_;
  profiles_[0] = profiles_[1] = nullptr;
  vitals_ = {};
  moved_ = std::exchange(moving_, false);
  shown_ = session_ ? session_->state() : nullptr;
  if (!moved_) savedRecipe_ = recipe();  // it was opened with them
  emit opened();
  moved_ = false;
  takeGraph();
}

void SessionController::scanDevices() {
  if (!services_.listDevices) return;
  jobs_->post([this](std::stop_token) {
    auto found = guardedJob([&] { return Result<Devices>(services_.listDevices()); });
    Devices devices = found.ok() ? std::move(found).value() : Devices{};  // who waits for them hears of none
    post([this, devices = std::move(devices)] { emit devicesScanned(devices); });
  });
}

void SessionController::pollDevice() {
  if (!session_ || devicePending_) return;
  devicePending_ = true;
  jobs_->post([this, session = session_, generation = sessionGeneration_](std::stop_token) {
    post([this, generation, cards = session->vitals()] {
      devicePending_ = false;
      if (generation == sessionGeneration_) vitals_.cards = cards;
    });
  });
}

void SessionController::scanLibrary(const std::vector<std::string>& folders) {
  jobs_->post([this, folders](std::stop_token) {
    auto found = guardedJob([&] { return Result<Library>(services_.listModels(folders)); });
    Library models = found.ok() ? std::move(found).value() : Library{};
    post([this, models = std::move(models)] { emit libraryScanned(models); });
  });
}

void SessionController::takeGraph() {
  profiles_[0] = profiles_[1] = nullptr;
  polled_.reset();
  emit graphChanged();
  emit profileChanged(api::Phase::prefill);
  emit profileChanged(api::Phase::decode);
  poll();
}

void SessionController::setProfiling(bool enabled) {
  if (session_) session_->set_profiling(enabled);
}

void SessionController::requestPlan(api::Phase phase) {
  if (!session_) return;
  jobs_->post([this, phase, session = session_, generation = sessionGeneration_](std::stop_token) {
    auto result = guardedJob([&] { return session->plan(phase); });
    // Made here, as thousands of steps are copied and freed for milliseconds.
    PlanPtr plan = result.ok() ? std::make_shared<const api::PlanReport>(std::move(*result)) : nullptr;
    post([this, phase, generation, plan = std::move(plan), result = std::move(result)] {
      if (generation != sessionGeneration_) return;
      if (plan) {
        emit planReady(phase, plan);
      } else if (session_->info().task != api::Task::tensors) {  // whose runs report it
        emit planFailed(describeError("Could not compile the graph", result.error()));
      }
    });
  });
}

void SessionController::showProfile(ProfilePtr profile) {
  profiles_[0] = std::move(profile);
  emit profileChanged(api::Phase::prefill);
}

void SessionController::measure(const edit::Edit& edit) {
  if (!session_) return;
  jobs_->post([this, edit, session = session_, generation = sessionGeneration_](std::stop_token stop) {
    auto result = guardedJob([&] { return session->measure({edit}, {}, std::move(stop)); });
    post([this, edit, generation, result = std::move(result)] {
      if (generation != sessionGeneration_) return;
      if (result.ok()) {
        emit measured(edit, *result);
      } else {
        emit editFailed(describeError(
            QString("Could not measure %1").arg(QString::fromStdString(edit.to_string())), result.error()));
      }
    });
  });
}

void SessionController::poll() {
  if (!session_) return;
  if (pollPending_) {  // it may have read what was before
    pollAgain_ = true;
    return;
  }
  pollPending_ = true;
  sincePoll_.start();
  jobs_->post([this, session = session_, generation = sessionGeneration_](std::stop_token) {
    Polled polled{{session->profile(api::Phase::prefill), session->profile(api::Phase::decode)},
                  {session->memory_use(), session->context_used(), 0, {}}};
    post([this, generation, polled] {
      pollPending_ = false;
      const bool again = std::exchange(pollAgain_, false);
      if (generation == sessionGeneration_) {
        polled_ = polled;
        if (!running()) takePolled();  // else with the next feed, so that all is painted at once
      }
      if (again) poll();
    });
  });
}

void SessionController::takePolled() {
  if (!polled_) return;
  const Polled polled = *std::exchange(polled_, std::nullopt);
  std::vector<api::DeviceVitals> cards = std::move(vitals_.cards);
  vitals_ = polled.vitals;
  vitals_.cards = std::move(cards);
  if (session_->info().task == api::Task::tensors) return emit vitalsChanged(vitals_);
  const bool changed[] = {polled.profiles[0] != profiles_[0], polled.profiles[1] != profiles_[1]};
  for (const int phase : {0, 1}) {
    profiles_[phase] = polled.profiles[phase];
    vitals_.overheadShare = std::max(vitals_.overheadShare, profiles_[phase]->overhead_share);
  }
  if (changed[0]) emit profileChanged(api::Phase::prefill);
  if (changed[1]) emit profileChanged(api::Phase::decode);
  emit vitalsChanged(vitals_);
}

}  // namespace orrery::ui
