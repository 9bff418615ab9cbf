// Shared by the tests of the op rows: every row of an op that this machine can run, run with a team and a
// workspace of its own, against the reference on seeded random data.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

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

template <class Op>
void run_row(const Row<Op>& row, const typename Op::Problem& problem, const typename Op::Args& args,
             int threads = 2, Guard guard = Guard::after) {
  SCOPED_TRACE(std::string(row.name));
  ThreadTeam team(threads);
  const Workspace workspace(row.workspace != nullptr ? row.workspace(problem, team.size()) : 0, guard);
  row.run(args, {.team = &team, .workspace = workspace.data()});
}

/// body(row) for each row of the list that takes the problem here, but the reference.
template <class Op, class Body>
void each_fast_row(std::span<const Row<Op>> rows, const typename Op::Problem& problem, Body&& body) {
  int tried = 0;
  for (const Row<Op>& row : rows.first(rows.size() - 1)) {
    if (!row.supports(problem).empty()) continue;
    SCOPED_TRACE(std::string(row.name));
    body(row);
    ++tried;
  }
  EXPECT_GT(tried, 0) << "no row but the reference takes the problem on this machine";
  EXPECT_EQ(rows.back().supports(problem), "");
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
