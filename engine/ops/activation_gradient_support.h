// The slopes of the activation functions, of the ops of their names and of the epilogues of a linear.
#pragma once

#include "engine/ops/gradients.h"
#include "kernels/activation.h"

namespace orrery::ops {

/// activation(x), by the op of its name.
Term activated(kernels::Activation activation, const Term& x);
/// The gradient of x, where `gradient` is that of activation(x), f32 of one shape all of them.
Term activation_gradient(kernels::Activation activation, const Term& gradient, const Term& x);

}  // namespace orrery::ops
