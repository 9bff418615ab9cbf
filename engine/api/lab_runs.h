// Runs of the kernel lab as files: JSON of one, a table of several, and the lines of a history, one a run.
#pragma once

#include <span>
#include <string_view>

#include "engine/api/lab.h"

namespace orrery::api {

/// "f32", "bf16", "int16", "int8".
std::string_view name_of(Arithmetic arithmetic);

/// One line. What a row that was not run, or was wrong, or on a machine whose limits are not known has no
/// number for is null.
std::string write_lab_run(const LabRun& run);
Result<LabRun> parse_lab_run(std::string_view json);
/// All rows of the runs, with a head.
std::string lab_csv(std::span<const LabRun> runs);

/// A run, and when and by which version of the program it was made.
struct KeptLabRun {
  std::string when, program;  // "2026-11-26T10:15:00Z", "0.1.0"
  LabRun run;
};
/// With its line break.
std::string lab_history_line(const KeptLabRun& kept);
/// The oldest first. Lines that tell no run, as of a program that was ended while it wrote, are passed over.
std::vector<KeptLabRun> parse_lab_history(std::string_view text);

/// Where the program keeps them: ${XDG_DATA_HOME:-~/.local/share}/orrery/lab.jsonl
std::string lab_history_file();

}  // namespace orrery::api
