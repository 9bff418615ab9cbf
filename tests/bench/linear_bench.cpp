// Where each of the card's rows of Linear is the fastest: times of all rows over the number of tokens, on the
// matrices of models of 8B, 1B and 135M parameters. kernels/cuda/tile_config.h is filled in from it.
//   linear_bench [TYPE...]      Q4_K, Q6_K, Q4_0, Q4_1, Q8_0 and bf16 when none is named; on the first CUDA
//   device
// Microseconds of a call among as many as read more than the caches hold, captured and launched as a graph. A
// row is asked for what it can do, not for what it is chosen for: one that takes a shape for some number of
// tokens runs it for any. Each is checked against the CPU's reference before it is timed.
#include <bit>
#include <cstdlib>
#include <map>
#include <string>

#include "tests/bench/card.h"

namespace orrery::kernels {
namespace {

using namespace bench;

constexpr int64_t kTokens[] = {1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256, 512, 1024};
constexpr int64_t kUniqueRows = 64;
constexpr size_t kBeyondCaches = size_t{160} << 20;

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

/// Plans are made for powers of two.
Linear::Problem problem_of(const Shape& shape, DType dtype, int64_t tokens) {
  Linear::Problem problem;
  problem.tokens = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(tokens)));
  problem.min_tokens = problem.tokens / 2 + 1;
  problem.cols = shape.cols;
  problem.segment_count = static_cast<int>(shape.rows.size());
  problem.epilogue = shape.epilogue;
  for (size_t s = 0; s < shape.rows.size(); ++s) problem.segments[s] = {shape.rows[s], dtype, false};
  return problem;
}

bool takes(const Row<Linear>& row, const Shape& shape, DType dtype) {
  return std::any_of(std::begin(kTokens), std::end(kTokens), [&](int64_t tokens) {
    return row.supports(problem_of(shape, dtype, tokens), machine_of(row.device)).empty();
  });
}

/// A shape's operands on the card, its weights as often as the caches demand. Rows repeat after kUniqueRows.
class Operands {
 public:
  Operands(Card& card, const Shape& shape, DType dtype, const WeightPacking* packing)
      : card_(card), shape_(shape), dtype_(dtype), stored_(random_weights(dtype, kUniqueRows, shape.cols)) {
    std::vector<std::byte> unique = stored_;
    if (packing != nullptr) {
      ThreadTeam team(1);
      unique.resize(packing->bytes(dtype, kUniqueRows, shape.cols));
      packing->pack(stored_.data(), dtype, kUniqueRows, shape.cols, unique.data(), team);
    }
    const size_t stride = unique.size() / kUniqueRows;
    bytes_ = stride * static_cast<size_t>(shape.weights() / shape.cols);
    std::vector<std::vector<std::byte>> whole;
    for (const int64_t rows : shape.rows) {
      whole.emplace_back(stride * static_cast<size_t>(rows));
      for (size_t at = 0; at < whole.back().size(); at += unique.size())
        std::memcpy(whole.back().data() + at, unique.data(),
                    std::min(unique.size(), whole.back().size() - at));
    }
    const size_t copies = std::min<size_t>(kBeyondCaches / bytes_ + 1, 64);
    for (size_t copy = 0; copy < copies; ++copy)
      for (const auto& segment : whole) weights_.push_back(card.put(segment));
    const int64_t most = kTokens[std::size(kTokens) - 1];
    src_ = random_floats(most * shape.cols);
    src_there_ = card.put(src_);
    for (const int64_t rows : shape.rows)
      dst_.push_back(card.put(std::vector<float>(static_cast<size_t>(most * rows), NAN)));
  }

  size_t copies() const { return weights_.size() / shape_.rows.size(); }
  size_t bytes() const { return bytes_; }

  Linear::Args args(int64_t tokens, size_t copy) const {
    Linear::Args args;
    args.problem = problem_of(shape_, dtype_, tokens);
    args.tokens = tokens;
    args.src = src_there_;
    args.src_stride = shape_.cols;
    for (size_t s = 0; s < shape_.rows.size(); ++s)
      args.operands[s] = {weights_[copy % copies() * shape_.rows.size() + s], nullptr, dst_[s],
                          shape_.rows[s]};
    if (shape_.epilogue != Epilogue::none) args.operands[1].dst = nullptr;
    return args;
  }

  /// What the row left in the first segment's dst for the first and the last token, against the reference.
  double difference(const Row<Linear>& row, int64_t tokens, std::byte* workspace) {
    const auto rows = static_cast<size_t>(shape_.rows[0]);
    const std::vector<float> unwritten(rows, NAN);
    const Linear::Args args = this->args(tokens, 0);
    double worst = 0;
    for (const int64_t token : {int64_t{0}, tokens - 1})
      card_.device().upload(dst_[0] + token * shape_.rows[0], unwritten.data(), rows * sizeof(float));
    row.run(args, {.workspace = workspace, .stream = card_.device().stream()});
    card_.device().wait();
    for (const int64_t token : {int64_t{0}, tokens - 1}) {
      const std::vector<float> actual = card_.get(dst_[0] + token * shape_.rows[0], shape_.rows[0]);
      const std::vector<float>& unique = expected(token);
      std::vector<float> whole(rows);
      for (size_t r = 0; r < rows; ++r) whole[r] = unique[r % kUniqueRows];
      worst = std::max(worst, worst_difference(actual, whole));
    }
    return worst;
  }

