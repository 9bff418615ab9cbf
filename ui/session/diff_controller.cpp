#include "ui/session/diff_controller.h"

#include <QFileInfo>

#include "ui/session/guarded_job.h"
#include "ui/session/original.h"

namespace orrery::ui {
namespace {

constexpr int64_t kTimedContext = 256;  // tokens: what is timed reads few

/// As the session was opened, on the CPU and without its edits.
api::OpenOptions optionsOf(const api::Session& session, const QString& path) {
  api::OpenOptions options = session.options();
  options.model = path.toStdString();
  options.recipe.clear();
  options.adapter.clear();
  options.device = "cpu";
  options.context = kTimedContext;
  return options;
}

QString sentenceOf(const Error& error) { return describeError({}, error).body(); }

}  // namespace

DiffController::DiffController(SessionController* session, QObject* parent)
    : QObject(parent), session_(session), worker_(std::make_unique<Worker>()) {
  connect(session_, &SessionController::opened, this, [this] {
    if (session_->session() != model_) forget();
  });
}

DiffController::~DiffController() {
  stop_.request_stop();
  worker_.reset();
}

QString DiffController::refusal() const {
  if (!session_->session()) return "Open a model to compare it with another";
  if (!session_->services().diffs.graphs) return "This program does not compare models";
  return {};
}

void DiffController::post(quint64 generation, std::function<void()> call) {
  postAnswer(this, generation_, generation, std::move(call));
}

void DiffController::start(const QString& path, bool timed) {
  if (running_ || !refusal().isEmpty()) return;
  running_ = true;
  found_ = nullptr;
  model_ = session_->session();
  const quint64 generation = ++generation_;
  const ProgressCallback progress = [this, generation](std::string_view words, uint64_t done,
                                                       uint64_t total) {
    post(generation, [this, text = QString::fromUtf8(words.data(), static_cast<qsizetype>(words.size())),
                      share = total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 0.0] {
      emit stageChanged(text, share);
    });
  };
  stop_ = worker_->post([this, generation, progress, request = Request{model_, path, timed},
                         services = session_->services()](std::stop_token stop) {
    post(generation, [this, result = guardedJob([&] { return find(request, services, progress, stop); })] {
      finish(result);
    });
  });
  emit changed();
}

/// Graphs are compared whatever can be told besides.
Result<DifferencesPtr> DiffController::find(const Request& request, const Services& services,
                                            const ProgressCallback& progress, const std::stop_token& stop) {
  auto found = std::make_shared<Differences>();
  found->original = request.path.isEmpty();
  found->other = found->original ? QStringLiteral("as opened") : QFileInfo(request.path).fileName();
  progress(request.path.isEmpty() ? "Going back to the model as it was opened" : "Opening the other model", 0,
           0);
  SessionPtr a, b = request.session;
  if (request.path.isEmpty()) {
    ORRERY_ASSIGN(a, originalOf(*request.session, stop));
  } else {
    ORRERY_ASSIGN(a, services.open(optionsOf(*request.session, request.path), progress, stop));
  }
  if (auto fork = b->fork({.context = kTimedContext}, {{}, stop}); fork.ok()) b = std::move(fork).value();
  found->a = a->model_graph();
  found->b = b->model_graph();
  found->graph = services.diffs.graphs(*found->a, *found->b);
  if (stop.stop_requested()) return cancelled_error();
  auto weights = services.diffs.weights(*a, *b, progress, stop);
  if (!weights.ok() && weights.error().code == ErrorCode::cancelled) return weights.error();
  weights.ok() ? void(found->weights = std::move(weights).value())
               : void(found->unmeasured = sentenceOf(weights.error()));
  if (!request.timed) return DifferencesPtr(found);
  auto times = services.diffs.times(*a, *b, progress, stop);
  if (!times.ok() && times.error().code == ErrorCode::cancelled) return times.error();
  times.ok() ? void(found->times = std::move(times).value())
             : void(found->unmeasured = sentenceOf(times.error()));
  return DifferencesPtr(found);
}

void DiffController::finish(const Result<DifferencesPtr>& result) {
  running_ = false;
  if (result.ok())
    found_ = result.value();
  else if (result.error().code != ErrorCode::cancelled)
    emit failed(describeError("Could not compare the models", result.error()));
  emit changed();
}

void DiffController::stop() {
  if (running_) stop_.request_stop();
}

/// Another model is open.
void DiffController::forget() {
  stop_.request_stop();
  ++generation_;
  running_ = false;
  found_ = nullptr;
  model_ = nullptr;
  emit changed();
}

}  // namespace orrery::ui
