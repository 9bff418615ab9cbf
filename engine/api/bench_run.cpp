#include "engine/api/bench_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <future>

namespace orrery::api {
namespace {

using BenchClock = std::chrono::steady_clock;

double seconds_since(BenchClock::time_point start) {
  return std::chrono::duration<double>(BenchClock::now() - start).count();
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

Result<double> BenchRun::prefill() {
  const Sequences sequences = fresh();
  if (options_.depth > 0) ORRERY_TRY(drop(extend(sequences, options_.depth, 1)));
  return extend(sequences, options_.prompt, 1);
}

Result<double> BenchRun::decode() {
  const Sequences sequences = fresh();
  ORRERY_TRY(drop(extend(sequences, std::max<int64_t>(options_.depth, 1), 1)));
  return extend(sequences, 0, options_.gen);
}

Result<BenchResult::Depth> BenchRun::reach(const Sequences& sequences, int64_t depth, const OnRead& on_read) {
  const auto held = static_cast<int64_t>(sequences.front()->tokens.size());
  // The token that is written after them is the last one; of a text that goes on, one was not read yet.
  const int64_t to_read = std::max<int64_t>(depth - held - (held == 0 ? 1 : 0), 1);
  const auto tell_read = [&](int64_t read) {
    if (on_read) on_read(std::min(read, to_read), to_read);
  };
  tell_read(0);
  ORRERY_ASSIGN(const double reading, extend(sequences, to_read, 1, tell_read));
  const auto there = static_cast<int64_t>(sequences.front()->tokens.size());
  if (held == 0) ORRERY_TRY(drop(extend(sequences, 1, options_.gen)));  // the first steps make their plans
  std::vector<double> ms;
  for (int i = 1; i <= options_.repeats; ++i) {
    ORRERY_TRY(tell(fmt::format("Writing tokens after {}", there), i));
    ORRERY_ASSIGN(const double seconds, extend(sequences, 1, options_.gen));
    ms.push_back(seconds * 1e3 / static_cast<double>(options_.gen));
  }
  const auto [least, most] = std::minmax_element(ms.begin(), ms.end());
  return BenchResult::Depth{there,        median(ms),   *least, *most, engine_.model->kv_bytes(),
                            there - held, reading * 1e3};
}

Result<double> BenchRun::encode() {
  runtime::EncodeRequest request;
  for (int64_t i = 0; i < options_.batch; ++i) request.texts.push_back(random_tokens(options_.tokens));
  request.on_result = [](size_t, std::span<const float>, double) { return true; };
  request.stop = stop_;
  const auto start = BenchClock::now();
  const auto done = engine_.scheduler.encode(engine_.model, std::move(request)).get();
  if (!done.ok()) return done.error();
  return seconds_since(start);
}

Result<void> BenchRun::tell(std::string_view stage, int repeat) const {
  if (stop_.stop_requested()) return cancelled_error();
  if (progress_) progress_(stage, static_cast<uint64_t>(repeat), static_cast<uint64_t>(options_.repeats + 1));
  return {};
}

BenchRun::Sequences BenchRun::fresh() {
  Sequences sequences;
  for (int64_t i = 0; i < options_.batch; ++i) {
    sequences.push_back(runtime::DeviceScheduler::new_sequence(engine_.model));
    sequences.back()->kept = false;
  }
  return sequences;
}

std::vector<int32_t> BenchRun::random_tokens(int64_t count) {
  std::vector<int32_t> tokens;
  for (int64_t i = 0; i < count; ++i) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    tokens.push_back(
        static_cast<int32_t>((state_ >> 33) % static_cast<uint64_t>(std::max<int64_t>(vocabulary_, 1))));
  }
  return tokens;
}

Result<double> BenchRun::extend(const Sequences& sequences, int64_t read, int64_t write,
                                const std::function<void(int64_t tokens)>& on_read) {
  std::vector<runtime::DecodeRequest> requests;
  for (const auto& sequence : sequences) {
    runtime::DecodeRequest request;
    request.tokens = sequence->tokens;  // idle: nothing changes it
    if (!request.tokens.empty()) request.tokens.pop_back();
    const std::vector<int32_t> more = random_tokens(read);
    request.tokens.insert(request.tokens.end(), more.begin(), more.end());
    request.sampling.temperature = 0;
    request.on_token = [left = write](const runtime::TokenStep&) mutable { return --left > 0; };
    request.stop = stop_;
    if (on_read && sequence == sequences.front())
      request.on_prefill = [&on_read](const runtime::PrefillStep& step) { on_read(step.done); };
    requests.push_back(std::move(request));
  }
  // Nothing runs before all are there, so that the steps of every repeat are the same.
  std::promise<void> all;
  engine_.scheduler.call(runtime::DeviceScheduler::When::between_steps,
                         [there = all.get_future().share()](kernels::ThreadTeam&) { there.wait(); });
  std::vector<std::future<Result<runtime::DecodeOutcome>>> futures;
  for (size_t i = 0; i < sequences.size(); ++i)
    futures.push_back(engine_.scheduler.decode(engine_.model, sequences[i], std::move(requests[i])));
  const auto start = BenchClock::now();
  all.set_value();
  std::vector<Result<runtime::DecodeOutcome>> outcomes;
  for (auto& future : futures) outcomes.push_back(future.get());
  const double seconds = seconds_since(start);
  for (const auto& outcome : outcomes) {
    if (!outcome.ok()) return outcome.error();
    if (outcome.value().end == runtime::DecodeOutcome::End::cancelled) return cancelled_error();
  }
  return seconds;
}

Result<void> BenchRun::drop(const Result<double>& result) {
  if (!result.ok()) return result.error();
  return {};
}

}  // namespace orrery::api
