// The op on the CPU, between guard pages: what it reads and writes, whether it is repeatable, its gradients.
#pragma once

#include "engine/custom/trial/cases.h"

namespace orrery::custom::trial {

/// Tells what passed; ends the process at the first failure.
void try_on_cpu(const std::shared_ptr<const Library>& library);

/// What the body makes of the inputs, in plain memory.
std::vector<Bytes> outputs_of(const Body& body, orrery_call call, std::vector<Bytes>& inputs);

/// The call of the gradients after a forward case, with random gradients of its outputs. Nothing where the
/// case has none: an output that is no float, an input that was left out.
std::optional<Case> backward_case(const Body& forward, const Body& backward, const Case& one);

}  // namespace orrery::custom::trial
