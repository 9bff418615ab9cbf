#include "ui/session/session_controller.h"

#include <QFileInfo>
#include <exception>

#include "ui/session/model_title.h"
#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

constexpr int kProgressMilliseconds = 50;
constexpr size_t kMisfitsTold = 3;

QString shownName(const api::OpenOptions& options) {
  const QString text = QString::fromStdString(options.adapter.empty() ? options.model : options.adapter);
  const QString name = QFileInfo(text).fileName();
  return name.isEmpty() ? text : name;
}

/// Third-party code below may throw; a job never does.
template <class T, class Call>
Result<T> guarded(Call&& call) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::out_of_memory, "There is not enough memory", "",
                 "close other programs or choose a smaller model"};
  } catch (const std::exception& error) {
    return Error{ErrorCode::internal, error.what(), "", "this is a fault of the program; please report it"};
  }
}

/// Each edit that does not fit, with its reason, one a line.
Result<void> refusalOf(const std::vector<edit::Misfit>& misfits, const std::vector<edit::Edit>& edits) {
  if (misfits.empty()) return {};
  std::string lines;
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

SessionController::SessionController(Services services, QObject* parent)
    : QObject(parent),
      services_(std::move(services)),
      feed_(std::make_shared<RunFeed>()),
      jobs_(std::make_unique<Worker>()),
      runs_(std::make_unique<Worker>()) {
  feedTimer_.setTimerType(Qt::PreciseTimer);
  connect(&feedTimer_, &QTimer::timeout, this, &SessionController::feed);
}

SessionController::~SessionController() {
  loadStop_.request_stop();
  runStop_.request_stop();
  runs_.reset();
  jobs_.reset();
}

void SessionController::post(std::function<void()> call) {
  QMetaObject::invokeMethod(this, std::move(call), Qt::QueuedConnection);
}

bool SessionController::idle() const {
  return !running() && !loading_ && !pollPending_ && !polled_ && jobs_->idle() && runs_->idle();
}

void SessionController::open(const api::OpenOptions& options, const QString& name) {
  load(options, openCall(options), false, name);
}

SessionController::OpenCall SessionController::openCall(const api::OpenOptions& options) const {
  return [open = services_.open, options](const ProgressCallback& progress, std::stop_token stop) {
    return open(options, progress, std::move(stop));
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
    QElapsedTimer clock;
    clock.start();
    auto last = std::make_shared<qint64>(-kProgressMilliseconds);
    const ProgressCallback progress = [=, this](std::string_view stage, uint64_t done, uint64_t total) {
      if (clock.elapsed() - *last < kProgressMilliseconds) return;
      *last = clock.elapsed();
      const LoadProgress value{QString::fromUtf8(stage.data(), static_cast<qsizetype>(stage.size())), done,
                               total, static_cast<double>(*last) * 1e-3};
      post([this, generation, value] {
        if (generation == loadGeneration_ && loading_) emit loadProgress(value);
      });
    };
    auto result = guarded<SessionPtr>([&] { return call(progress, stop); });
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
  std::swap(session_, session);
  // The weights of the old session are unmapped on the thread that may still use them, not on the window's.
  if (session) runs_->post([old = std::move(session)](std::stop_token) {});
  title_ = !session_ || !chosenName_.isEmpty() ? chosenName_ : modelTitle(*session_);
  ++sessionGeneration_;
  redoDepth_ = 0;
  profiles_[0] = profiles_[1] = nullptr;
  vitals_ = {};
  moved_ = std::exchange(moving_, false);
  recipe_ = session_ ? session_->recipe() : std::vector<edit::Edit>();
  undoable_ = session_ && !session_->edits().empty();
  if (!moved_) savedRecipe_ = recipe_;  // it was opened with them
  emit opened();
  moved_ = false;
  takeGraph();
}

void SessionController::scanDevices() {
  if (!services_.listDevices) return;
  jobs_->post([this](std::stop_token) {
    auto found = guarded<Devices>([&] { return Result<Devices>(services_.listDevices()); });
    Devices devices = found.ok() ? std::move(found).value() : Devices{};  // who waits for them hears of none
    post([this, devices = std::move(devices)] { emit devicesScanned(devices); });
  });
}

void SessionController::pollDevice() {
  if (!session_ || devicePending_ || session_->options().device == "cpu") return;
  devicePending_ = true;
  jobs_->post([this, session = session_, generation = sessionGeneration_](std::stop_token) {
    const api::DeviceVitals vitals = session->vitals();
    post([this, generation, vitals] {
      devicePending_ = false;
      if (generation == sessionGeneration_) vitals_.device = vitals;
    });
  });
}

void SessionController::scanLibrary(const std::vector<std::string>& folders) {
  jobs_->post([this, folders](std::stop_token) {
    auto found = guarded<Library>([&] { return Result<Library>(services_.listModels(folders)); });
    Library models = found.ok() ? std::move(found).value() : Library{};
    post([this, models = std::move(models)] { emit libraryScanned(models); });
  });
}

void SessionController::apply(const edit::Edit& edit) {
  const QString title = QString("Could not %1").arg(QString::fromStdString(edit.to_string()));
  editJob(title, EditKind::applied, [edit](api::Session& session) { return session.apply(edit); });
}

void SessionController::replay(const std::vector<edit::Edit>& edits, const QString& name) {
  if (recipe_.empty()) savedRecipe_ = edits;
  const std::string done =
      (format::counted(static_cast<qint64>(edits.size()), "edit") + " of " + name).toStdString();
  editJob("Could not make the edits of " + name, EditKind::applied,
          [=, misfits = services_.recipes.misfits](api::Session& session) -> Result<api::EditRecord> {
            if (misfits) ORRERY_TRY(refusalOf(misfits(*session.model_graph(), edits), edits));
            ORRERY_ASSIGN(const std::vector<api::EditRecord> records, session.replay(edits));
            return api::EditRecord{done, {}, records.empty() || records.back().kv_kept};
          });
}

void SessionController::undo() {
  editJob("Could not undo", EditKind::undone, [](api::Session& session) { return session.undo(); });
}

void SessionController::redo() {
  editJob("Could not redo", EditKind::redone, [](api::Session& session) { return session.redo(); });
}

void SessionController::restore(const QString& scopes) {
  editJob("Could not restore " + scopes, EditKind::restored,
          [scopes = scopes.toStdString()](api::Session& session) { return session.restore(scopes); });
}

void SessionController::editJob(const QString& title, EditKind kind, EditCall call) {
  if (!session_) return;
  jobs_->post([this, title, kind, call = std::move(call), session = session_,
               generation = sessionGeneration_](std::stop_token) {
    auto result = guarded<Edited>([&]() -> Result<Edited> {
      ORRERY_ASSIGN(api::EditRecord record, call(*session));
      return Edited{std::move(record), session->recipe(), !session->edits().empty()};
    });
    const UiError failure = result.ok() ? UiError() : describeError(title, result.error());
    post([this, kind, generation, failure, result = std::move(result)] {
      if (generation == sessionGeneration_) finishEdit(kind, result, failure);
    });
  });
}

void SessionController::finishEdit(EditKind kind, const Result<Edited>& result, const UiError& failure) {
  if (!result.ok()) {
    if (result.error().code == ErrorCode::not_found &&
        (kind == EditKind::undone || kind == EditKind::redone)) {
      if (kind == EditKind::redone) redoDepth_ = 0;
      return;  // nothing to undo or redo
    }
    emit editFailed(failure);
    return;
  }
  recipe_ = result->recipe;
  undoable_ = result->undoable;
  switch (kind) {
    case EditKind::applied:
    case EditKind::restored:
      redoDepth_ = 0;
      break;
    case EditKind::undone:
      ++redoDepth_;
      break;
    case EditKind::redone:
      redoDepth_ = std::max(0, redoDepth_ - 1);
      break;
  }
  profiles_[0] = profiles_[1] = nullptr;  // before `edited`: who hears of it reads nothing of before
  emit edited(result->record, kind);
  takeGraph();
}

void SessionController::takeGraph() {
  profiles_[0] = profiles_[1] = nullptr;
  polled_.reset();
  emit graphChanged();
  emit profileChanged(api::Phase::prefill);
  emit profileChanged(api::Phase::decode);
  poll();
}

void SessionController::setFusion(bool enabled) {
  if (!session_) return;
  jobs_->post([this, enabled, session = session_, generation = sessionGeneration_](std::stop_token) {
    auto result = guarded<bool>([&]() -> Result<bool> {
      ORRERY_TRY(session->set_fusion(enabled));
      return true;
    });
    post([this, generation, result = std::move(result)] {
      if (generation != sessionGeneration_) return;
      if (!result.ok()) return emit editFailed(describeError("Could not change the fusion", result.error()));
      takeGraph();
    });
  });
}

void SessionController::setProfiling(bool enabled) {
  if (session_) session_->set_profiling(enabled);
}

void SessionController::requestPlan(api::Phase phase) {
  if (!session_) return;
  jobs_->post([this, phase, session = session_, generation = sessionGeneration_](std::stop_token) {
    auto result = guarded<api::PlanReport>([&] { return session->plan(phase); });
    post([this, phase, generation, result = std::move(result)] {
      if (generation != sessionGeneration_) return;
      if (result.ok()) {
        emit planReady(phase, std::make_shared<const api::PlanReport>(*result));
      } else {
        emit planFailed(describeError("Could not compile the graph", result.error()));
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
  const api::DeviceVitals device = vitals_.device;
  vitals_ = polled.vitals;
  vitals_.device = device;
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
