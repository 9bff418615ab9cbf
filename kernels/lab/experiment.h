// A problem by name with its inputs, whatever the op: which rows take it, whether they are right, and, only
// where they are, how long they take.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "kernels/device_module.h"
#include "kernels/lab/op_case.h"
#include "kernels/lab/timing.h"

namespace orrery::kernels::lab {

/// What became of one row on one problem.
struct Record {
  std::string op, problem, row;
  std::string refusal;  // why the row does not take the problem; empty: it does
  Arithmetic arithmetic = Arithmetic::f32;
  Work work;
  std::optional<Agreement> agreement = {};  // once it has run
  std::optional<Times> times = {};          // of a row that is right, no other
  double share_of_limit = 0;                // of what the machine reaches at most; 0: not known

  double gbytes_per_second() const { return times ? work.bytes / times->median * 1e-3 : 0; }
  double gflops() const { return times ? work.flops / times->median * 1e-3 : 0; }
};

/// What became of it, for a line of a table: "24.1 us (23.8 to 25.0)  ...", "refused: .." or "WRONG by ..".
std::string outcome_of(const Record& record);

/// A row as far as it is known without running it.
struct Version {
  std::string row, refusal;
};

class Experiment {
 public:
  explicit Experiment(std::string name) : name_(std::move(name)) {}
  virtual ~Experiment() = default;
  Experiment(const Experiment&) = delete;
  Experiment& operator=(const Experiment&) = delete;

  const std::string& name() const { return name_; }
  virtual std::string_view op() const = 0;
  virtual Work work() const = 0;
  /// The rows of a kind of device, fastest first.
  virtual std::vector<Version> versions(DeviceKind device) const = 0;
  /// Runs the row with the index of its version in the place, compares what it wrote with the oracle, and
  /// times it if that agrees, samples are wanted and no stop is asked for. A device throws DeviceError.
  virtual Record measure(size_t version, Place& place, const Timing& timing) = 0;

 private:
  std::string name_;
};

inline DeviceKind kind_of(const Place& place) {
  return place.device() != nullptr ? DeviceKind::cuda : DeviceKind::cpu;
}

/// Compares what the call wrote and, if it agrees with what is expected, times it: one call that ran, so that
/// no time is of a row that was not looked at.
template <class Case>
void verify_and_time(const Case& c, const Row<typename Case::Op>& row, const std::vector<Expected>& expected,
                     Place& place, const Timing& timing, Record& record);

/// The experiment of a case, on `rows`; those of the place's device where none are given.
template <class Case>
class CaseExperiment final : public Experiment {
 public:
  using Op = typename Case::Op;

  CaseExperiment(std::string name, Case c, std::span<const Row<Op>> rows = {})
      : Experiment(std::move(name)), case_(std::move(c)), rows_(rows), oracle_(case_) {}

  std::string_view op() const override { return Op::kName; }
  Work work() const override { return case_.work(); }
  std::vector<Version> versions(DeviceKind device) const override {
    std::vector<Version> versions;
    for (const Row<Op>& row : rows_on(device))
      versions.push_back({std::string(row.name), refusal_of(row, case_.problem)});
    return versions;
  }
  Record measure(size_t version, Place& place, const Timing& timing) override {
    const Row<Op>& row = rows_on(kind_of(place))[version];
    Record record{.op = std::string(Op::kName),
                  .problem = name(),
                  .row = std::string(row.name),
                  .refusal = refusal_of(row, case_.problem),
                  .arithmetic = row.arithmetic,
                  .work = case_.work()};
    if (record.refusal.empty() || timing.refused_too)
      verify_and_time(case_, row, oracle_.of(row), place, timing, record);
    return record;
  }

 private:
  std::span<const Row<Op>> rows_on(DeviceKind device) const {
    return rows_.empty() ? rows_of<Op>(device) : rows_;
  }

  Case case_;
  std::span<const Row<Op>> rows_;
  Oracle<Case> oracle_;
};

template <class Case>
void verify_and_time(const Case& c, const Row<typename Case::Op>& row, const std::vector<Expected>& expected,
                     Place& place, const Timing& timing, Record& record) {
  std::unique_lock<FairMutex> stream;
  if (place.device() != nullptr) stream = std::unique_lock(place.device()->stream_mutex());
  struct Cleared {
    Place& place;
    ~Cleared() {
      try {
        place.clear();
      } catch (const DeviceError&) {  // what was lost is gone; the first error is on its way
      }
    }
  } const cleared{place};
  const size_t before = place.bytes_put();
  auto call = c.place(row, place);
  const size_t bytes = place.bytes_put() - before;
  std::byte* const workspace = put_workspace(row, c.problem, place);
  row.run(call.args, place.launch(workspace));
  place.wait();
  record.agreement = compare(call.read(place), expected);
  if (!record.agreement->ok || timing.samples == 0 || timing.stop.stop_requested()) return;

  bool memory = timing.caches == Caches::memory;
  if constexpr (requires { c.is_cold(); })
    if (timing.caches == Caches::model) memory = c.is_cold();
  std::vector<typename Case::Op::Args> calls{call.args};
  const size_t most_copies = place.device() != nullptr ? 64 : 4096;  // of a device, the calls of one graph
  const size_t beyond = bytes_beyond_caches(place.device());
  for (size_t put = bytes; memory && put < beyond && calls.size() < most_copies;) {
    if (timing.stop.stop_requested()) return;
    const size_t at = place.bytes_put();
    if constexpr (requires { c.cool(call.args, row, place, 1); }) {
      calls.push_back(call.args);
      c.cool(calls.back(), row, place, calls.size() - 1);
    } else {
      calls.push_back(c.place(row, place).args);
    }
    put += place.bytes_put() - at;
  }
  const auto run = [&](size_t i) { row.run(calls[i % calls.size()], place.launch(workspace)); };
  record.times = place.device() != nullptr ? time_calls(*place.device(), run, timing, calls.size())
                                           : time_calls(run, timing, place.team().size() == 1);
  record.times->memory = memory;
  if (timing.stop.stop_requested()) record.times.reset();  // of too few samples
}

}  // namespace orrery::kernels::lab
