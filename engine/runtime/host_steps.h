// Steps that run in the program, on a thread team.
#pragma once

#include "engine/compile/plan.h"
#include "engine/runtime/time_span.h"

namespace orrery::runtime {

/// Runs the segment's steps. `times` null: nobody wants to know how long they took; else times[i] becomes
/// that of step i of the plan.
void run_host_steps(const compile::Plan& plan, const compile::Segment& segment,
                    const ops::StepContext& context, TimeSpan* times);

}  // namespace orrery::runtime
