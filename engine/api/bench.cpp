#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>

#include "engine/api/guard.h"
#include "engine/api/session_impl.h"

namespace orrery::api {
namespace {

using Clock = std::chrono::steady_clock;
using Sequences = std::vector<std::shared_ptr<runtime::Sequence>>;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double deviation(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  double mean = 0, squares = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

/// Runs the parts of a bench; each repeat with fresh sequences, which leave nothing behind.
class Bench {
 public:
  static constexpr int kMostWarmUps = 8;

  Bench(const generate::Engine& engine, int64_t vocabulary, const BenchOptions& options,
        const ProgressCallback& progress, std::stop_token stop)
      : engine_(engine),
        vocabulary_(vocabulary),
        options_(options),
        progress_(progress),
        stop_(std::move(stop)) {}

  /// Repeats `once`, which returns the seconds of what is timed, when it is warm.
  template <class Once>
  Result<std::vector<double>> repeat(std::string_view stage, Once&& once) {
    ORRERY_TRY(warm_up(stage, once));
    std::vector<double> seconds;
    for (int i = 1; i <= options_.repeats; ++i) {
      ORRERY_TRY(tell(stage, i));
      ORRERY_ASSIGN(const double time, once());
      seconds.push_back(time);
    }
    return seconds;
  }

  Result<double> prefill() {
    Sequences sequences = fresh();
    if (options_.depth > 0) ORRERY_TRY(drop(extend(sequences, options_.depth, 1)));
    return extend(sequences, options_.prompt, 1);
  }

  Result<double> decode() {
    Sequences sequences = fresh();
    ORRERY_TRY(drop(extend(sequences, std::max<int64_t>(options_.depth, 1), 1)));
    return extend(sequences, 0, options_.gen);
  }

  /// One text after another place: where it stands, it goes on by a token that is given and those that it
  /// writes.
  Result<std::vector<BenchResult::Depth>> depths() {
    std::vector<BenchResult::Depth> reached;
    const Sequences sequences = fresh();
    for (const int64_t depth : options_.depths) {
      ORRERY_TRY(tell(fmt::format("Reading {} tokens", depth), 0));
      const auto held = static_cast<int64_t>(sequences.front()->tokens.size());
      ORRERY_TRY(drop(extend(sequences, std::max<int64_t>(depth - held, 1), 1)));
      const auto there = static_cast<int64_t>(sequences.front()->tokens.size());
      std::vector<double> ms;
      for (int i = 1; i <= options_.repeats; ++i) {
        ORRERY_TRY(tell(fmt::format("Writing tokens after {}", there), i));
        ORRERY_ASSIGN(const double seconds, extend(sequences, 1, options_.gen));
        ms.push_back(seconds * 1e3 / static_cast<double>(options_.gen));
      }
      const auto [least, most] = std::minmax_element(ms.begin(), ms.end());
      reached.push_back({there, median(ms), *least, *most, engine_.model->kv_bytes()});
    }
    return reached;
  }

  Result<double> encode() {
    runtime::EncodeRequest request;
    for (int64_t i = 0; i < options_.batch; ++i) request.texts.push_back(random_tokens(options_.tokens));
    request.on_result = [](size_t, std::span<const float>, double) { return true; };
    request.stop = stop_;
    const auto start = Clock::now();
    const auto done = engine_.scheduler.encode(engine_.model, std::move(request)).get();
    if (!done.ok()) return done.error();
    return seconds_since(start);
  }

 private:
  /// The first run compiles plans and takes memory; on a card more follow, until all steps of one are
  /// replays.
  template <class Once>
  Result<void> warm_up(std::string_view stage, Once&& once) {
    bool settled = false;
    for (int i = 0; i < kMostWarmUps && !settled; ++i) {
      ORRERY_TRY(tell(stage, 0));
      const uint64_t before = unsettled_steps();
      ORRERY_TRY(drop(once()));
      engine_.scheduler.finish_captures(engine_.model);
      settled = unsettled_steps() == before;
    }
    return {};
  }

  uint64_t unsettled_steps() const {
    return engine_.scheduler.unsettled_steps() + engine_.model->unsettled_steps();
  }

  /// Repeat 0 is warming up.
  Result<void> tell(std::string_view stage, int repeat) const {
    if (stop_.stop_requested()) return cancelled_error();
    if (progress_)
      progress_(stage, static_cast<uint64_t>(repeat), static_cast<uint64_t>(options_.repeats + 1));
    return {};
  }

  Sequences fresh() {
    Sequences sequences;
    for (int64_t i = 0; i < options_.batch; ++i) {
      sequences.push_back(runtime::DeviceScheduler::new_sequence(engine_.model));
      sequences.back()->kept = false;
    }
    return sequences;
  }

  std::vector<int32_t> random_tokens(int64_t count) {
    std::vector<int32_t> tokens;
    for (int64_t i = 0; i < count; ++i) {
      state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
      tokens.push_back(
          static_cast<int32_t>((state_ >> 33) % static_cast<uint64_t>(std::max<int64_t>(vocabulary_, 1))));
    }
    return tokens;
  }

  /// Adds `read` tokens to every sequence and writes `write` tokens; all of them at once. The seconds it
  /// took. What was written last, and no step has read, is dropped, so that a depth is what was asked for.
  Result<double> extend(const Sequences& sequences, int64_t read, int64_t write) {
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
      requests.push_back(std::move(request));
    }
    // Nothing runs before all are there, so that the steps of every repeat are the same.
    std::promise<void> all;
    engine_.scheduler.call(runtime::DeviceScheduler::When::between_steps,
                           [there = all.get_future().share()](kernels::ThreadTeam&) { there.wait(); });
    std::vector<std::future<Result<runtime::DecodeOutcome>>> futures;
    for (size_t i = 0; i < sequences.size(); ++i)
      futures.push_back(engine_.scheduler.decode(engine_.model, sequences[i], std::move(requests[i])));
    const auto start = Clock::now();
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

  static Result<void> drop(const Result<double>& result) {
    if (!result.ok()) return result.error();
    return {};
  }

  generate::Engine engine_;
  int64_t vocabulary_;
  const BenchOptions& options_;
  const ProgressCallback& progress_;
  std::stop_token stop_;
  uint64_t state_ = 42;
};

Rate rate_of(int64_t tokens, const std::vector<double>& seconds) {
  std::vector<double> rates;
  for (const double time : seconds) rates.push_back(static_cast<double>(tokens) / time);
  const auto [min, max] = std::minmax_element(rates.begin(), rates.end());
  return {tokens, median(rates), deviation(rates), *min, *max};
}

Result<void> check(const BenchOptions& options) {
  const bool legal = options.prompt >= 0 && options.gen >= 0 && options.depth >= 0 && options.batch >= 1 &&
                     options.batch <= 4096 && options.tokens >= 1 && options.repeats >= 1 &&
                     options.repeats <= 10000;
  if (!options.depths.empty() &&
      (options.gen < 1 || options.depths.front() < 1 ||
       std::ranges::adjacent_find(options.depths, std::greater_equal<>()) != options.depths.end()))
    return Error{ErrorCode::invalid_argument, "Depths rise from 1 on, and tokens are written at each",
                 "bench", "sort them, and let gen be 1 or more"};
  if (legal) return {};
  return Error{ErrorCode::invalid_argument, "The sizes of the bench are out of range", "bench",
               "prompt, gen and depth are 0 or more; batch, tokens and repeats 1 or more"};
}

Result<void> check_room(int64_t needed, int64_t context, int64_t own) {
  if (needed <= context) return {};
  if (needed > own)
    return Error{
        ErrorCode::invalid_argument,
        fmt::format("The bench needs a context of {} tokens, the model was made for {}", needed, own),
        "bench", "choose a smaller depth, or fewer tokens to read or to write"};
  return Error{ErrorCode::invalid_argument,
               fmt::format("The bench needs a context of {} tokens, {} were chosen", needed, context),
               "--context", fmt::format("choose {} or more, or leave it out", needed)};
}

}  // namespace

/// The prefill writes a token after the prompt, the decode begins after one.
int64_t bench_context(const BenchOptions& options) {
  if (!options.depths.empty()) return options.depths.back() + (options.repeats + 1) * (options.gen + 1);
  const int64_t prefill = options.prompt > 0 ? options.depth + options.prompt + 1 : 0;
  const int64_t decode = options.gen > 0 ? std::max<int64_t>(options.depth, 1) + options.gen : 0;
  return std::max(prefill, decode);
}

Result<BenchResult> SessionImpl::bench(const BenchOptions& options, const ProgressCallback& progress,
                                       std::stop_token stop) {
  return guarded([&]() -> Result<BenchResult> {
    ORRERY_TRY(check(options));
    if (parts_.info.task == Task::tensors) return no_text();
    Bench bench(engine(), parts_.info.vocabulary, options, progress, std::move(stop));
    BenchResult result;
    result.device = parts_.options.device;
    result.threads = parts_.scheduler->threads();
    if (parts_.info.task != Task::generate) {
      if (parts_.text_limit > 0 && options.tokens > parts_.text_limit)
        return Error{ErrorCode::invalid_argument,
                     fmt::format("The model reads texts of at most {} tokens", parts_.text_limit), "--tokens",
                     "choose fewer"};
      ORRERY_ASSIGN(const auto seconds, bench.repeat("Encoding", [&] { return bench.encode(); }));
      const double time = median(seconds);
      const auto [min, max] = std::minmax_element(seconds.begin(), seconds.end());
      result.encode = BenchResult::Encode{options.batch, options.tokens,
                                          time * 1e3,    static_cast<double>(options.batch) / time,
                                          *min * 1e3,    *max * 1e3};
      return result;
    }
    ORRERY_TRY(check_room(bench_context(options), parts_.model->options().context,
                          own_context(parts_.info.context_length)));
    if (!options.depths.empty()) {
      ORRERY_ASSIGN(result.depths, bench.depths());
      return result;
    }
    if (options.prompt > 0) {
      ORRERY_ASSIGN(const auto seconds, bench.repeat("Reading a prompt", [&] { return bench.prefill(); }));
      result.prefill = rate_of(options.prompt * options.batch, seconds);
    }
    if (options.gen > 0) {
      ORRERY_ASSIGN(const auto seconds, bench.repeat("Writing tokens", [&] { return bench.decode(); }));
      result.decode = rate_of(options.gen * options.batch, seconds);
    }
    return result;
  });
}

}  // namespace orrery::api
