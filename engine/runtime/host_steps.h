// Steps that run in the program, on a thread team.
#pragma once

#include <cstdint>

#include "engine/compile/plan.h"

namespace orrery::runtime {

/// Nanoseconds of CLOCK_MONOTONIC, the clock of all times that steps are given.
int64_t monotonic_ns();

/// Runs the segment's steps. `times` null: nobody wants to know how long they took; else times[i + 1] becomes
/// the end of step i of the plan, and times[0] the start of the first.
void run_host_steps(const compile::Plan& plan, const compile::Segment& segment,
                    const ops::StepContext& context, int64_t* times);

}  // namespace orrery::runtime
