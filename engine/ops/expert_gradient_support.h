// Values of each expert beside those of the experts that a token was given to, in the gradients of mixtures.
#pragma once

#include "engine/ops/gradients.h"

namespace orrery::ops {

/// Which of all experts each of a token's is, bool[n, active, count], of experts i32[n, active].
Term is_expert(const Term& experts, int64_t count);
/// f32[n, count] of f32[n, active]: what a token has for its experts at their places, 0 for the others.
Term among_all(const Term& is_expert, const Term& of_chosen);
/// f32[n, active] of f32[n, count].
Term of_chosen(const Term& is_expert, const Term& of_all);

}  // namespace orrery::ops
