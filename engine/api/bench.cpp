#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "engine/api/bench_run.h"
#include "engine/api/guard.h"
#include "engine/api/session_impl.h"

namespace orrery::api {
namespace {

double deviation(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  double mean = 0, squares = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

Rate rate_of(int64_t tokens, const std::vector<double>& seconds) {
  std::vector<double> rates;
  for (const double time : seconds) rates.push_back(static_cast<double>(tokens) / time);
  const auto [min, max] = std::minmax_element(rates.begin(), rates.end());
  return {tokens, median(rates), deviation(rates), *min, *max};
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

Result<void> check_bench(const BenchOptions& options) {
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
    ORRERY_TRY(check_bench(options));
    if (parts_.info.task == Task::tensors) return no_text();
    BenchRun bench(engine(), parts_.info.vocabulary, options, progress, std::move(stop));
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
      const BenchRun::Sequences texts = bench.fresh();
      for (const int64_t depth : options.depths) {
        if (progress) progress(fmt::format("Reading {} tokens", depth), 0, 1);
        ORRERY_ASSIGN(const BenchResult::Depth there, bench.reach(texts, depth, {}));
        result.depths.push_back(there);
      }
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
