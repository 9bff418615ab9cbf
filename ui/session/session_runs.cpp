// The half of SessionController that runs the model.
#include <time.h>

#include <algorithm>

#include "ui/session/session_controller.h"

#include "ui/session/guarded_job.h"

namespace orrery::ui {
namespace {

// Tokens and results reach the window at about 30 Hz where it is quick to paint. The engine's team runs on
// every core and waits for its slowest thread, so each millisecond of painting is one of the model's: where
// painting costs more than its share, the window is fed, and so painted, less often.
constexpr double kFeedMilliseconds = 33, kSlowestFeedMilliseconds = 200;
constexpr double kPaintShare = 0.02;    // of one core
constexpr int kPollMilliseconds = 250;  // numbers are read, so they change four times a second

/// CPU time that this thread has used.
double threadMilliseconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

/// With the offers that the session has for it: other memory, or the CPU where its device failed.
template <class T>
UiError failureOf(const QString& title, const Result<T>& result, const api::Session& session) {
  if (result.ok()) return {};
  const Error& error = result.error();
  UiError told = describeError(title, error);
  if (error.code == ErrorCode::out_of_memory)
    for (const api::Offer& offer : session.memory_offers()) addOffer(told, offer, offerTitle(offer));
  if (error.code == ErrorCode::device && session.options().device != "cpu")
    addOffer(told, {"device", "cpu"}, "Go on on the CPU");
  return told;
}

/// Whether it went well, without what it gave.
template <class T>
Result<void> outcomeOf(const Result<T>& result) {
  if (result.ok()) return {};
  return result.error();
}

}  // namespace

void SessionController::setState(RunState state) {
  if (state_ == state) return;
  state_ = state;
  emit stateChanged(state);
}

void SessionController::beginRun(RunState state) {
  ++runGeneration_;
  feed_ = std::make_shared<RunFeed>();
  paintedAt_ = threadMilliseconds();
  feedTimer_.start(static_cast<int>(kFeedMilliseconds));
  sincePoll_.start();
  setState(state);
}

void SessionController::endRun() {
  ++runGeneration_;
  feedTimer_.stop();
  setState(RunState::idle);
}

void SessionController::chat(const api::ChatRequest& request) {
  if (!session_ || running()) return;
  lastRead_ =
      QString::fromStdString(request.messages.empty() ? request.raw : request.messages.back().content);
  beginRun(RunState::prefill);
  emit chatStarted(request);
  emit readingStarted();
  runStop_ = runs_->post(
      [this, request, session = session_, feed = feed_, generation = runGeneration_](std::stop_token stop) {
        const api::ChatEvents events{[feed](const api::PrefillEvent& event) { feed->add(event); },
                                     [feed](const api::TokenEvent& event) { feed->add(event); }};
        auto result = guardedJob([&] { return session->chat(request, events, stop); });
        const UiError failure = failureOf("The reply stopped", result, *session);
        post([this, generation, failure, result = std::move(result)] {
          finishChat(generation, result, failure);
        });
      });
}

void SessionController::finishChat(quint64 generation, const Result<api::ChatResult>& result,
                                   const UiError& failure) {
  if (generation != runGeneration_) return;
  drain();
  endRun();
  poll();
  if (result.ok()) {
    emit replyFinished(*result);
  } else if (result.error().code == ErrorCode::cancelled) {
    api::ChatResult stopped;
    stopped.stop_reason = "cancelled";
    emit replyFinished(stopped);
  } else {
    emit replyFailed(failure);
  }
}

void SessionController::classify(const std::vector<std::string>& texts) {
  if (!session_ || running() || texts.empty()) return;
  lastRead_ = QString::fromStdString(texts.front());
  beginRun(RunState::classify);
  emit readingStarted();
  runStop_ = runs_->post(
      [this, texts, session = session_, feed = feed_, generation = runGeneration_](std::stop_token stop) {
        QElapsedTimer clock;
        clock.start();
        const api::ClassifyCallback each = [&](size_t index, const api::Classification& value) {
          feed->add(index, value);
          return !stop.stop_requested();
        };
        auto result = guardedJob([&] { return session->classify(texts, each, stop); });
        const double milliseconds = static_cast<double>(clock.nsecsElapsed()) * 1e-6;
        const UiError failure = failureOf("Could not classify", result, *session);
        post([this, generation, milliseconds, failure, result = outcomeOf(result)] {
          finishClassify(generation, milliseconds, result, failure);
        });
      });
}

void SessionController::rerank(const std::string& query, const std::vector<std::string>& passages) {
  if (!session_ || running() || passages.empty()) return;
  beginRun(RunState::classify);
  runStop_ = runs_->post(
      [this, query, passages, session = session_, generation = runGeneration_](std::stop_token stop) {
        QElapsedTimer clock;
        clock.start();
        auto result = guardedJob([&] { return session->rerank(query, passages, stop); });
        const double milliseconds = static_cast<double>(clock.nsecsElapsed()) * 1e-6;
        const UiError failure = failureOf("Could not rank the documents", result, *session);
        post([this, generation, milliseconds, failure, result = std::move(result)] {
          // What was stopped halfway ranks only some of the documents.
          const bool whole = result.ok() && state_ != RunState::stopping;
          if (generation == runGeneration_ && whole) emit reranked(*result);
          finishClassify(generation, milliseconds, outcomeOf(result), failure);
        });
      });
}

void SessionController::finishClassify(quint64 generation, double milliseconds, const Result<void>& result,
                                       const UiError& failure) {
  if (generation != runGeneration_) return;
  drain();
  const bool stopped = state_ == RunState::stopping;
  endRun();
  poll();
  if (result.ok() || result.error().code == ErrorCode::cancelled) {
    emit classifyFinished(milliseconds, stopped);
  } else {
    emit classifyFailed(failure);
  }
}

void SessionController::stop() {
  if (!running()) return;
  runStop_.request_stop();
  setState(RunState::stopping);
}

void SessionController::forgetContext() {
  if (!session_) return;
  runs_->post([this, session = session_](std::stop_token) {
    session->forget_context();
    post([this] { poll(); });
  });
}

/// The next feed comes when what was painted since the last one has earned its share of a core.
void SessionController::pace() {
  const double now = threadMilliseconds();
  const double earned = (now - paintedAt_) / kPaintShare;
  paintedAt_ = now;
  const double smooth = 0.75 * feedTimer_.interval() + 0.25 * earned;
  feedTimer_.setInterval(static_cast<int>(std::clamp(smooth, kFeedMilliseconds, kSlowestFeedMilliseconds)));
}

void SessionController::feed() {
  pace();
  drain();
  takePolled();
  if (sincePoll_.elapsed() >= kPollMilliseconds) poll();
}

void SessionController::drain() {
  RunFeed::Batch batch = feed_->take();
  if (batch.prefill) emit prefilled(*batch.prefill);
  if (!batch.tokens.empty()) {
    if (state_ == RunState::prefill) setState(RunState::decode);
    emit tokensArrived(batch.tokens);
  }
  if (!batch.classified.empty()) emit classified(batch.classified);
}

}  // namespace orrery::ui
