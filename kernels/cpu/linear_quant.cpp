// Rows cpu.<isa>.matvec and cpu.avx512_vnni.tiles: 16-bit integer activations on quantised weights as stored;
// those of int8: 8-bit ones, half the products, where there is VNNI.
//   First the activations are rounded into the workspace, one record a token and activation block size;
//   then threads sum rows. workspace: records [forms][tokens], then per thread the up half of a gated panel
//   and a tile panel
#include "kernels/cpu/linear_share.h"

namespace orrery::kernels {
namespace {

enum class Way : uint8_t { rows, tiles };
/// Of the activations: two of 8 bits, or one.
enum class Halves : int { one = 1, two = 2 };

constexpr int64_t kMostRowTokens = 8;

SharePlan quant_plan(Way way) {
  return way == Way::tiles ? SharePlan{kTilePanel, kTilePanel} : SharePlan{16, 1024};
}

size_t align64(size_t bytes) { return (bytes + 63) / 64 * 64; }

/// Where things lie in the workspace of one call.
struct Scratch {
  size_t record[2] = {0, 0};   // bytes of a token's record, 0 when no segment reads that form
  size_t records[2] = {0, 0};  // offset of the form's records
  size_t threads_at = 0;       // offset of the per-thread parts
  size_t panel_at = 0;         // offset of the panel in a thread's part
  size_t thread_bytes = 0;

  Scratch(const Linear::Problem& problem, int64_t tokens, Way way, Halves halves) {
    for (int s = 0; s < problem.segment_count; ++s) {
      const ActivationBlock block = activation_block(problem.segments[s].weight);
      record[static_cast<int>(block)] =
          activation_layout(block, problem.cols, static_cast<int>(halves)).bytes;
    }
    for (int form = 0; form < 2; ++form) {
      records[form] = threads_at;
      threads_at += static_cast<size_t>(tokens) * record[form];
    }
    panel_at = align64(static_cast<size_t>(up_scratch(problem, tokens, quant_plan(way))) * sizeof(float));
    thread_bytes = panel_at + (way == Way::tiles ? align64(tile_scratch_bytes(problem.cols)) : 0);
  }
  size_t total(int threads) const { return threads_at + thread_bytes * static_cast<size_t>(threads); }
};

std::string supports(CpuFeatures needed, Way way, Halves halves, const Linear::Problem& problem,
                     const Machine& machine) {
  if (std::string reason = linear_refusal(problem); !reason.empty()) return reason;
  for (int s = 0; s < problem.segment_count; ++s) {
    const DType dtype = problem.segments[s].weight;
    if (!is_quantised(dtype))
      return std::string(name_of(dtype)) + " weights; this row reads quantised blocks";
  }
  if (std::string reason = missing(needed, machine); !reason.empty()) return reason;
  const Rounded rounded = halves == Halves::one ? Rounded::int8 : Rounded::int16;
  if (std::string reason = too_coarse(problem.precision, rounded); !reason.empty()) return reason;
  const std::string tokens = problem.tokens == 1 ? "1 token" : std::to_string(problem.tokens) + " tokens";
  if (way == Way::rows && needed == kAvx512Vnni && problem.tokens > kMostRowTokens) {
    return tokens + "; walking rows pays up to " + std::to_string(kMostRowTokens);
  }
  if (way == Way::tiles && problem.tokens <= kMostRowTokens) {
    return tokens + "; tiles pay from " + std::to_string(kMostRowTokens + 1);
  }
  return "";
}

template <Way way, Halves halves>
size_t workspace_of(const Linear::Problem& problem, const Machine&, int threads) {
  return Scratch(problem, problem.tokens, way, halves).total(threads);
}

void quantise(const Linear::Args& args, const Launch& launch, const LinearTable& table, Halves halves,
              const Scratch& scratch) {
  split_tokens(args, launch, [&](ThreadTeam::Range tokens) {
    for (int form = 0; form < 2; ++form) {
      if (scratch.record[form] == 0) continue;
      for (int64_t t = tokens.begin; t < tokens.end; ++t)
        table.quantise(
            static_cast<ActivationBlock>(form), static_cast<int>(halves), args.src + t * args.src_stride,
            args.problem.cols,
            launch.workspace + scratch.records[form] + static_cast<size_t>(t) * scratch.record[form]);
    }
  });
}

template <const LinearTable& table, Way way, Halves halves>
void run(const Linear::Args& args, const Launch& launch) {
  const Scratch scratch(args.problem, args.tokens, way, halves);
  const SharePlan plan = quant_plan(way);
  quantise(args, launch, table, halves, scratch);
  split_rows(args, launch, plan.grain, [&](int segment, ThreadTeam::Range rows, int thread) {
    std::byte* own =
        launch.workspace + scratch.threads_at + scratch.thread_bytes * static_cast<size_t>(thread);
    const auto sum = [&](const SumTarget& target) {
      const DType dtype = args.problem.segments[target.segment].weight;
      const auto form = static_cast<size_t>(activation_block(dtype));
      (way == Way::tiles ? table.quant_tiles : table.quant_rows)(
          {.weight = dtype,
           .matrix = static_cast<const std::byte*>(args.operands[target.segment].weight),
           .row_bytes = row_bytes(dtype, args.problem.cols).value_or(0),
           .cols = args.problem.cols,
           .activations = launch.workspace + scratch.records[form],
           .halves = static_cast<int>(halves),
           .tokens = args.tokens,
           .dst = target.dst,
           .dst_stride = target.dst_stride,
           .begin = target.begin,
           .end = target.end,
           .scratch = own + scratch.panel_at});
    };
    finish_rows(args, table, segment, rows, plan.panel, reinterpret_cast<float*>(own), sum);
  });
}

template <const LinearTable& table, CpuFeatures needed, Way way, Halves halves>
constexpr LinearFunctions functions() {
  return {[](const Linear::Problem& p, const Machine& m) { return supports(needed, way, halves, p, m); },
          run<table, way, halves>, workspace_of<way, halves>};
}

}  // namespace

const LinearFunctions kMatvecAvx512 = functions<avx512_vnni::kLinear, kAvx512Vnni, Way::rows, Halves::two>();
const LinearFunctions kTilesAvx512 = functions<avx512_vnni::kLinear, kAvx512Vnni, Way::tiles, Halves::two>();
const LinearFunctions kMatvecAvx2Vnni = functions<avx2_vnni::kLinear, kAvx2Vnni, Way::rows, Halves::two>();
const LinearFunctions kMatvecAvx2 = functions<avx2::kLinear, kAvx2, Way::rows, Halves::two>();
const LinearFunctions kMatvecInt8Avx512 =
    functions<avx512_vnni::kLinear, kAvx512Vnni, Way::rows, Halves::one>();
const LinearFunctions kTilesInt8Avx512 =
    functions<avx512_vnni::kLinear, kAvx512Vnni, Way::tiles, Halves::one>();
const LinearFunctions kMatvecInt8Avx2Vnni =
    functions<avx2_vnni::kLinear, kAvx2Vnni, Way::rows, Halves::one>();

}  // namespace orrery::kernels
