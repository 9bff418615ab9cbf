// Runs the built command line as a person or a script would.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace orrery::cli::test {

struct Outcome {
  int exit_code = -1;  // -signal when it was killed by one
  std::string out, err;
  nlohmann::json json() const;  // of stdout; a failure of the test when it is none
};

using Words = std::vector<std::string>;
Outcome run(const Words& arguments, const std::string& input = {});
/// Sends SIGINT once the program has written something (or after `wait_ms`), and waits for its end.
Outcome run_and_interrupt(const Words& arguments, int wait_ms, const std::string& input = {});

/// Exit code 1 with exactly one line "error: WHAT (WHERE): WHAT TO DO" on stderr and nothing on stdout.
void expect_refused(const Outcome& outcome);

std::string read_file(const std::string& path);
/// One part of a golden file, by value.
nlohmann::json golden(const std::string& name, const std::string& part);
/// A file in a folder of this test run, removed at its end.
std::string scratch_file(const std::string& name, const std::string& content = {});
std::string models_folder();

}  // namespace orrery::cli::test
