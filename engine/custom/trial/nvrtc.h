// NVRTC, opened where it is: the compiler of CUDA that comes with the toolkit and with NVIDIA's wheels.
#pragma once

#include <string>

namespace orrery::custom::trial {

struct Compiled {
  bool ok = false;
  bool absent = false;  // there is no NVRTC; log says what to install
  std::string image, log;
};

/// Machine code for "sm_90", PTX for "compute_80". `header` is orrery_op.h.
Compiled compile_cuda(const std::string& source, const std::string& name, const std::string& architecture,
                      const std::string& header);

/// "13.0", or empty where there is none.
std::string nvrtc_version();

}  // namespace orrery::custom::trial
