#include "ui/session/reply_pair.h"

#include <future>

#include "ui/session/guarded_job.h"

namespace orrery::ui {
namespace {

constexpr int kReplyFeedMilliseconds = 33;
constexpr int64_t kReplyTokens = 96;
constexpr uint64_t kReplySeed = 7;

api::ChatRequest requestOf(const std::string& prompt) {
  api::ChatRequest request;
  request.messages = {{"user", prompt}};
  request.max_tokens = kReplyTokens;
  request.sampling.temperature = 0;
  request.sampling.seed = kReplySeed;
  return request;
}

/// A reply in a conversation of its own. Waits.
Result<api::ChatResult> written(api::Session& session, const api::ChatRequest& request, RunFeed& feed,
                                const std::stop_token& stop) {
  const auto done = std::make_shared<std::promise<Result<api::ChatResult>>>();  // until it is set whole
  api::ReplyEvents events;
  events.on_prefill = [](const api::PrefillEvent&) {};
  events.on_token = [&feed](const api::TokenEvent& token) { feed.add(token); };
  events.on_done = [done](Result<api::ChatResult> result) { done->set_value(std::move(result)); };
  std::stop_source source = session.start(session.new_conversation(), request, events);
  const std::stop_callback stops(stop, [&source] { source.request_stop(); });
  return done->get_future().get();
}

}  // namespace

ReplyPair::ReplyPair(QObject* parent)
    : QObject(parent), original_(std::make_shared<KeptOriginal>()), worker_(std::make_unique<Worker>()) {
  feedTimer_.setInterval(kReplyFeedMilliseconds);
  connect(&feedTimer_, &QTimer::timeout, this, &ReplyPair::drain);
}

ReplyPair::~ReplyPair() {
  stop_.request_stop();
  worker_.reset();
}

void ReplyPair::post(quint64 job, std::function<void()> take) {
  postAnswer(this, job_, job, std::move(take));
}

void ReplyPair::run(const SessionPtr& session, const QString& prompt) {
  if (running_ || !session) return;
  running_ = true;
  feeds_ = {std::make_shared<RunFeed>(), std::make_shared<RunFeed>()};
  feedTimer_.start();
  emit began();
  stop_ = worker_->post([this, job = ++job_, session, request = requestOf(prompt.toStdString()),
                         kept = original_, feeds = feeds_](std::stop_token stop) {
    const auto both = [&]() -> Result<void> {
      ORRERY_ASSIGN(const SessionPtr original, kept->of(session, stop));
      for (const Side side : {Side::before, Side::after}) {
        if (stop.stop_requested()) return cancelled_error();
        const size_t at = side == Side::after;
        ORRERY_ASSIGN(const api::ChatResult reply,
                      written(at == 0 ? *original : *session, request, *feeds[at], stop));
        post(job, [this, side, reply] {
          drain();
          emit finished(side, reply);
        });
      }
      return {};
    };
    post(job, [this, result = guardedJob([&] { return both(); })] { finish(result); });
  });
}

void ReplyPair::stop() { stop_.request_stop(); }

void ReplyPair::forget() {
  stop_.request_stop();
  worker_->post([kept = original_](std::stop_token) { *kept = {}; });
}

void ReplyPair::drain() {
  for (const Side side : {Side::before, Side::after}) {
    const RunFeed::Batch batch = feeds_[side == Side::after]->take();
    if (!batch.tokens.empty()) emit tokensArrived(side, batch.tokens);
  }
}

void ReplyPair::finish(const Result<void>& result) {
  drain();
  feedTimer_.stop();
  running_ = false;
  if (!result.ok() && result.error().code != ErrorCode::cancelled)
    emit failed(describeError("Could not write both replies", result.error()));
  emit ended();
}

}  // namespace orrery::ui
