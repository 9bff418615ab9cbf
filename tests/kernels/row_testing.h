// Shared by the tests of the op rows: every row of an op that this machine can run, run with a team and a
// workspace of its own in guarded memory, against the oracle (kernels/lab). Rows of a device are tried
// instead of the CPU's where one is named (device_under_test.h).
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "kernels/device_module.h"
#include "kernels/lab/inputs.h"
#include "kernels/lab/op_case.h"
#include "kernels/row.h"
#include "tests/kernels/guarded.h"

namespace orrery::kernels::testing {

using lab::random_floats;

/// Where the row's operands lie.
template <class Op>
Guard placed(const Row<Op>& row, Guard guard) {
  if (row.device != DeviceKind::cpu) return Guard::device;
  return guard == Guard::device ? Guard::after : guard;
}

/// Operands between guards; they are looked at when the place goes. What a device's rows read is packed
/// between guards too, and then sent.
class GuardedPlace final : public lab::Place {
 public:
  GuardedPlace(ThreadTeam& team, Guard guard) : Place(team), guard_(guard) {
    if (guard == Guard::device) host_ = std::make_unique<GuardedPlace>(team, Guard::after);
  }
  using Place::get;
  void get(void* to, const void* from, size_t bytes) override {
    if (bytes == 0) return;
    if (device() != nullptr) return device()->download(to, from, bytes);
    std::memcpy(to, from, bytes);
  }
  lab::Place& host() override { return host_ ? static_cast<lab::Place&>(*host_) : *this; }
  Device* device() const override { return guard_ == Guard::device ? device_under_test() : nullptr; }
  void wait() override {
    if (guard_ == Guard::device) DeviceUnderTest::instance().wait();
  }

 protected:
  std::byte* allocate(const void* content, size_t bytes, size_t alignment) override {
    return memory_.emplace_back(bytes, guard_, alignment, content).data();
  }
  void release(std::byte*) override {}  // goes with the place

 private:
  Guard guard_;
  std::unique_ptr<GuardedPlace> host_;
  std::deque<GuardedBytes> memory_;
};

/// What the row writes of a case.
template <class Case>
std::vector<lab::Output> run(const Case& c, const Row<typename Case::Op>& row, ThreadTeam& team,
                             Guard guard) {
  SCOPED_TRACE(std::string(row.name));
  GuardedPlace place(team, placed(row, guard));
  return lab::run(c, row, place);
}
template <class Case>
std::vector<lab::Output> run(const Case& c, const Row<typename Case::Op>& row, int threads = 2,
                             Guard guard = Guard::after) {
  ThreadTeam team(threads);
  return run(c, row, team, guard);
}

/// Runs a row on operands that the test made, with a workspace of its own, and waits for it.
template <class Op>
void run_row(const Row<Op>& row, const typename Op::Problem& problem, const typename Op::Args& args,
             int threads = 2, Guard guard = Guard::after) {
  SCOPED_TRACE(std::string(row.name));
  ThreadTeam team(threads);
  GuardedPlace place(team, placed(row, guard));
  row.run(args, place.launch(lab::put_workspace(row, problem, place)));
  place.wait();
}

/// The rows under test: of the CPU's list, or of the device's for the same op.
template <class Op>
std::span<const Row<Op>> all_rows(std::span<const Row<Op>> own) {
  return device_under_test() ? rows_of<Op>(DeviceKind::cuda) : own;
}

/// But the reference, which is the last of the CPU's.
template <class Op>
std::span<const Row<Op>> fast_rows(std::span<const Row<Op>> own) {
  return device_under_test() ? all_rows(own) : own.first(own.size() - 1);
}

/// The rows under test that take the problem on this machine, which may lack what some are built for.
template <class Op>
std::vector<Row<Op>> rows_taking(const typename Op::Problem& problem, std::span<const Row<Op>> own) {
  std::vector<Row<Op>> rows;
  for (const Row<Op>& row : all_rows(own))
    if (lab::refusal_of(row, problem).empty()) rows.push_back(row);
  return rows;
}

/// body(row) for each row under test that takes the problem here, but the reference.
template <class Op, class Body>
void each_fast_row(std::span<const Row<Op>> own, const typename Op::Problem& problem, Body&& body) {
  int tried = 0;
  for (const Row<Op>& row : fast_rows(own)) {
    if (!lab::refusal_of(row, problem).empty()) continue;
    SCOPED_TRACE(std::string(row.name));
    body(row);
    ++tried;
  }
  EXPECT_GT(tried, 0) << "no row but the reference takes the problem on this machine";
  EXPECT_EQ(lab::refusal_of(own.back(), problem), "");
}

inline constexpr Guard kOneGuard[] = {Guard::after};

/// All rows under test that take the case agree with the oracle, with their operands beside each of the
/// guards.
template <class Case>
void expect_rows_agree(const Case& c, std::span<const Row<typename Case::Op>> own,
                       std::span<const Guard> guards = testing::guards(), int threads = 2) {
  ThreadTeam team(threads);
  lab::Oracle<Case> oracle(c);
  each_fast_row(own, c.problem, [&](const Row<typename Case::Op>& row) {
    for (const Guard guard : guards) {
      const lab::Agreement agreement = lab::compare(run(c, row, team, guard), oracle.of(row));
      EXPECT_TRUE(agreement.ok) << row.name << ": " << agreement.where << ", off by " << agreement.max_error
                                << " where " << agreement.tolerance << " may be";
    }
  });
}

template <class Op>
const Row<Op>& reference_of(std::span<const Row<Op>> rows) {
  return rows.back();
}

/// Largest difference relative to the largest expected magnitude.
inline double relative_error(const std::vector<float>& actual, const std::vector<float>& expected) {
  return lab::compare({.name = "result", .values = actual},
                      {.output = {.name = "result", .values = expected}})
      .max_error;
}

/// Sizes around the vector widths, primes, and one that is split over threads.
inline const std::vector<int64_t> kOddSizes = {1,  2,  7,  8,   9,   15,  16,  17,  31,
                                               33, 64, 97, 127, 128, 129, 576, 1021};

}  // namespace orrery::kernels::testing
