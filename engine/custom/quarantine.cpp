#include "engine/custom/quarantine.h"

#include <fmt/format.h>
#include <signal.h>
#include <string.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "engine/custom/process.h"
#include "engine/custom/toolchain.h"

namespace orrery::custom {
namespace {

/// What the report does not say itself.
std::string unsaid(const ProcessEnd& end, const std::string& at, const TrialLimits& limits) {
  const std::string during = at.empty() ? "" : fmt::format(" during: {}", at);
  if (end.late)
    return fmt::format("It did not come back within {:.3g} s{}", limits.time.count() / 1000.0, during);
  if (end.signal != 0) return fmt::format("It crashed ({}){}", strsignal(end.signal), during);
  return fmt::format("It ended the process with exit code {}{}", end.exit_code.value_or(-1), during);
}

/// Nothing for a line of another form: the op writes to the same descriptor if it likes.
std::optional<TrialCase> case_in(std::string_view line) {
  std::vector<std::string> fields;
  while (fields.size() < 7) {
    const size_t end = std::min(line.find('\t'), line.size());
    fields.emplace_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  TrialCase one{fields[0], fields[1], fields[2], fields[3]};
  const auto number = [&](size_t field, double& value) {
    const std::string& text = fields[field];
    return std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc() &&
           !std::isnan(value);
  };
  if (number(4, one.difference) && number(5, one.allowed) && number(6, one.us)) return one;
  return std::nullopt;
}

Trial trial_of(const ProcessEnd& end, const TrialLimits& limits) {
  Trial trial;
  std::string at;
  std::string_view text = end.report;
  while (!text.empty() && !trial.passed) {
    const size_t stop = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, stop);
    text.remove_prefix(std::min(stop + 1, text.size()));
    const size_t space = std::min(line.find(' '), line.size());
    const std::string_view kind = line.substr(0, space);
    const std::string words(line.substr(std::min(space + 1, line.size())));
    if (kind == "at") at = words;
    if (kind == "ok") trial.checks.push_back({true, words});
    if (kind == "case")
      if (auto one = case_in(words)) trial.cases.push_back(*std::move(one));
    if (kind == "done") trial.passed = true;
    if (kind == "fail") {
      // Those that a signal handler tells do not say with what: the stage does.
      const bool said = words.find(", with ") != std::string::npos || at.empty();
      trial.checks.push_back({false, said ? words : fmt::format("{} (during: {})", words, at)});
      return trial;
    }
  }
  if (!trial.passed) trial.checks.push_back({false, unsaid(end, at, limits)});
  return trial;
}

}  // namespace

Result<Trial> try_on_cpu(const std::filesystem::path& library, const TrialLimits& limits,
                         std::stop_token stop) {
  ORRERY_ASSIGN(const std::string program, trial_program());
  uint64_t memory = limits.memory_bytes;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  memory = 0;  // instrumented programs reserve more addresses than any limit
#endif
  ORRERY_ASSIGN(const ProcessEnd end, run_process({program, "cpu", library.string(), std::to_string(memory)},
                                                  {.time = limits.time, .memory_bytes = memory}, stop));
  return trial_of(end, limits);
}

Result<Trial> try_on_card(const std::filesystem::path& library, const std::filesystem::path& image, int card,
                          const TrialLimits& limits, std::stop_token stop) {
  ORRERY_ASSIGN(const std::string program, trial_program());
  // Drivers reserve more addresses than any limit; the body for the CPU had one.
  ORRERY_ASSIGN(const ProcessEnd end,
                run_process({program, "card", library.string(), image.empty() ? "-" : image.string(),
                             std::to_string(card)},
                            {.time = limits.time + std::chrono::seconds(20)}, stop));
  return trial_of(end, limits);
}

}  // namespace orrery::custom
