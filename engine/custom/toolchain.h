// The compilers for ops from source: the system's for C and C++, NVRTC for CUDA. Both run in processes of
// their own, for at most so long.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "engine/custom/diagnostics.h"
#include "engine/custom/process.h"

namespace orrery::custom {

/// Sums and products are rounded one by one on both sides, so that CPU and card give the same numbers; fma()
/// is there for who wants it.
inline constexpr std::array<std::string_view, 11> kHostOptions = {"-O2",
                                                                  "-march=native",
                                                                  "-ffp-contract=off",
                                                                  "-fPIC",
                                                                  "-shared",
                                                                  "-fvisibility=hidden",
                                                                  "-Wall",
                                                                  "-Wno-unknown-pragmas",
                                                                  "-fdiagnostics-color=never",
                                                                  "-fno-diagnostics-show-caret",
                                                                  "-Wl,--no-undefined"};
inline constexpr std::array<std::string_view, 2> kCudaOptions = {"--std=c++17", "--fmad=false"};

struct Compilation {
  bool ok = false;
  std::vector<Diagnostic> diagnostics;  // files by their names alone
  std::string log;                      // as it was told
};

/// The system's compiler: that of ORRERY_CXX, else c++, g++ or clang++. Empty: there is none.
std::string host_compiler();
/// The first line that it tells of its version; empty where it does not run.
std::string host_compiler_version();

/// "c", "c++" by the ending of a name; empty: neither.
std::string_view language_of(std::string_view name);
bool is_cuda(std::string_view name);

/// A library of one source of C or C++, or of what a file of CUDA has for the host. orrery_op.h lies beside
/// the source. Refused: no compiler (with what to install), or a stop.
Result<Compilation> compile_host(const std::filesystem::path& source, const std::filesystem::path& library,
                                 std::chrono::milliseconds time, std::stop_token stop);

/// Machine code for "sm_90", PTX for "compute_80". Refused where NVRTC is not there (`not_found`).
Result<Compilation> compile_cuda(const std::filesystem::path& source, const std::filesystem::path& image,
                                 const std::string& architecture, std::chrono::milliseconds time,
                                 std::stop_token stop);

/// Where libnvrtc.so is looked for: ORRERY_NVRTC, the loader's own places, the toolkit's.
std::vector<std::string> nvrtc_places();

/// orrery-trial: beside this program, or ORRERY_TRIAL. Refused where it is not there.
Result<std::string> trial_program();

}  // namespace orrery::custom
