// Time of the card's rows on the steps of a sentence encoder of BERT's size: 768 wide, 12 heads of 64, MLP of
// 3072, bf16 weights, texts of 128 tokens.
//   device_bench [PART]      only the cases whose name has PART; on the first CUDA device
// Each case: microseconds of a call among 20 that are captured and launched as a graph, and of a call that is
// launched alone, host included; TFLOP/s and GB/s of the first. Small cases find their operands in the cache,
// as they do in a model. A row is checked against the CPU's reference before it is timed.
#include <chrono>
#include <string>

#include "kernels/attention.h"
#include "kernels/linear.h"
#include "kernels/norm.h"
#include "tests/bench/card.h"

namespace orrery::kernels {
namespace {

using namespace bench;

constexpr int64_t kWidth = 768, kHeads = 12, kInner = 3072, kText = 128;
constexpr double kTolerance = 5e-3;  // of the largest element: rounded to 8 or 11 bits, sums of up to 3072

/// One call of one row, ready to be launched.
struct Call {
  std::string row;
  std::function<void()> launch;
  double flops = 0, bytes = 0, difference = 0;
};

template <class Op>
Call call_of(Card& card, std::span<const Row<Op>> rows, const typename Op::Problem& problem,
             const typename Op::Args& args) {
  const Row<Op>& row = *select(rows, problem, machine_of(DeviceKind::cuda)).row;
  std::byte* workspace =
      card.memory(row.workspace != nullptr ? row.workspace(problem, machine_of(DeviceKind::cuda), 0) : 0);
  const Launch launch{.workspace = workspace, .stream = card.device().stream()};
  return {.row = std::string(row.name), .launch = [&row, args, launch] { row.run(args, launch); }};
}

Call attention(Card& card, int64_t tokens) {
  const int64_t texts = tokens / kText;
  const std::vector<float> values = random_floats(3 * tokens * kWidth);
  const float* host = values.data();
  const float* there = card.put(values);
  std::vector<int32_t> starts, lengths(static_cast<size_t>(texts), kText);
  for (int64_t text = 0; text <= texts; ++text) starts.push_back(static_cast<int32_t>(text * kText));
  Attention::Args args;
  args.problem = {.keys = Attention::Keys::packed,
                  .kv = DType::f32,
                  .heads = kHeads,
                  .kv_heads = kHeads,
                  .head_dim = kWidth / kHeads,
                  .tokens = tokens,
                  .causal = false};
  args.query_stride = args.key_stride = args.value_stride = args.dst_stride = kWidth;
  args.scale = 0.125F;
  args.ragged = {.sequences = texts, .max_length = kText};
  const auto with = [&](const float* base, float* dst, const int32_t* first, const int32_t* length) {
    Attention::Args with = args;
    with.query = base, with.key = base + tokens * kWidth, with.value = base + 2 * tokens * kWidth;
    with.dst = dst, with.ragged.sequence_starts = first, with.ragged.kv_lengths = length;
    return with;
  };
  auto* dst = reinterpret_cast<float*>(card.memory(static_cast<size_t>(tokens * kWidth) * sizeof(float)));
  Call call = call_of<Attention>(card, rows_of<Attention>(DeviceKind::cuda), args.problem,
                                 with(there, dst, card.put(starts), card.put(lengths)));
  call.launch();
  std::vector<float> expected(static_cast<size_t>(kText * kWidth));
  args.ragged.sequences = 1;
  run_reference<Attention>(attention_rows(), args.problem,
                           with(host, expected.data(), starts.data(), lengths.data()));
  call.difference = worst_difference(card.get(dst, kText * kWidth), expected);
  call.flops = 4.0 * static_cast<double>(tokens * kText * kWidth);
  call.bytes = 16.0 * static_cast<double>(tokens * kWidth);
  return call;
}

struct Dense {
  int64_t rows, cols;
  int segments = 1;
  Epilogue epilogue = Epilogue::none;
};

Call dense(Card& card, int64_t tokens, const Dense& shape) {
  const std::vector<float> src = random_floats(tokens * shape.cols), bias = random_floats(shape.rows);
  const std::vector<float> row = random_floats(shape.rows * shape.cols, 0.03F);
  std::vector<std::byte> weight(row_bytes(DType::bf16, shape.rows * shape.cols).value());
  quantise_row(DType::bf16, row.data(), shape.rows * shape.cols, weight.data());
  Linear::Args args;
  args.tokens = tokens;
  args.src = card.put(src);
  args.src_stride = shape.cols;
  args.problem = {.tokens = tokens,
                  .min_tokens = tokens,
                  .cols = shape.cols,
                  .segment_count = shape.segments,
                  .epilogue = shape.epilogue};
  for (size_t s = 0; s < static_cast<size_t>(shape.segments); ++s) {
    args.problem.segments[s] = {shape.rows, DType::bf16, true};
    auto* dst = card.memory(static_cast<size_t>(tokens * shape.rows) * sizeof(float));
    args.operands[s] = {card.put(weight), card.put(bias), reinterpret_cast<float*>(dst), shape.rows};
  }
  Call call = call_of<Linear>(card, rows_of<Linear>(DeviceKind::cuda), args.problem, args);
  call.launch();
  const int64_t few = std::min<int64_t>(tokens, 4);
  const auto last = static_cast<size_t>(shape.segments - 1);
  const std::vector<float> actual = card.get(args.operands[last].dst, few * shape.rows);
  std::vector<float> expected(actual.size());
  Linear::Args host = args;
  host.tokens = host.problem.tokens = host.problem.min_tokens = few;
  host.src = src.data();
  host.problem.segment_count = 1;
  host.operands[0] = {weight.data(), bias.data(), expected.data(), shape.rows};
  run_reference<Linear>(linear_rows(), host.problem, host);
  call.difference = worst_difference(actual, expected);
  const auto outputs = static_cast<double>(shape.segments * shape.rows);
  call.flops = 2 * static_cast<double>(tokens * shape.cols) * outputs;
  call.bytes = 4.0 * static_cast<double>(tokens) * (outputs + static_cast<double>(shape.cols)) +
               2.0 * static_cast<double>(shape.cols) * outputs;
  return call;
}

Call norm(Card& card, int64_t tokens) {
  const std::vector<float> src = random_floats(tokens * kWidth), residual(src.rbegin(), src.rend());
  const std::vector<float> weight = random_floats(kWidth), bias(weight.rbegin(), weight.rend());
  std::vector<float> expected(src.size());
  const Norm::Problem problem{.kind = Norm::Kind::layer, .cols = kWidth, .residual = true};
  Norm::Args args{.kind = problem.kind,
                  .src = src.data(),
                  .residual = residual.data(),
                  .dst = expected.data(),
                  .weight = weight.data(),
                  .bias = bias.data(),
                  .tokens = tokens,
                  .cols = kWidth};
  run_reference<Norm>(norm_rows(), problem, args);
  auto* dst = reinterpret_cast<float*>(card.memory(src.size() * sizeof(float)));
  args.src = card.put(src), args.residual = card.put(residual), args.dst = dst;
  args.weight = card.put(weight), args.bias = card.put(bias);
  Call call = call_of<Norm>(card, rows_of<Norm>(DeviceKind::cuda), problem, args);
  call.launch();
  call.difference = worst_difference(card.get(dst, tokens * kWidth), expected);
  call.bytes = 12.0 * static_cast<double>(tokens * kWidth);
  return call;
}

/// Microseconds of a call that is launched, one after the other.
double launched_time(Device& device, const Call& call) {
  constexpr int kCalls = 100;
  device.wait();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kCalls; ++i) call.launch();
  device.wait();
  const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - start;
  return taken.count() / kCalls;
}

/// False when the row is wrong.
bool report(Card& card, const std::string& name, const Call& call) {
  if (!(call.difference < kTolerance)) {
    std::printf("%-22s %-18s wrong by %.1e of the largest element\n", name.c_str(), call.row.c_str(),
                call.difference);
    return false;
  }
  const double time = graph_time(card.device(), 20, 11, [&](int) { call.launch(); });
  std::printf("%-22s %-18s %9.2f us  %9.2f us launched  %6.1f TFLOP/s  %6.0f GB/s  (off by %.1e)\n",
              name.c_str(), call.row.c_str(), time, launched_time(card.device(), call),
              call.flops / time * 1e-6, call.bytes / time * 1e-3, call.difference);
  return true;
}

int run(const std::string& part) {
  const std::unique_ptr<Card> found = first_card();
  if (!found) return 0;
  Card& card = *found;
  bool right = true;
  for (const int64_t tokens : {128, 4096, 8192}) {
    const std::pair<const char*, std::function<Call()>> cases[] = {
        {"attention", [&] { return attention(card, tokens); }},
        {"qkv",
         [&] {
           return dense(card, tokens, {kWidth, kWidth, 3});
         }},
        {"out",
         [&] {
           return dense(card, tokens, {kWidth, kWidth});
         }},
        {"up_gelu",
         [&] {
           return dense(card, tokens, {kInner, kWidth, 1, Epilogue::gelu_erf});
         }},
        {"down",
         [&] {
           return dense(card, tokens, {kWidth, kInner});
         }},
        {"add_layer_norm", [&] { return norm(card, tokens); }},
    };
    for (const auto& [kind, make] : cases) {
      const std::string name = std::string(kind) + "/" + std::to_string(tokens);
      if (name.find(part) == std::string::npos) continue;
      right = report(card, name, make()) && right;
      card.clear();
    }
  }
  return right ? 0 : 1;
}

}  // namespace
}  // namespace orrery::kernels

int main(int argc, char** argv) {
  try {
    return orrery::kernels::run(argc > 1 ? argv[1] : "");
  } catch (const orrery::kernels::DeviceError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
