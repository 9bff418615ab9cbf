// Reads and writes texts that nobody sees, and tells how long that took: what benches are made of.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string_view>
#include <vector>

#include "engine/api/types.h"
#include "engine/generate/generator.h"
#include "engine/runtime/device_scheduler.h"

namespace orrery::api {

double median(std::vector<double> values);  // of none 0
/// Whether the sizes are some that can be run.
Result<void> check_bench(const BenchOptions& options);

/// Runs the parts of a bench; each repeat with fresh sequences, which leave nothing behind.
class BenchRun {
 public:
  using OnRead = std::function<void(int64_t read, int64_t to_read)>;
  using Sequences = std::vector<std::shared_ptr<runtime::Sequence>>;

  /// What is handed in stays longer.
  BenchRun(const generate::Engine& engine, int64_t vocabulary, const BenchOptions& options,
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

  Result<double> prefill();
  Result<double> decode();
  Result<double> encode();

  Sequences fresh();
  /// What a token takes after so many: the texts are read on to there, from where they are, and go on by a
  /// token that is given and those that they write. `on_read`: how many tokens of those that are to be read
  /// are.
  Result<BenchResult::Depth> reach(const Sequences& sequences, int64_t depth, const OnRead& on_read);

 private:
  static constexpr int kMostWarmUps = 8;

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
  Result<void> tell(std::string_view stage, int repeat) const;
  std::vector<int32_t> random_tokens(int64_t count);
  /// Adds `read` tokens to every sequence and writes `write` tokens; all of them at once. The seconds it
  /// took. What was written last, and no step has read, is dropped, so that a depth is what was asked for.
  Result<double> extend(const Sequences& sequences, int64_t read, int64_t write,
                        const std::function<void(int64_t tokens)>& on_read = {});
  static Result<void> drop(const Result<double>& result);

  generate::Engine engine_;
  int64_t vocabulary_;
  const BenchOptions& options_;
  const ProgressCallback& progress_;
  std::stop_token stop_;
  uint64_t state_ = 42;
};

}  // namespace orrery::api
