// What the scheduler works on: a job joins a step with some rows, and takes their results when the step is
// done. One that works on a sequence is admitted first (admission.h).
#pragma once

#include <memory>
#include <stop_token>

#include "engine/runtime/executor.h"
#include "engine/runtime/model.h"

namespace orrery::runtime {

/// Logits are never tokens x vocabulary: a step has this many output rows at most.
inline constexpr int64_t kMaxOutputs = 128;
inline constexpr int64_t kMaxSequences = 256;

/// What is left of a step while it is packed.
struct StepRoom {
  int64_t tokens = 0, outputs = kMaxOutputs, sequences = kMaxSequences;
};

struct StepResult {
  const compile::Plan& plan;
  const StepBatch& batch;
  const Executor& executor;
  double ms = 0;  // wall time of the step
};

/// Lives on the scheduler's thread once it is submitted.
class Job {
 public:
  Job(std::shared_ptr<Model> model, std::stop_token stop)
      : model_(std::move(model)), stop_(std::move(stop)) {}
  virtual ~Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  const std::shared_ptr<Model>& model() const { return model_; }
  bool stop_requested() const { return stop_.stop_requested(); }
  bool finished() const { return finished_; }

  /// By arrival; set when it is submitted.
  uint64_t number = 0;

  // Admission, under kv_mutex. A job without a sequence needs no pages and is never asked.
  virtual Sequence* sequence() { return nullptr; }
  /// Gets its sequence ready, and shares what others have read. False when the text is refused: it failed.
  virtual bool prepare() { return true; }
  /// Takes the pages of its whole text, as it is now; before each step. An error leaves it what it has.
  virtual Result<void> take_pages() { return {}; }
  /// Gives its pages back. Once it is admitted again, its text is read again and it goes on as if nothing had
  /// been.
  virtual void give_way() {}

  /// One token is all that it would bring: served first, so that replies keep streaming beside a long prompt.
  virtual bool is_decode() const = 0;
  /// Adds rows while there is room; false when it takes no part (or finished with an error). Only if it is
  /// admitted; under kv_mutex.
  virtual bool join(StepBatch& batch, StepRoom& room) = 0;
  /// Takes the results of the step that it joined.
  virtual void complete(const StepResult& result) = 0;
  /// Ends it because its stop token asked for it: what is done so far is the result.
  virtual void cancel() = 0;
  virtual void fail(Error error) = 0;
  /// Lets go of what the finished job holds, then tells whoever waits. Once, outside of all locks.
  virtual void settle() = 0;

 protected:
  std::shared_ptr<Model> model_;
  bool finished_ = false;

 private:
  std::stop_token stop_;
};

}  // namespace orrery::runtime
