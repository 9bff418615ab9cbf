#include "engine/runtime/device_scheduler.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <limits>
#include <shared_mutex>

#include "engine/runtime/admission.h"
#include "engine/runtime/host_steps.h"

namespace orrery::runtime {
namespace {

/// A callback, and the future of what it will be called with.
template <class Value>
auto promised() {
  auto promise = std::make_shared<std::promise<Result<Value>>>();
  auto future = promise->get_future();
  return std::pair([promise](Result<Value> value) { promise->set_value(std::move(value)); },
                   std::move(future));
}

}  // namespace

struct DeviceScheduler::Begun {
  /// In the order of their ids, so that nobody waits in a circle.
  explicit Begun(ModelDevices devices) {
    std::ranges::sort(devices.cards, {}, [](const weights::DevicePtr& card) { return card->id(); });
    for (const weights::DevicePtr& card : devices.cards) {
      held.emplace_back(in_use(card->id()));
      cards.emplace_back(card, card->epoch());
    }
  }
  std::vector<std::shared_lock<std::shared_mutex>> held;       // nobody starts them anew meanwhile
  std::vector<std::pair<weights::DevicePtr, uint64_t>> cards;  // with their epochs
};

DeviceScheduler::DeviceScheduler(int threads, weights::DevicePtr device)
    : device_(std::move(device)),
      team_(threads > 0 ? threads : kernels::available_cores()),
      executor_(team_),
      thread_([this](const std::stop_token& stop) { loop(stop); }) {
  pthread_setname_np(thread_.native_handle(), "orrery-device");
}

DeviceScheduler::~DeviceScheduler() {
  thread_.request_stop();
  thread_.join();
  take_submitted();
  for (const auto& job : jobs_) {
    job->fail(cancelled_error());
    job->settle();
  }
}

std::shared_ptr<Sequence> DeviceScheduler::new_sequence(const std::shared_ptr<Model>& model) {
  std::shared_ptr<Sequence> sequence(new Sequence, [model](Sequence* ended) {
    {
      const std::scoped_lock lock(model->kv_mutex);
      model->end(*ended);
    }
    delete ended;
  });
  const std::scoped_lock lock(model->kv_mutex);
  model->begin(*sequence);
  return sequence;
}

void DeviceScheduler::decode(std::shared_ptr<Model> model, std::shared_ptr<Sequence> sequence,
                             DecodeRequest request, DecodeJob::OnDone on_done) {
  submit(std::make_shared<DecodeJob>(std::move(model), std::move(sequence), std::move(request),
                                     std::move(on_done)));
}

std::future<Result<DecodeOutcome>> DeviceScheduler::decode(std::shared_ptr<Model> model,
                                                           std::shared_ptr<Sequence> sequence,
                                                           DecodeRequest request) {
  auto [on_done, future] = promised<DecodeOutcome>();
  decode(std::move(model), std::move(sequence), std::move(request), std::move(on_done));
  return std::move(future);
}

void DeviceScheduler::encode(std::shared_ptr<Model> model, EncodeRequest request, EncodeJob::OnDone on_done) {
  submit(std::make_shared<EncodeJob>(std::move(model), std::move(request), std::move(on_done)));
}

std::future<Result<size_t>> DeviceScheduler::encode(std::shared_ptr<Model> model, EncodeRequest request) {
  auto [on_done, future] = promised<size_t>();
  encode(std::move(model), std::move(request), std::move(on_done));
  return std::move(future);
}

void DeviceScheduler::take_back(const std::shared_ptr<Model>& model,
                                const std::shared_ptr<Sequence>& sequence, int64_t length, int64_t tokens) {
  call(When::between_steps, [&](kernels::ThreadTeam&) {
    const std::scoped_lock lock(model->kv_mutex);
    if (sequence->job || sequence->length != length) return;
    sequence->tokens.resize(static_cast<size_t>(std::max<int64_t>(length - tokens, 0)));
    sequence->length = static_cast<int64_t>(sequence->tokens.size());
    if (model->kv()) model->kv()->truncate(sequence->kv, sequence->length);
  }).wait();
}

void DeviceScheduler::submit(std::shared_ptr<Job> job) {
  const std::scoped_lock lock(mutex_);
  job->number = ++jobs_so_far_;
  submitted_.push_back(std::move(job));
  wake_.notify_one();
}

void DeviceScheduler::post(When when, Task task) {
  const std::scoped_lock lock(mutex_);
  (when == When::idle ? idle_tasks_ : tasks_).push_back(std::move(task));
  wake_.notify_one();
}

void DeviceScheduler::take_submitted() {
  const std::scoped_lock lock(mutex_);
  jobs_.insert(jobs_.end(), submitted_.begin(), submitted_.end());
  submitted_.clear();
}

/// One task; idle ones only when there is nothing to run.
bool DeviceScheduler::run_task() {
  Task task;
  {
    const std::scoped_lock lock(mutex_);
    const bool idle = jobs_.empty() && submitted_.empty();
    std::deque<Task>& queue = !tasks_.empty() || !idle ? tasks_ : idle_tasks_;
    if (queue.empty()) return false;
    task = std::move(queue.front());
    queue.pop_front();
  }
  task(team_);
  return true;
}

void DeviceScheduler::end_stopped() {
  for (const auto& job : jobs_)
    if (!job->finished() && job->stop_requested()) job->cancel();
  std::erase_if(jobs_, [](const auto& job) {
    if (job->finished()) job->settle();
    return job->finished();
  });
}

/// The model that waited longest.
std::shared_ptr<Model> DeviceScheduler::next_model() const {
  const auto next = std::min_element(jobs_.begin(), jobs_.end(), [](const auto& a, const auto& b) {
    return a->model()->last_served < b->model()->last_served;
  });
  return (*next)->model();
}

void DeviceScheduler::loop(const std::stop_token& stop) {
  if (!device_) team_.pin();
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(mutex_);
      if (jobs_.empty())
        wake_.wait(lock, stop,
                   [this] { return !submitted_.empty() || !tasks_.empty() || !idle_tasks_.empty(); });
    }
    if (stop.stop_requested()) return;
    take_submitted();
    while (run_task()) {
    }
    take_submitted();
    end_stopped();
    if (!jobs_.empty()) step(next_model(), stop);
    end_stopped();
  }
}

