// The op on a card, beside the CPU.
#pragma once

#include <memory>
#include <string>

#include "engine/custom/body.h"
#include "kernels/program.h"

namespace orrery::custom::trial {

/// Tells how far card and CPU differ; ends the process where that is too much, where the card writes beside
/// its outputs or into its inputs, and where it gives other numbers each time. The image is null for a
/// library that launches its own kernels.
void try_on_card(const std::shared_ptr<const Library>& library, const kernels::ProgramImage* image, int card);

}  // namespace orrery::custom::trial
