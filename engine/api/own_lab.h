// Ops of one's own in the kernel lab: their bodies as rows, on shapes that a person types.
//
//   "src=1024x4096 bias=4096 amount=2.5"     every input by its name: sizes, and after a colon the type where
//                                            it is not the first that the op takes ("src=4096:i32"; "one" is
//                                            a single element); attributes that are not to have their
//                                            fallbacks. An input that is not given takes the sizes that
//                                            its names have elsewhere, or is left out where the op allows it.
// The problem of a backward body is given by the inputs of its op. Its outputs are what the CPU body computes
// from them; their gradients are random.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/api/lab.h"
#include "engine/custom/own_kernel.h"
#include "kernels/lab/experiment.h"

namespace orrery::api {

/// Of what is in the registry, by name; each has a problem at least.
std::vector<LabKernel> own_kernels();

/// The body of an op of one's own; null: no op of one's own is called so.
std::shared_ptr<const custom::Running> own_body(const std::string& name);
LabKernel own_kernel(const custom::Running& running);

/// Rows are held against the op's reference where it gives one; else the CPU's against itself on one thread,
/// bit for bit, and a card's against the CPU's. Refused: words that are no problem of it.
Result<std::unique_ptr<kernels::lab::Experiment>> own_experiment(
    std::shared_ptr<const custom::Running> running, const std::string& problem);

}  // namespace orrery::api
