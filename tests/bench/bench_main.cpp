#include "tests/bench/bench_main.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <regex>
#include <set>
#include <stdexcept>

#include "kernels/lab/load.h"
#include "kernels/lab/problems.h"
#include "tests/bench/report.h"

namespace orrery::kernels::bench {
namespace {

constexpr const char* kUsage =
    R"(usage: %s [REGEX] [OPTION...]
  REGEX            of "OP PROBLEM ROW": what is measured; the reference only where it is named
  --list           names problems and how others are told, measures nothing
  --op OP --shape "WORDS"   a problem that is not in the list
  --device D       cpu or cuda:N
  --threads N      of the CPU; with 1, times are the processor's
  --chosen, --all-rows      the row that a plan would take; every row
  --memory, --cache         where calls find their operands; else as models do
  --samples N      of which median and spread are told
  --untimed        rows are held against the reference only
  --no-limits      saves the half second that measures what the machine can do
  --json FILE, --date DATE  keeps a report
)";

struct Wish {
  std::vector<std::string> ops;
  std::string device, picked, pattern, shape, json, date;
  int threads = available_cores();
  bool list = false, chosen = false, limits = true;
  lab::Timing timing;
};

int positive(const std::string& text) {
  const int number = std::atoi(text.c_str());
  if (number < 1) throw std::invalid_argument(text + " is no number from 1 on");
  return number;
}

Wish wish_of(const std::vector<std::string>& words, const Program& program) {
  Wish wish;
  wish.ops = program.ops;
  wish.device = program.device;
  wish.picked = program.picked;
  wish.chosen = program.chosen;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const auto value = [&]() -> const std::string& {
      if (i + 1 == words.size()) throw std::invalid_argument(word + " needs a value");
      return words[++i];
    };
    if (word == "--list")
      wish.list = true;
    else if (word == "--op")
      wish.ops = {value()};
    else if (word == "--shape")
      wish.shape = value();
    else if (word == "--device")
      wish.device = value();
    else if (word == "--threads")
      wish.threads = positive(value());
    else if (word == "--chosen")
      wish.chosen = true;
    else if (word == "--all-rows")
      wish.chosen = false;
    else if (word == "--memory")
      wish.timing.caches = lab::Caches::memory;
    else if (word == "--cache")
      wish.timing.caches = lab::Caches::cache;
    else if (word == "--samples")
      wish.timing.samples = positive(value());
    else if (word == "--untimed")
      wish.timing.samples = 0;
    else if (word == "--no-limits")
      wish.limits = false;
    else if (word == "--json")
      wish.json = value();
    else if (word == "--date")
      wish.date = value();
    else if (word.rfind("-", 0) == 0)
      throw std::invalid_argument(word + " is not understood");
    else
      wish.pattern = word;
  }
  if (!wish.shape.empty() && wish.ops.size() != 1) throw std::invalid_argument("--shape needs --op");
  return wish;
}

/// What is run, and on what.
class Bench {
 public:
  Bench(const Wish& wish, std::unique_ptr<Device> device)
      : wish_(wish), team_(wish.threads), pattern_(wish.pattern), device_(std::move(device)) {
    if (device_)
      place_ = std::make_unique<lab::DevicePlace>(*device_, team_);
    else
      place_ = std::make_unique<lab::HostPlace>(team_);
    report_.date = wish.date;
    report_.machine = lab::machine_facts(team_.size(), device_.get());
    if (wish.limits && !wish.list) limits_ = device_ ? lab::limits_of(*device_) : lab::measure_limits(team_);
  }

  void run() {
    if (!wish_.list) std::cout << lab::line_of(report_.machine) << "\n";
    bool found = false;
    for (const lab::ProblemFamily& family : lab::problem_families()) {
      const std::vector<std::string>& ops = wish_.ops;
      if (!ops.empty() && std::find(ops.begin(), ops.end(), family.op) == ops.end()) continue;
      found = true;
      if (wish_.list) std::cout << family.op << ": " << family.words << "\n";
      const auto problems = wish_.shape.empty() ? family.known() : std::vector<std::string>{wish_.shape};
      for (const std::string& problem : problems)
        if (problem.find(wish_.picked) != std::string::npos || !wish_.shape.empty()) add(family, problem);
    }
    if (!found) throw std::invalid_argument("no op is called " + wish_.ops.front());
    const double others = wish_.list ? 0 : others_.share().value_or(0);
    if (others >= lab::kBusyShare)
      std::cout << "the machine was busy: other programs took " << std::lround(100 * others)
                << " % of the cores' time\n";
  }

