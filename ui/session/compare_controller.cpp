#include "ui/session/compare_controller.h"

#include "ui/session/guarded_job.h"
#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

constexpr int kCompareFeedMilliseconds = 33;

bool same(const api::OpenOptions& a, const api::OpenOptions& b) {
  return a.model == b.model && a.adapter == b.adapter && a.recipe == b.recipe && a.device == b.device &&
         a.threads == b.threads && a.context == b.context && a.kv_type == b.kv_type && a.fusion == b.fusion &&
         a.disabled_passes == b.disabled_passes && a.precision == b.precision &&
         a.batch_tokens == b.batch_tokens;
}

QString wordsOf(const api::Session& session) {
  const api::OpenOptions& options = session.options();
  const api::MachineLimits& limits = session.limits();
  QStringList words{options.device == "cpu" ? format::counted(limits.threads, "thread")
                                            : QString::fromStdString(limits.cpu)};
  words += options.fusion ? "fused" : "not fused";
  if (options.precision != api::OpenOptions().precision) words += QString::fromStdString(options.precision);
  return words.join(", ");
}

}  // namespace

CompareController::CompareController(Services services, QObject* parent)
    : QObject(parent),
      services_(std::move(services)),
      sides_(std::make_shared<Sides>()),
      worker_(std::make_unique<Worker>()),
      watch_(std::make_unique<Worker>()) {
  feedTimer_.setInterval(kCompareFeedMilliseconds);
  connect(&feedTimer_, &QTimer::timeout, this, &CompareController::drain);
}

CompareController::~CompareController() {
  stop_.request_stop();
  worker_.reset();
  watch_.reset();
}

void CompareController::post(std::function<void()> call) {
  QMetaObject::invokeMethod(this, std::move(call), Qt::QueuedConnection);
}

void CompareController::run(const Setup& setup) {
  if (running_ || !services_.compare) return;
  running_ = true;
  looks_ = setup.sides;
  const quint64 generation = ++generation_;
  feeds_ = {std::make_shared<RunFeed>(), std::make_shared<RunFeed>()};
  feedTimer_.start();
  emit started();
  stop_ = worker_->post([this, generation, setup, sides = sides_, feeds = feeds_](std::stop_token stop) {
    post([this, generation, result = guardedJob([&] {
                              return work(generation, setup, *sides, feeds, stop);
                            })] { finish(generation, result); });
  });
}

Result<void> CompareController::openSide(quint64 generation, api::Side side, const api::OpenOptions& options,
                                         Open& open, std::stop_token stop) {
  if (!open.session || !same(open.options, options)) {
    open = {};  // its memory first
    const QString name = side == api::Side::a ? "Opening A" : "Opening B";
    post([this, generation, name] {
      if (generation == generation_) emit stageChanged(name);
    });
    ORRERY_ASSIGN(open.session, services_.open(
                                    options, [](std::string_view, uint64_t, uint64_t) {}, stop));
    open.options = options;
  }
  post([this, generation, side, words = wordsOf(*open.session), session = std::weak_ptr(open.session),
        device = options.device != "cpu"] {
    if (device) onDevice_ = session;
    if (generation == generation_) emit sideOpened(side, words);
  });
  return {};
}

Result<api::CompareResult> CompareController::work(quint64 generation, const Setup& setup, Sides& sides,
                                                   const Feeds& feeds, std::stop_token stop) {
  ORRERY_TRY(openSide(generation, api::Side::a, setup.a, sides.a, stop));
  ORRERY_TRY(openSide(generation, api::Side::b, setup.b, sides.b, stop));
  const auto feedOf = [&feeds](api::Side side) -> RunFeed& { return *feeds[side == api::Side::b]; };
  const api::CompareEvents events{
      [&](api::Side side, const api::PrefillEvent& event) { feedOf(side).add(event); },
      [&](api::Side side, const api::TokenEvent& event) { feedOf(side).add(event); }};
  const ProgressCallback progress = [this, generation](std::string_view words, uint64_t, uint64_t) {
    const QString text = QString::fromUtf8(words.data(), static_cast<qsizetype>(words.size()));
    post([this, generation, text] {
      if (generation == generation_) emit stageChanged(text);
    });
  };
  return services_.compare(*sides.a.session, *sides.b.session, setup.request, events, progress, stop);
}

void CompareController::drain() {
  for (const api::Side side : {api::Side::a, api::Side::b}) {
    const RunFeed::Batch batch = feeds_[side == api::Side::b]->take();
    if (batch.prefill) emit prefilled(side, *batch.prefill);
    if (!batch.tokens.empty()) emit tokensArrived(side, batch.tokens);
  }
}

void CompareController::finish(quint64 generation, const Result<api::CompareResult>& result) {
  if (generation != generation_) return;
  drain();
  feedTimer_.stop();
  running_ = false;
  if (result.ok()) {
    emit finished(std::make_shared<const api::CompareResult>(result.value()));
  } else if (result.error().code != ErrorCode::cancelled) {
    emit failed(describeError("Could not compare", result.error()));
  }
  emit ended();
}

void CompareController::stop() {
  if (running_) stop_.request_stop();
}

void CompareController::pollDevice() {
  const SessionPtr session = onDevice();
  if (!session || vitalsPending_) return;
  vitalsPending_ = true;
  watch_->post([this, session](std::stop_token) {
    post([this, vitals = session->vitals()] {
      vitalsPending_ = false;
      vitals_ = vitals;
    });
  });
}

void CompareController::release() {
  stop();
  worker_->post([sides = sides_](std::stop_token) { *sides = {}; });
}

}  // namespace orrery::ui
