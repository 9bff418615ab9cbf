// The program behind the benchmarks of rows: lists problems by name, picks some, verifies and times their
// rows, prints a table and keeps a report.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/device_module.h"

namespace orrery::kernels::bench {

/// What one of them does if nothing else is asked for.
struct Program {
  std::vector<std::string> ops = {};  // empty: all
  std::string device = "cpu";
  std::string picked = "";  // of problems: a part of their names
  bool chosen = false;      // only the row that a plan would take
};

/// The device that a name ("cuda:0") stands for; null, and said so, where there is none. Throws DeviceError.
std::unique_ptr<Device> open_device(const std::string& name);

/// The exit status: 0, 1 where a row is wrong, 2 where the words are not understood.
int bench_main(int argc, char** argv, const Program& program);

}  // namespace orrery::kernels::bench
