// The card as the rows see it: what the driver says of it, and what this module was compiled for.
#pragma once

#include <string>

#include "kernels/machine.h"

namespace orrery::kernels::cuda {

/// What rows are asked for on the card, which need not be open; zeros where there is none.
Machine machine_of_card(int index);

/// The one that is current.
const CardMachine& current_card();

/// Nothing where this module has kernels for the card that is current, else the reason.
std::string without_kernels_for(const std::string& architecture);

/// Empty where blocks can run in clusters, which see each other's shared memory, else what is missing.
std::string without_clusters(const CardMachine& card);

/// Empty where a block can have so much shared memory, else the reason: "needs 128 KB of shared memory, the
/// card has 99".
std::string without_shared(size_t bytes, const CardMachine& card);

}  // namespace orrery::kernels::cuda
