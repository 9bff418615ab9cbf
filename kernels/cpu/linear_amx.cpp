// Row cpu.amx_bf16.tiles: dense weights in tiles (TiledShare has the packed form) times bf16 tokens.
//   src: all threads first round it, or copy it where it came rounded and makes more than one block, into
//     rows that lie 64 bytes further apart than they are long: of rows of 1,536 bytes, say, 32 would meet in
//     an eighth of L1's sets
//   dst: f32, or rounded
//   Threads own whole slices of 32 rows. Many tokens go by in blocks that L2 keeps while the slices pass.
//   workspace: src as above, then each thread's sums
//   traffic: packed weights once per block of tokens, src once per slice (from L2)
#include <cstring>

#include "kernels/cpu/linear_share.h"
#include "kernels/cpu/storage.h"
#include "kernels/half.h"

namespace orrery::kernels {
namespace {

constexpr int64_t kBlockBytes = 1 << 20;     // of tokens: half of the L2 that each core with AMX has
constexpr int64_t kBlockStep = 64;           // tokens
constexpr int64_t kRowGap = 32;              // elements between the rows of a copy
constexpr int64_t kGrain = 2 * kTiledSlice;  // rows of a chunk: each begins with weights not asked for yet

int64_t padded_rows(int64_t rows) { return (rows + kTiledSlice - 1) / kTiledSlice * kTiledSlice; }

/// Where element (row, col) of a weight lies in the packed form.
int64_t packed_index(int64_t row, int64_t col, int64_t cols) {
  constexpr int64_t kTile = 16 * 32;
  const int64_t tile = row / 32 * (cols / 16) + col / 32 * 2 + row % 32 / 16;
  return tile * kTile + col % 32 / 2 * 32 + row % 16 * 2 + col % 2;
}

size_t packed_bytes(DType, int64_t rows, int64_t cols) {
  return static_cast<size_t>(padded_rows(rows) * cols) * sizeof(uint16_t);
}

void pack(const void* stored, DType dtype, int64_t rows, int64_t cols, void* packed, ThreadTeam& team) {
  const size_t stored_bytes = row_bytes(dtype, cols).value_or(0);
  std::vector<float> all_values(static_cast<size_t>(cols * team.size()));
  team.run(padded_rows(rows), kTiledSlice, [&](ThreadTeam::Range chunk, int thread) {
    float* values = all_values.data() + cols * thread;
    for (int64_t r = chunk.begin; r < chunk.end; ++r) {
      if (r < rows) {
        dequantise_row(dtype, static_cast<const std::byte*>(stored) + static_cast<size_t>(r) * stored_bytes,
                       cols, values);
      } else {
        std::fill_n(values, cols, 0.0F);
      }
      for (int64_t k = 0; k < cols; ++k)
        static_cast<uint16_t*>(packed)[packed_index(r, k, cols)] = bf16_from_float(values[k]);
    }
  });
}

constexpr WeightPacking kPacking{"bf16 in tiles", packed_bytes, pack};

bool read_in_place(const Linear::Problem& problem, int64_t tokens) {
  return problem.src == DType::bf16 && tokens <= kTiledTokens;
}

/// Bytes of src as the tiles read it, where that is not in place.
size_t copy_bytes(const Linear::Problem& problem, int64_t tokens) {
  if (read_in_place(problem, tokens)) return 0;
  return (static_cast<size_t>(tokens * (problem.cols + kRowGap)) * sizeof(uint16_t) + 63) / 64 * 64;
}

/// The tokens as bf16.
struct Source {
  const uint16_t* tokens;
  int64_t stride;  // elements
};

Source source_of(const Linear::Args& args, const Launch& launch) {
  const auto* stored = reinterpret_cast<const uint16_t*>(args.src);
  if (read_in_place(args.problem, args.tokens)) return {stored, args.src_stride};
  const int64_t cols = args.problem.cols, stride = cols + kRowGap;
  auto* copy = reinterpret_cast<uint16_t*>(launch.workspace);
  split_tokens(args, launch, [&](ThreadTeam::Range tokens) {
    for (int64_t t = tokens.begin; t < tokens.end; ++t) {
      if (args.problem.src == DType::bf16) {
        std::memcpy(copy + t * stride, stored + t * args.src_stride,
                    static_cast<size_t>(cols) * sizeof(uint16_t));
      } else {
        avx512::kLinear.to_bf16(args.src + t * args.src_stride, cols, copy + t * stride);
      }
    }
  });
  return {copy, stride};
}

/// Of equal blocks of tokens that L2 keeps.
int64_t block_tokens(int64_t tokens, int64_t cols) {
  const int64_t row = (cols + kRowGap) * int64_t{sizeof(uint16_t)};
  const int64_t most = std::max(kBlockStep, kBlockBytes / row / kBlockStep * kBlockStep);
  const int64_t blocks = (tokens + most - 1) / most, each = (tokens + blocks - 1) / blocks;
  return (each + kBlockStep - 1) / kBlockStep * kBlockStep;
}

/// The tokens from `first` on, as a call of their own.
Linear::Args part_of(const Linear::Args& args, int64_t first, int64_t tokens) {
  Linear::Args part = args;
  part.tokens = tokens;
  for (int s = 0; s < args.problem.segment_count; ++s) {
    const Linear::Operand& operand = args.operands[s];
    if (operand.dst != nullptr)
      part.operands[s].dst = element_of(operand.dst, args.problem.dst, first * operand.dst_stride);
  }
  return part;
}

/// All rows of all segments.
void multiply(const Linear::Args& args, Source source, const Launch& launch, std::byte* scratch) {
  const auto slice = [&](int segment, int64_t row) {
    return static_cast<const uint16_t*>(args.operands[segment].weight) + row * args.problem.cols;
  };
  split_rows(args, launch, kGrain, [&](int segment, ThreadTeam::Range rows, int thread) {
    LinearFinish finish = finish_of(args, segment, rows.begin, rows.end - rows.begin);
    finish.dst = element_of(args.operands[segment].dst, args.problem.dst, rows.begin);
    finish.rounded = args.problem.dst == DType::bf16;
    amx_bf16::linear_tiled({.src = source.tokens,
                            .src_stride = source.stride,
                            .cols = args.problem.cols,
                            .weight = slice(segment, rows.begin),
                            .up = is_gated(args.problem.epilogue) ? slice(1, rows.begin) : nullptr,
                            .finish = finish,
                            .finish_block = avx512::kLinear.finish,
                            .scratch = reinterpret_cast<float*>(scratch) + thread * kTiledScratch});
  });
}

}  // namespace

std::string supports_amx(const Linear::Problem& problem, const Machine& machine) {
  if (std::string reason = dense_bf16_refusal(problem); !reason.empty()) return reason;
  return missing(kAmxBf16, machine);
}

size_t amx_workspace(const Linear::Problem& problem, const Machine&, int threads) {
  return copy_bytes(problem, problem.tokens) + static_cast<size_t>(kTiledScratch * threads) * sizeof(float);
}

const WeightPacking* amx_packing(const Linear::Problem&) { return &kPacking; }

void run_amx(const Linear::Args& args, const Launch& launch) {
  const Source source = source_of(args, launch);
  std::byte* scratch = launch.workspace + copy_bytes(args.problem, args.tokens);
  const int64_t each = block_tokens(args.tokens, args.problem.cols);
  for (int64_t t = 0; t < args.tokens; t += each)
    multiply(part_of(args, t, std::min(each, args.tokens - t)),
             {source.tokens + t * source.stride, source.stride}, launch, scratch);
}

}  // namespace orrery::kernels
