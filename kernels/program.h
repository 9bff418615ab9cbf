// A kernel that was compiled while the program runs: a person's own, from source (engine/custom).
//
//   kernel<<<blocks, threads, 0, stream>>>(parameter)
//
// One parameter, passed by value. What it holds and which elements a block has is the kernel's business;
// nothing here can check that it stays within its operands, so a kernel comes here after it was tried in
// another process. Cards only: the CPU has no rows.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/row.h"

namespace orrery::kernels {

/// What NVRTC made of a source: machine code (CUBIN) or PTX. It must outlive all calls.
struct ProgramImage {
  std::string bytes;
  std::string id;  // of its contents: it is loaded once for each id
};

struct Program {
  static constexpr std::string_view kName = "program";
  struct Problem {
    const ProgramImage* image = nullptr;
    std::string kernel;  // `extern "C"`
    int threads = 256;   // a block
  };
  struct Args {
    Problem problem;
    int64_t blocks = 0;  // none: nothing is launched
    const void* parameter = nullptr;
  };
};

namespace cuda {
/// Refuses what the card cannot load, a kernel that the image has not, and more threads than it can have.
std::span<const Row<Program>> program_rows();
}  // namespace cuda

}  // namespace orrery::kernels
