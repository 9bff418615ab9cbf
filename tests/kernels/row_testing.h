// Shared by the tests of the op rows: every row of an op that this machine can run, run with a team and a
// workspace of its own, against the reference on seeded random data. Rows of a device are tried instead of
// the CPU's where one is named (device_under_test.h).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "kernels/device_module.h"
#include "kernels/row.h"
#include "tests/kernels/guarded.h"

namespace orrery::kernels::testing {

inline std::vector<float> random_floats(size_t count, uint32_t seed, float scale = 1.0F) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal(0.0F, scale);
  std::vector<float> values(count);
  for (float& value : values) value = normal(engine);
  return values;
}

/// Where the row's operands lie.
template <class Op>
Guard placed(const Row<Op>& row, Guard guard) {
  if (row.device != DeviceKind::cpu) return Guard::device;
  return guard == Guard::device ? Guard::after : guard;
}

/// Runs the row, with a workspace of its own, and waits for it.
template <class Op>
void run_row(const Row<Op>& row, const typename Op::Problem& problem, const typename Op::Args& args,
             ThreadTeam& team, Guard guard) {
  SCOPED_TRACE(std::string(row.name));
  guard = placed(row, guard);
  const int threads = guard == Guard::device ? 0 : team.size();
  const Workspace workspace(row.workspace != nullptr ? row.workspace(problem, threads) : 0, guard);
  if (guard != Guard::device) return row.run(args, {.team = &team, .workspace = workspace.data()});
  row.run(args, {.workspace = workspace.data(), .stream = device_under_test()->stream()});
  DeviceUnderTest::instance().wait();
}

template <class Op>
void run_row(const Row<Op>& row, const typename Op::Problem& problem, const typename Op::Args& args,
             int threads = 2, Guard guard = Guard::after) {
  ThreadTeam team(threads);
  run_row(row, problem, args, team, guard);
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

/// body(row) for each row under test that takes the problem here, but the reference.
template <class Op, class Body>
void each_fast_row(std::span<const Row<Op>> own, const typename Op::Problem& problem, Body&& body) {
  int tried = 0;
  for (const Row<Op>& row : fast_rows(own)) {
    if (!row.supports(problem).empty()) continue;
    SCOPED_TRACE(std::string(row.name));
    body(row);
    ++tried;
  }
  EXPECT_GT(tried, 0) << "no row but the reference takes the problem on this machine";
  EXPECT_EQ(own.back().supports(problem), "");
}

template <class Op>
const Row<Op>& reference_of(std::span<const Row<Op>> rows) {
  return rows.back();
}

/// Largest difference relative to the largest expected magnitude of the row (or 1e-30).
inline double relative_error(const std::vector<float>& actual, const std::vector<float>& expected) {
  double scale = 1e-30;
  double worst = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (std::isfinite(expected[i])) scale = std::max(scale, std::abs(static_cast<double>(expected[i])));
    const bool same = actual[i] == expected[i] || (std::isnan(actual[i]) && std::isnan(expected[i]));
    const double difference = same ? 0.0 : std::abs(static_cast<double>(actual[i]) - expected[i]);
    worst = std::isnan(difference) ? INFINITY : std::max(worst, difference);
  }
  return worst / scale;
}

/// Sizes around the vector widths, primes, and one that is split over threads.
inline const std::vector<int64_t> kOddSizes = {1,  2,  7,  8,   9,   15,  16,  17,  31,
                                               33, 64, 97, 127, 128, 129, 576, 1021};

}  // namespace orrery::kernels::testing
