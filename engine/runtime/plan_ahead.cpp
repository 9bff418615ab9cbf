#include "engine/runtime/plan_ahead.h"

#include <pthread.h>

#include "engine/runtime/job.h"

namespace orrery::runtime {

void PlanAhead::expect(const std::shared_ptr<Model>& model, const std::shared_ptr<const Version>& version,
                       int64_t replies) {
  // A few replies seldom become many from one step to the next.
  if (replies <= StepBatch::kPaddedTo / 2) return;
  if (last_.lock() != version) {
    last_ = version;
    asked_.clear();
  }
  const int64_t now = StepBatch::padded(std::max(replies, StepBatch::kPaddedTo));
  asked_.insert(compile::bucket_for(now, now, now).max_tokens);
  for (const int64_t next : {now + StepBatch::kPaddedTo, now - StepBatch::kPaddedTo}) {
    if (next <= 0 || next > kMaxOutputs) continue;
    const compile::Bucket bucket = compile::bucket_for(next, next, next);
    if (!asked_.insert(bucket.max_tokens).second) continue;
    const std::scoped_lock lock(mutex_);
    wanted_.push_back({model, version, bucket});
    wake_.notify_one();
    if (thread_.joinable()) continue;
    thread_ = std::jthread([this](const std::stop_token& stop) { loop(stop); });
    pthread_setname_np(thread_.native_handle(), "orrery-plans");
  }
}

void PlanAhead::loop(const std::stop_token& stop) {
  while (true) {
    Wanted wanted;
    {
      std::unique_lock lock(mutex_);
      if (!wake_.wait(lock, stop, [this] { return !wanted_.empty(); }) || stop.stop_requested()) return;
      wanted = std::move(wanted_.front());
      wanted_.pop_front();
    }
    compile(wanted, stop);
  }
}

/// Until nobody else has the model or the version any more.
void PlanAhead::compile(const Wanted& wanted, const std::stop_token& stop) {
  const std::shared_ptr<Model> model = wanted.model.lock();
  const std::shared_ptr<const Version> version = wanted.version.lock();
  if (!model || !version) return;
  std::stop_source enough;
  const std::stop_callback ended(stop, [&] { enough.request_stop(); });
  const auto still_wanted = [&](size_t, size_t) {
    if (model.use_count() == 1 || version.use_count() == 1) enough.request_stop();
  };
  try {
    const HeldCards held = hold(model->devices(*version).cards);
    kernels::ThreadTeam team(1);
    static_cast<void>(model->plan(*version, wanted.bucket, team, enough.get_token(), still_wanted));
  } catch (const std::exception&) {
    // As expect() says.
  }
}

}  // namespace orrery::runtime
