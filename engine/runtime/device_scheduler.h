// The one thread that runs models on a device. It owns the thread team, the arena and the step loop; whoever
// wants something run submits a job and waits for its future. Steps are token-packed: each mixes one token of
// every reply that is being written with a chunk of the prompts that are being read. Between steps it adopts
// new graph versions, looks at stop tokens, and runs small tasks.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

#include "engine/runtime/decode_job.h"
#include "engine/runtime/encode_job.h"
#include "engine/runtime/plan_ahead.h"

namespace orrery::runtime {

class DeviceScheduler {
 public:
  /// threads 0: the cores that this process may run on. On a device the team only prepares weights.
  explicit DeviceScheduler(int threads, weights::DevicePtr device = {});
  /// Jobs that are not done fail with `cancelled`.
  ~DeviceScheduler();
  DeviceScheduler(const DeviceScheduler&) = delete;
  DeviceScheduler& operator=(const DeviceScheduler&) = delete;

  int threads() const { return team_.size(); }
  const weights::DevicePtr& device() const { return device_; }
  /// Ends when the last owner drops it, at once or after the running step; what it held is kept for others
  /// that begin alike (Sequence::kept), as long as there is room.
  static std::shared_ptr<Sequence> new_sequence(const std::shared_ptr<Model>& model);

  /// `on_done` is called on the scheduler's thread and must be quick, as the callbacks of requests.
  void decode(std::shared_ptr<Model> model, std::shared_ptr<Sequence> sequence, DecodeRequest request,
              DecodeJob::OnDone on_done);
  std::future<Result<DecodeOutcome>> decode(std::shared_ptr<Model> model, std::shared_ptr<Sequence> sequence,
                                            DecodeRequest request);
  void encode(std::shared_ptr<Model> model, EncodeRequest request, EncodeJob::OnDone on_done);
  std::future<Result<size_t>> encode(std::shared_ptr<Model> model, EncodeRequest request);
  /// Takes the last tokens off a sequence that is `length` tokens long and idle; else it has gone on since,
  /// and is left as it is. Waits for the running step, if there is one.
  void take_back(const std::shared_ptr<Model>& model, const std::shared_ptr<Sequence>& sequence,
                 int64_t length, int64_t tokens);

  enum class When : uint8_t { between_steps, idle };
  /// Runs a function on the scheduler's thread with its team; a broken promise when the scheduler ends
  /// before.
  template <class Function>
  auto call(When when, Function function)
      -> std::future<std::invoke_result_t<Function, kernels::ThreadTeam&>> {
    using Value = std::invoke_result_t<Function, kernels::ThreadTeam&>;
    auto task = std::make_shared<std::packaged_task<Value(kernels::ThreadTeam&)>>(std::move(function));
    post(when, [task](kernels::ThreadTeam& team) { (*task)(team); });
    return task->get_future();
  }

  /// Returns when all is captured that steps of the model asked for so far: the next that are the same are
  /// replays.
  void finish_captures(const std::shared_ptr<Model>& model);

  size_t scratch_bytes() const { return executor_.bytes(); }
  uint64_t unsettled_steps() const { return executor_.unsettled_steps(); }

 private:
  using Task = std::function<void(kernels::ThreadTeam&)>;
  void post(When when, Task task);
  void submit(std::shared_ptr<Job> job);
  void loop(const std::stop_token& stop);
  void take_submitted();
  bool run_task();
  void end_stopped();
  std::shared_ptr<Model> next_model() const;
  void step(const std::shared_ptr<Model>& model, const std::stop_token& stop);
  Result<void> pack(const std::shared_ptr<Model>& model);
  int64_t prompt_tokens(const Model& model) const;
  void pad(Model& model);
  Result<void> run_packed(const std::shared_ptr<Model>& model, const std::stop_token& stop);
  void fail_step(const Error& error);
  struct Begun;  // the cards of a step as they were when it began
  void card_failed(const kernels::DeviceError& error, Begun& begun);

  weights::DevicePtr device_;
  kernels::ThreadTeam team_;
  Executor executor_;
  StepBatch batch_;
  int64_t replies_ = 0;  // being written, of those in batch_
  std::vector<std::shared_ptr<Job>> jobs_, packed_;
  std::shared_ptr<const Version> running_;
  uint64_t served_ = 0;

  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::deque<std::shared_ptr<Job>> submitted_;
  uint64_t jobs_so_far_ = 0;
  std::deque<Task> tasks_, idle_tasks_;
  PlanAhead ahead_;
  std::jthread thread_;  // last: ends before what it uses
};

}  // namespace orrery::runtime