/// Packs and runs one step. Whatever goes wrong ends only the jobs that were packed (or all of the model's,
/// when it could not even be packed).
void DeviceScheduler::step(const std::shared_ptr<Model>& model, const std::stop_token& stop) {
  model->last_served = ++served_;
  running_ = model->version();
  Begun begun(model->devices(*running_));
  packed_.clear();
  try {
    Result<void> result = pack(model);
    if (result.ok() && !batch_.empty()) result = run_packed(model, stop);
    if (!result.ok()) fail_step(result.error());
  } catch (const kernels::DeviceError& error) {
    card_failed(error, begun);
  } catch (const std::bad_alloc&) {
    fail_step({ErrorCode::out_of_memory, "There was not enough memory for a step", "",
               "use a smaller --context or --batch-tokens, or close other models"});
  } catch (const std::exception& exception) {
    fail_step({ErrorCode::internal, fmt::format("A step failed: {}", exception.what()), "", "try again"});
  }
  packed_.clear();
  running_ = nullptr;  // an old version ends with its last step, and its plans' weights with it
}

/// A lost card takes every sequence on it along; it is made anew, and the weights go up again with the next
/// plan. That waits for the steps of others who share it, one of whom may come first. Sequences on other
/// cards go on.
void DeviceScheduler::card_failed(const kernels::DeviceError& error, Begun& begun) {
  fail_step(weights::describe(error));
  begun.held.clear();
  if (error.kind() != kernels::DeviceError::Kind::lost) return;
  for (const auto& [card, epoch] : begun.cards) {
    if (error.device() && *error.device() != card->id()) continue;
    for (const auto& job : jobs_)
      if (!job->finished() && job->model()->adopted_devices().use(card)) job->fail(weights::describe(error));
    try {
      const std::unique_lock alone(in_use(card->id()));
      const std::scoped_lock stream(card->stream_mutex());
      if (card->epoch() == epoch) card->renew();
    } catch (const kernels::DeviceError&) {
      // It stays lost: the next step tells so again.
    }
  }
}