 private:
  const std::vector<float>& expected(int64_t token) {
    std::vector<float>& results = expected_[token];
    if (!results.empty()) return results;
    results.resize(kUniqueRows);
    Linear::Args args = this->args(1, 0);
    args.src = src_.data() + token * shape_.cols;
    if (shape_.epilogue == Epilogue::none) args.problem.segment_count = 1;
    for (int s = 0; s < args.problem.segment_count; ++s) {
      args.problem.segments[static_cast<size_t>(s)].rows = kUniqueRows;
      args.operands[static_cast<size_t>(s)] = {stored_.data(), nullptr, nullptr, kUniqueRows};
    }
    args.operands[0].dst = results.data();
    run_reference<Linear>(linear_rows(), args.problem, args);
    return results;
  }

  Card& card_;
  const Shape& shape_;
  DType dtype_;
  std::vector<std::byte> stored_;
  std::vector<float> src_;
  const float* src_there_ = nullptr;
  std::vector<const std::byte*> weights_;  // by copy and segment
  std::vector<float*> dst_;
  std::map<int64_t, std::vector<float>> expected_;  // by token
  size_t bytes_ = 0;
};

using Times = std::map<int64_t, std::vector<double>>;  // by tokens, of each row; negative: none

/// The most tokens to which the first row is the fastest of it and those behind it.
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
  explicit Table(Card& card) : card_(card), rows_(rows_of<Linear>(DeviceKind::cuda)) {
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
    const Linear::Problem any = problem_of(shape, dtype, 1);
    Operands operands(card_, shape, dtype, rows_[0].packing != nullptr ? rows_[0].packing(any) : nullptr);
    std::printf("\n%s %s, %lld weights, %zu copies, us\n  tokens", std::string(name_of(dtype)).c_str(),
                shape.name, static_cast<long long>(shape.weights()), operands.copies());
    print_names();
    std::printf("  chosen        GB/s\n");
    Times times;
    for (const int64_t tokens : kTokens) {
      std::vector<double>& of_rows = times[tokens];
      for (size_t r = 0; r < rows_.size(); ++r) {
        const bool wanted = takes(rows_[r], shape, dtype) && !is_beaten(times, r);
        of_rows.push_back(wanted ? time(rows_[r], shape, dtype, operands, tokens) : -1);
      }
      print(shape, dtype, operands, tokens, of_rows);
    }
    add_crossovers(dtype, shape, times);
    card_.clear();
    workspace_bytes_ = 0;
    return times;
  }

  double time(const Row<Linear>& row, const Shape& shape, DType dtype, Operands& operands, int64_t tokens) {
    const Linear::Problem problem = problem_of(shape, dtype, tokens);
    const size_t bytes = row.workspace != nullptr ? row.workspace(problem, machine_of(row.device), 0) : 0;
    if (bytes > workspace_bytes_) workspace_ = card_.memory(workspace_bytes_ = bytes);
    const double tolerance = dtype == DType::bf16 ? 1e-2 : 2e-3;
    if (const double difference = operands.difference(row, tokens, workspace_); !(difference < tolerance)) {
      std::printf("  %s is wrong by %.1e of the largest element\n", std::string(row.name).c_str(),
                  difference);
      right_ = false;
      return -1;
    }
    const Launch launch{.workspace = workspace_, .stream = card_.device().stream()};
    const int calls = static_cast<int>(std::clamp<size_t>(operands.copies(), 8, 32));
    return graph_time(card_.device(), calls, 3,
                      [&](int i) { row.run(operands.args(tokens, static_cast<size_t>(i)), launch); });
  }

  void print(const Shape& shape, DType dtype, const Operands& operands, int64_t tokens,
             const std::vector<double>& of_rows) const {
    const Row<Linear>* chosen =
        select(rows_, problem_of(shape, dtype, tokens), machine_of(DeviceKind::cuda)).row;
    double best = INFINITY;
    std::printf("  %6lld", static_cast<long long>(tokens));
    for (const double time : of_rows) {
      std::printf(time > 0 ? " %12.2f" : "            -", time);
      if (time > 0) best = std::min(best, time);
    }
    std::printf("  %-12s %5.0f\n", chosen != nullptr ? std::string(chosen->name).c_str() : "-",
                static_cast<double>(operands.bytes()) / best * 1e-3);
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

  Card& card_;
  std::span<const Row<Linear>> rows_;
  std::string crossovers_;
  std::byte* workspace_ = nullptr;
  size_t workspace_bytes_ = 0;
  bool right_ = true;
};

int run(std::span<char*> names) {
  const std::unique_ptr<Card> card = first_card();
  if (!card) return 0;
  Table table(*card);
  bool right = true;
  for (const DType dtype : {DType::q4_k, DType::q6_k, DType::q4_0, DType::q4_1, DType::q8_0, DType::bf16}) {
    const bool named = std::any_of(names.begin(), names.end(), [&](const char* name) {
      return name_of(dtype) == std::string_view(name);
    });
    if (names.empty() || named) right = table.add(dtype) && right;
  }
  table.print_crossovers();
  return right ? 0 : 1;
}

}  // namespace
}  // namespace orrery::kernels

int main(int argc, char** argv) {
  try {
    return orrery::kernels::run({argv + 1, argv + argc});
  } catch (const orrery::kernels::DeviceError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
