// What a benchmark measured, as a table to read and as JSON to keep (tests/bench/results).
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "kernels/lab/experiment.h"
#include "kernels/lab/facts.h"

namespace orrery::kernels::bench {

struct Report {
  std::string date, command;  // as the caller gives them
  lab::MachineFacts machine;
  std::vector<lab::Record> records;
};

/// "linear decode 1x576x1536 Q4_1   cpu.avx512_vnni.matvec   24.1 us (23.8 to 25.0)  ..."
std::string line_of(const lab::Record& record);

/// A number that is not finite is null.
std::string to_json(const Report& report);
/// Throws std::runtime_error that says what is missing.
Report report_of(const std::string& json);

}  // namespace orrery::kernels::bench