void DeviceScheduler::fail_step(const Error& error) {
  for (const auto& job : packed_)
    if (!job->finished()) job->fail(error);
}

Result<void> DeviceScheduler::pack(const std::shared_ptr<Model>& model) {
  batch_.clear();
  replies_ = 0;
  std::vector<std::shared_ptr<Job>> candidates;
  for (const auto& job : jobs_)
    if (job->model() == model) candidates.push_back(job);
  packed_ = candidates;  // who pays when the version cannot be adopted
  ORRERY_TRY(model->adopt(running_));
  packed_.clear();
  StepRoom room;
  room.tokens = model->options().batch_tokens;
  const std::scoped_lock lock(model->kv_mutex);
  if (model->kv()) Admission(*model, candidates).run();
  std::stable_partition(candidates.begin(), candidates.end(),
                        [](const auto& job) { return job->is_decode(); });
  for (const auto& job : candidates) {
    if (job->finished() || !Admission::admitted(*job)) continue;
    const bool writes = job->is_decode();
    if (!writes) room.tokens = std::min(room.tokens, prompt_tokens(*model));
    if (!job->join(batch_, room)) continue;
    packed_.push_back(job);
    if (writes) ++replies_;
  }
  // Who was served goes behind who was not, so that no reply starves when a step has no room for all.
  if (packed_.size() < candidates.size())
    std::stable_partition(jobs_.begin(), jobs_.end(), [this](const auto& job) {
      return !job->is_decode() || std::find(packed_.begin(), packed_.end(), job) == packed_.end();
    });
  return {};
}

/// Tokens that a step may still bring of prompts. Replies of other models on this device wait for it as those
/// in it do.
int64_t DeviceScheduler::prompt_tokens(const Model& model) const {
  if (replies_ > 0 && model.budget.wants_usual()) return 0;
  double usual = replies_ > 0 ? model.budget.usual_ms() : std::numeric_limits<double>::max();
  for (const auto& job : jobs_)
    if (job->model().get() != &model && job->is_decode() && Admission::admitted(*job))
      usual = std::min(usual, job->model()->budget.usual_ms());
  if (usual == std::numeric_limits<double>::max()) return model.options().batch_tokens;
  const int64_t brought = batch_.tokens() - replies_;
  return std::max<int64_t>(model.budget.prompt_tokens(usual) - brought, 0);
}

Result<void> DeviceScheduler::run_packed(const std::shared_ptr<Model>& model, const std::stop_token& stop) {
  const int64_t start = monotonic_ns();
  ORRERY_ASSIGN(const auto plan, model->plan(*running_, batch_.bucket(), team_, stop));
  std::span<const kernels::PagedKv> states;
  if (model->kv()) states = model->kv()->states();
  const bool own =
      std::ranges::all_of(plan->cards, [&](const compile::CardUse& use) { return use.card == device_; });
  Executor& executor = own ? executor_ : model->executor_on(model->adopted_devices().cards, team_);
  StepTrace& trace = model->profiler.trace();
  const int64_t found = monotonic_ns();
  trace.begin_step();
  // A plan that was there is found in far less time than compiling it took.
  if (static_cast<double>(found - start) >= plan->compile_milliseconds * 1e6)
    trace.add_host("compile", start, found);
  ORRERY_TRY(executor.run(*plan, batch_, states, &model->profiler));
  trace.end_step(batch_.phase(), batch_.tokens(), batch_.sequences());
  const int64_t end = monotonic_ns();
  model->budget.record(replies_, batch_.tokens() - replies_, static_cast<double>(end - found) * 1e-6);
  const StepResult result{*plan, batch_, executor, static_cast<double>(end - start) * 1e-6};
  for (const auto& job : packed_) {
    if (job->finished()) continue;
    try {
      job->complete(result);
    } catch (const std::exception& exception) {
      if (!job->finished())
        job->fail({ErrorCode::internal, fmt::format("Taking a step's results failed: {}", exception.what()),
                   "", "try again"});
    }
  }
  return {};
}

}  // namespace orrery::runtime
