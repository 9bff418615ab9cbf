// Where each of the card's rows of Linear is the fastest: times of all rows over the number of tokens, on the
// matrices of models of 8B, 1B and 135M parameters. kernels/cuda/linear_crossovers.h is filled in from it.
//   linear_bench [TYPE...] [--json FILE] [--date DATE]
// Q4_K, Q6_K, Q4_0, Q4_1, Q8_0 and bf16 when no type is named; on the first CUDA device. Microseconds of a
// call among as many as read more than the caches hold, captured and launched as a graph. A row is asked for
// what it can do, not for what it is chosen for: one that takes a shape for some number of tokens runs it for
// any.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>

#include "kernels/lab/linear_case.h"
#include "tests/bench/bench_main.h"
#include "tests/bench/report.h"

namespace orrery::kernels::bench {
namespace {

using lab::LinearCase;

constexpr int64_t kTokens[] = {1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256, 512, 1024};
constexpr DType kTypes[] = {DType::q4_k, DType::q6_k, DType::q4_0, DType::q4_1, DType::q8_0, DType::bf16};

struct Shape {
  const char* name;
  std::vector<int64_t> rows;  // of each segment
  int64_t cols;
  Epilogue epilogue = Epilogue::none;
  int64_t in_layers = 0;  // how often a step of the 8B model has it

  int64_t weights() const {
    int64_t total = 0;
    for (const int64_t each : rows) total += each * cols;
    return total;
  }
};

std::vector<Shape> shapes() {
  return {{"8B qkv", {4096, 1024, 1024}, 4096, Epilogue::none, 32},
          {"8B out", {4096}, 4096, Epilogue::none, 32},
          {"8B gate up", {14336, 14336}, 4096, Epilogue::silu_mul, 32},
          {"8B down", {4096}, 14336, Epilogue::none, 32},
          {"8B head", {128256}, 4096, Epilogue::none, 1},
          {"8B k", {1024}, 4096},
          {"1B out", {2048}, 2048},
          {"1B gate up", {8192, 8192}, 2048, Epilogue::silu_mul},
          {"1B down", {2048}, 8192},
          {"135M qkv", {576, 192, 192}, 576},
          {"135M gate up", {1536, 1536}, 576, Epilogue::silu_mul},
          {"135M down", {576}, 1536}};
}

/// For the most tokens; the others are parts of it.
LinearCase case_of(const Shape& shape, DType dtype) {
  std::vector<LinearCase::Segment> segments;
  for (const int64_t rows : shape.rows) segments.push_back({rows, dtype});
  LinearCase c(*std::rbegin(kTokens), shape.cols, segments, shape.epilogue, Precision::balanced,
               {.period = 64});
  c.most_checked = 2;
  return c;
}

/// Plans are made for powers of two.
LinearCase for_plan(const LinearCase& all, int64_t tokens) {
  const auto most = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(tokens)));
  return all.with_tokens(tokens, most / 2 + 1, most);
}

using Times = std::map<int64_t, std::vector<double>>;  // by tokens, of each row; negative: none

/// The most tokens to which the first row is the fastest of it and those after it.
int64_t fastest_to(const Times& times, size_t row, int64_t from) {
  int64_t last = from;
  for (const auto& [tokens, of_rows] : times) {
    if (tokens <= from || !std::has_single_bit(static_cast<uint64_t>(tokens))) continue;
    if (of_rows[row] < 0) return last;
    for (size_t other = row + 1; other < of_rows.size(); ++other)
      if (of_rows[other] >= 0 && of_rows[other] < of_rows[row]) return last;
    last = tokens;
  }
  return last;
}

/// Whether one that is for more tokens took a third of its time already.
bool is_beaten(const Times& times, size_t row) {
  return std::any_of(times.begin(), times.end(), [row](const auto& entry) {
    const std::vector<double>& of_rows = entry.second;
    for (size_t other = row + 1; other < of_rows.size(); ++other)
      if (of_rows[other] > 0 && of_rows[row] > 3 * of_rows[other]) return true;
    return false;
  });
}

class Table {
 public:
  Table(lab::Place& place, Report& report)
      : place_(place), report_(report), rows_(rows_of<Linear>(DeviceKind::cuda)) {
    rows_ = rows_.first(rows_.size() - 1);  // the last takes everything, slowly
  }

  /// False when a row is wrong.
  bool add(DType dtype) {
    std::map<int64_t, std::vector<double>> steps;  // of 8B
    for (const Shape& shape : shapes()) {
      if (shape.cols % dtype_info(dtype).block_elements != 0) continue;
      const Times times = measure(dtype, shape);
      for (const auto& [tokens, of_rows] : times) {
        std::vector<double>& sums = steps[tokens];
        sums.resize(rows_.size());
        for (size_t r = 0; r < rows_.size(); ++r)
          sums[r] += static_cast<double>(shape.in_layers) * of_rows[r] * 1e-3;
      }
    }
    std::printf("\n%s, all matrices of an 8B step, ms\n  tokens", std::string(name_of(dtype)).c_str());
    print_names();
    std::printf("\n");
    for (const auto& [tokens, of_rows] : steps) {
      std::printf("  %6lld", static_cast<long long>(tokens));
      for (const double time : of_rows) std::printf(time > 0 ? " %12.3f" : "            -", time);
      std::printf("\n");
    }
    return right_;
  }

