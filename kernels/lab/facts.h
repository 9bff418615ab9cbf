// What is measured on: facts of the machine, and what it can do at most.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "kernels/device.h"
#include "kernels/lab/op_case.h"
#include "kernels/machine_speed.h"

namespace orrery::kernels::lab {

struct Record;

struct MachineFacts {
  std::string cpu;       // "AMD EPYC 9R14"
  std::string features;  // "AVX-512 VNNI BF16"
  int cores = 0;         // that this process may run on
  int threads = 0;       // of the team
  std::string device = {}, architecture = {},
              driver = {};  // "NVIDIA H200", "sm_90", "580.159"; empty: the CPU alone
};
/// `device`: null for the CPU alone.
MachineFacts machine_facts(int threads, const Device* device);
/// "AMD EPYC 9R14, AVX-512 VNNI BF16, 2 threads of 2 cores; NVIDIA H200 sm_90 580.159"
std::string line_of(const MachineFacts& machine);

/// What the machine reaches at most; an entry that is 0, or an empty list, is not known.
struct Limits {
  std::vector<ReadingSpeed> reading;  // by rising bytes
  std::array<double, kArithmetics> operations_per_second = {};

  /// Microseconds that the work takes at least; 0: not known. `memory`: its bytes come from memory, else from
  /// the smallest cache that holds them.
  double least_microseconds(const Work& work, Arithmetic arithmetic, bool memory) const;
  /// What of them a row that was timed reaches; 0: not known, or not timed.
  double share_of(const Record& record) const;
};
/// Measured, which takes half a second.
Limits measure_limits(ThreadTeam& team);
/// As its driver tells: of memory alone.
Limits limits_of(const Device& device);

}  // namespace orrery::kernels::lab
