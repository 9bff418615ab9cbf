// A call on a card: a kernel from source, or what a library launches itself.
#pragma once

#include "engine/custom/body.h"
#include "kernels/program.h"

namespace orrery::custom {

/// The kernel of the body in an image; its problem for the module's row.
kernels::Program::Problem program_of(const Body& body, const kernels::ProgramImage* image);

/// Why no card can run the body: nobody wrote it for one, the module is not there, or it refuses the kernel.
/// Empty: the machine's card can.
std::string card_refusal(const Body& body, const kernels::ProgramImage* image,
                         const kernels::Machine& machine);

/// Puts the call into the stream; pointers are the card's. Throws DeviceError.
void call_card(const Body& body, const kernels::ProgramImage* image, const orrery_call& call,
               const kernels::Launch& launch);

}  // namespace orrery::custom
