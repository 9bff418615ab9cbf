#include "ui/session/attribution_controller.h"

#include "ui/session/guarded_job.h"
#include "ui/session/model_use.h"

namespace orrery::ui {

AttributionController::AttributionController(SessionController* source, QObject* parent)
    : QObject(parent), source_(nullptr), worker_(std::make_unique<Worker>()) {
  setSource(source);
}

AttributionController::~AttributionController() {
  stop_.request_stop();
  worker_.reset();
}

void AttributionController::setSource(SessionController* source) {
  if (source == source_) return;
  if (source_) source_->disconnect(this);
  source_ = source;
  connect(source_, &SessionController::opened, this, [this] {
    if (source_->session() != model_) forget();
  });
  connect(source_, &SessionController::graphChanged, this, [this] {
    edited_ = edited_ || result_ || running_;
    emit changed();
  });
  forget();
}

bool AttributionController::offered() const { return source_->session() && source_->services().attribute; }

QString AttributionController::refusal() const {
  const SessionPtr session = source_->session();
  if (!session) return "Open a model that writes or classifies texts";
  const api::ModelInfo& info = session->info();
  if (!runs(info)) return QString::fromStdString(info.cannot_run);
  const bool labels = info.task == api::Task::classify && !info.classifies_tokens;
  if (info.task != api::Task::generate && !labels)
    return "This model gives neither a next token nor a label of a text";
  return {};
}

void AttributionController::post(quint64 generation, std::function<void()> call) {
  postAnswer(this, generation_, generation, std::move(call));
}

void AttributionController::start(const api::AttributionRequest& request) {
  if (running_ || !offered() || !refusal().isEmpty()) return;
  model_ = source_->session();
  request_ = request;
  result_.reset();
  failure_.reset();
  edited_ = false;
  running_ = true;
  stage_.clear();
  const quint64 generation = ++generation_;
  const ProgressCallback told = [this, generation](std::string_view stage, uint64_t, uint64_t) {
    post(generation, [this, words = QString::fromUtf8(stage.data(), static_cast<qsizetype>(stage.size()))] {
      stage_ = words;
      emit staged();
    });
  };
  stop_ = worker_->post([this, generation, request, told, session = model_,
                         call = source_->services().attribute](std::stop_token stop) {
    post(generation, [this, result = guardedJob([&] {
                              return call(*session, request, {told, stop});
                            })]() mutable { finish(std::move(result)); });
  });
  emit changed();
}

void AttributionController::finish(Result<api::Attribution> result) {
  running_ = false;
  if (result.ok())
    result_ = std::move(result).value();
  else if (result.error().code != ErrorCode::cancelled)
    failure_ = describeError("Could not compute what it follows from", result.error());
  emit changed();
}

void AttributionController::stop() {
  if (running_) stop_.request_stop();
}

void AttributionController::forget() {
  stop_.request_stop();
  ++generation_;
  running_ = edited_ = false;
  result_.reset();
  failure_.reset();
  model_ = nullptr;
  emit changed();
}

}  // namespace orrery::ui
