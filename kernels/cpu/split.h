// How a row of cpu/ spreads its work over the team, and which machine it needs.
#pragma once

#include <algorithm>
#include <string>

#include "kernels/cpu/isa.h"
#include "kernels/row.h"

namespace orrery::kernels {

/// Elements touched below which a dispatch costs more than it saves: about a microsecond of one core.
constexpr int64_t kWorthSplitting = 8192;

/// Calls body(begin, end, thread) for chunks of [0, count) on the team's threads, or once for all of it on
/// the calling thread (as thread 0) when count * cost, in elements touched, is small. Chunks never change
/// what an item computes.
template <class Body>
void split(const Launch& launch, int64_t count, int64_t cost, Body&& body) {
  if (count <= 0) return;
  if (launch.team == nullptr || launch.team->size() == 1 || count == 1 || count * cost < kWorthSplitting) {
    body(int64_t{0}, count, 0);
    return;
  }
  const int64_t grain = std::max<int64_t>(1, kWorthSplitting / cost);
  launch.team->run(count, grain,
                   [&](ThreadTeam::Range chunk, int thread) { body(chunk.begin, chunk.end, thread); });
}

/// `supports` of a row that takes every legal problem on machines with the features: legal_on<Op, ref::legal,
/// kAvx2>.
template <class Op, std::string (*legal)(const typename Op::Problem&), CpuFeatures features>
std::string legal_on(const typename Op::Problem& problem, const Machine& machine) {
  std::string reason = legal(problem);
  return reason.empty() ? missing(features, machine) : reason;
}

}  // namespace orrery::kernels