  void write(const std::string& command) {
    report_.command = command;
    if (wish_.json.empty()) return;
    std::ofstream file(wish_.json);
    file << to_json(report_) << "\n";
    if (!file.flush()) throw std::runtime_error(wish_.json + " cannot be written");
  }
  bool right() const { return right_; }

 private:
  /// The rows of a problem whose names match; those that are never wanted by accident are left out.
  std::set<std::string> wanted(const lab::ProblemFamily& family, const std::string& problem) const {
    std::set<std::string> rows;
    for (const lab::NamedRow& row : family.rows(lab::kind_of(*place_))) {
      const bool reference = row.name == "cpu.reference";
      if (reference && wish_.pattern.find("reference") == std::string::npos) continue;
      if (std::regex_search(std::string(family.op) + " " + problem + " " + row.name, pattern_))
        rows.insert(row.name);
    }
    return rows;
  }

  void add(const lab::ProblemFamily& family, const std::string& problem) {
    const std::set<std::string> rows = wanted(family, problem);
    if (rows.empty()) return;
    if (wish_.list) {
      std::cout << "  " << problem << "\n";
      return;
    }
    std::string reason;
    const auto experiment = lab::make_experiment(family.op, problem, reason);
    if (!experiment) throw std::invalid_argument(reason);
    const std::vector<lab::Version> versions = experiment->versions(lab::kind_of(*place_));
    for (size_t v = 0; v < versions.size(); ++v) {
      if (!versions[v].refusal.empty()) continue;
      if (rows.count(versions[v].row) > 0) measure(*experiment, v);
      if (wish_.chosen) break;
    }
    place_->drop();
  }

  void measure(lab::Experiment& experiment, size_t version) {
    lab::Record record = experiment.measure(version, *place_, wish_.timing);
    record.share_of_limit = limits_.share_of(record);
    right_ = right_ && record.agreement && record.agreement->ok;
    std::cout << line_of(record) << std::endl;
    report_.records.push_back(std::move(record));
  }

  const Wish& wish_;
  ThreadTeam team_;
  std::regex pattern_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<lab::Place> place_;
  lab::Limits limits_;
  lab::OtherPrograms others_;
  Report report_;
  bool right_ = true;
};

int run(const std::vector<std::string>& words, const Program& program, const std::string& command) {
  const Wish wish = wish_of(words, program);
  std::unique_ptr<Device> device;
  if (wish.device != "cpu" && !(device = open_device(wish.device))) return 0;
  Bench bench(wish, std::move(device));
  bench.run();
  bench.write(command);
  return bench.right() ? 0 : 1;
}

}  // namespace

std::unique_ptr<Device> open_device(const std::string& name) {
  if (name.rfind("cuda:", 0) != 0) throw std::invalid_argument(name + " is neither cpu nor cuda:N");
  std::string reason;
  const DeviceModule* module = cuda_module(reason);
  if (module != nullptr && module->count(reason) > 0) return module->open(std::atoi(name.c_str() + 5));
  std::cout << "no device to time: " << reason << "\n";
  return nullptr;
}

int bench_main(int argc, char** argv, const Program& program) try {
  std::string command = std::filesystem::path(argv[0]).filename();
  const std::vector<std::string> words(argv + 1, argv + argc);
  for (const std::string& word : words)
    command += word.find_first_of(" |()*") == std::string::npos ? " " + word : " '" + word + "'";
  return run(words, program, command);
} catch (const std::invalid_argument& error) {
  std::fprintf(stderr, "%s\n", error.what());
  std::fprintf(stderr, kUsage, argv[0]);
  return 2;
} catch (const std::regex_error&) {
  std::fprintf(stderr, "that is no regular expression\n");
  return 2;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

}  // namespace orrery::kernels::bench