  void print_crossovers() const {
    std::printf("\nfastest to so many tokens\n%-8s %-14s %12s", "type", "shape", "weights");
    for (size_t r = 0; r + 1 < rows_.size(); ++r) std::printf(" %12s", std::string(rows_[r].name).c_str());
    std::printf("\n%s", crossovers_.c_str());
  }

 private:
  void print_names() const {
    for (const Row<Linear>& row : rows_) std::printf(" %12s", std::string(row.name).c_str());
  }

  Times measure(DType dtype, const Shape& shape) {
    const LinearCase all = case_of(shape, dtype);
    std::vector<bool> takes(rows_.size());
    for (const int64_t tokens : kTokens)
      for (size_t r = 0; r < rows_.size(); ++r)
        takes[r] = takes[r] || lab::refusal_of(rows_[r], for_plan(all, tokens).problem).empty();
    std::printf("\n%s %s, %lld weights, us\n  tokens", std::string(name_of(dtype)).c_str(), shape.name,
                static_cast<long long>(shape.weights()));
    print_names();
    std::printf("  chosen        GB/s\n");
    Times times;
    for (const int64_t tokens : kTokens) {
      const LinearCase c = for_plan(all, tokens);
      const std::string name = std::string(shape.name) + ", " + std::to_string(tokens) + " tokens of " +
                               std::string(name_of(dtype));
      lab::CaseExperiment<LinearCase> experiment(name, c, rows_);
      std::vector<double>& of_rows = times[tokens];
      for (size_t r = 0; r < rows_.size(); ++r)
        of_rows.push_back(takes[r] && !is_beaten(times, r) ? time(experiment, r) : -1);
      print(c, tokens, of_rows);
    }
    add_crossovers(dtype, shape, times);
    place_.drop();
    return times;
  }

  double time(lab::Experiment& experiment, size_t row) {
    const lab::Timing timing{.caches = lab::Caches::memory, .samples = 5, .refused_too = true};
    report_.records.push_back(experiment.measure(row, place_, timing));
    const lab::Record& record = report_.records.back();
    if (record.times) return record.times->median;
    std::printf("%s\n", line_of(record).c_str());
    right_ = false;
    return -1;
  }

  void print(const LinearCase& c, int64_t tokens, const std::vector<double>& of_rows) const {
    const Row<Linear>* chosen = select(rows_, c.problem, machine_of(DeviceKind::cuda)).row;
    double best = INFINITY;
    std::printf("  %6lld", static_cast<long long>(tokens));
    for (const double time : of_rows) {
      std::printf(time > 0 ? " %12.2f" : "            -", time);
      if (time > 0) best = std::min(best, time);
    }
    std::printf("  %-12s %5.0f\n", chosen != nullptr ? std::string(chosen->name).c_str() : "-",
                c.work().bytes / best * 1e-3);
    std::fflush(stdout);
  }

  void add_crossovers(DType dtype, const Shape& shape, const Times& times) {
    char line[256];
    std::snprintf(line, sizeof line, "%-8s %-14s %12lld", std::string(name_of(dtype)).c_str(), shape.name,
                  static_cast<long long>(shape.weights()));
    crossovers_ += line;
    int64_t from = 0;
    for (size_t r = 0; r + 1 < rows_.size(); ++r) {
      from = fastest_to(times, r, from);
      std::snprintf(line, sizeof line, " %12lld", static_cast<long long>(from));
      crossovers_ += line;
    }
    crossovers_ += "\n";
  }

  lab::Place& place_;
  Report& report_;
  std::span<const Row<Linear>> rows_;
  std::string crossovers_;
  bool right_ = true;
};

int run(const std::vector<std::string>& words) {
  std::string json;
  Report report{.date = "", .command = "linear_bench", .machine = {}, .records = {}};
  std::vector<std::string> types;
  for (size_t i = 0; i < words.size(); ++i) {
    report.command += " " + words[i];
    const bool value = (words[i] == "--json" || words[i] == "--date") && i + 1 < words.size();
    if (!value) {
      types.push_back(words[i]);
      continue;
    }
    (words[i] == "--json" ? json : report.date) = words[i + 1];
    report.command += " " + words[++i];
  }
  const std::unique_ptr<Device> device = open_device("cuda:0");
  if (!device) return 0;
  ThreadTeam team(available_cores());
  lab::DevicePlace place(*device, team);
  report.machine = lab::machine_facts(team.size(), device.get());
  std::printf("%s\n", report.machine.device.c_str());
  Table table(place, report);
  bool right = true;
  for (const DType dtype : kTypes) {
    const bool named = std::find(types.begin(), types.end(), name_of(dtype)) != types.end();
    if (types.empty() || named) right = table.add(dtype) && right;
  }
  table.print_crossovers();
  if (!json.empty() && !(std::ofstream(json) << to_json(report) << "\n").flush())
    throw std::runtime_error(json + " cannot be written");
  return right ? 0 : 1;
}

}  // namespace
}  // namespace orrery::kernels::bench

int main(int argc, char** argv) {
  try {
    return orrery::kernels::bench::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
