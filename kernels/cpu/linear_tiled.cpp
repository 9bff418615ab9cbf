// Rows cpu.amx_bf16.tiles and cpu.avx512_bf16.tiles: dense weights in tiles (TiledShare has the packed form)
// times bf16 tokens.
//   src: all threads first round it into rows that lie 64 bytes further apart than they are long, for AMX:
//     of rows of 1,536 bytes, say, the 32 of a block would meet in an eighth of L1's sets. What came rounded
//     is copied so too where it makes more than one block; without AMX it is read in place
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

constexpr int64_t kColumnBlock = 32;
constexpr int64_t kRowGap = 32;              // elements between the rows of a copy
constexpr int64_t kGrain = 2 * kTiledSlice;  // rows of a chunk: each begins with weights not asked for yet

/// What one row of the list has for itself.
struct Tiles {
  CpuFeatures features;
  void (*multiply)(const TiledShare& share);
  int64_t step;  // tokens that are summed at once
  bool spread;   // rows of src lie apart where there is more than one block
};
constexpr Tiles kAmx{kAmxBf16, amx_bf16::linear_tiled, kTiledTokens, true};
constexpr Tiles kVectors{kAvx512Bf16, avx512_bf16::linear_tiled, 12, false};

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

/// How a call reads src.
struct Source {
  const uint16_t* tokens;
  int64_t stride;  // elements
};

template <const Tiles& kTiles>
bool read_in_place(const Linear::Problem& problem, int64_t tokens) {
  return problem.src == DType::bf16 && (!kTiles.spread || tokens <= kTiles.step);
}

template <const Tiles& kTiles>
int64_t copy_stride(int64_t cols) {
  return cols + (kTiles.spread ? kRowGap : 0);
}

/// Bytes of src as the tiles read it, where that is not in place.
template <const Tiles& kTiles>
size_t copy_bytes(const Linear::Problem& problem, int64_t tokens) {
  if (read_in_place<kTiles>(problem, tokens)) return 0;
  return (static_cast<size_t>(tokens * copy_stride<kTiles>(problem.cols)) * sizeof(uint16_t) + 63) / 64 * 64;
}

template <const Tiles& kTiles>
Source source_of(const Linear::Args& args, const Launch& launch) {
  const auto* stored = reinterpret_cast<const uint16_t*>(args.src);
  if (read_in_place<kTiles>(args.problem, args.tokens)) return {stored, args.src_stride};
  const int64_t cols = args.problem.cols, stride = copy_stride<kTiles>(cols);
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

/// Of equal blocks of all tokens, each a multiple of `step` and no more than half of L2 keeps while the
/// slices of weights pass.
int64_t block_tokens(int64_t tokens, int64_t row_bytes, int64_t step) {
  const auto most_bytes = static_cast<int64_t>(this_machine().cpu.l2_bytes) / 2;
  const int64_t most = std::max<int64_t>(1, most_bytes / (row_bytes * step)) * step;
  const int64_t blocks = (tokens + most - 1) / most, each = (tokens + blocks - 1) / blocks;
  return (each + step - 1) / step * step;
}

/// All rows of all segments, by blocks of so many tokens.
template <const Tiles& kTiles>
void multiply(const Linear::Args& args, Source source, int64_t block, const Launch& launch,
              std::byte* scratch) {
  const DType dst = args.problem.dst;
  const auto slice = [&](int segment, int64_t row) {
    return static_cast<const uint16_t*>(args.operands[segment].weight) + row * args.problem.cols;
  };
  split_blocks(args, launch, kGrain, block,
               [&](int segment, ThreadTeam::Range rows, ThreadTeam::Range tokens, int thread) {
                 const Linear::Operand& operand = args.operands[segment];
                 LinearFinish finish = finish_of(args, segment, rows.begin, rows.end - rows.begin);
                 finish.tokens = tokens.end - tokens.begin;
                 finish.dst = element_of(operand.dst, dst, tokens.begin * operand.dst_stride + rows.begin);
                 finish.rounded = dst == DType::bf16;
                 kTiles.multiply({.src = source.tokens + tokens.begin * source.stride,
                                  .src_stride = source.stride,
                                  .cols = args.problem.cols,
                                  .weight = slice(segment, rows.begin),
                                  .up = is_gated(args.problem.epilogue) ? slice(1, rows.begin) : nullptr,
                                  .finish = finish,
                                  .finish_block = avx512::kLinear.finish,
                                  .scratch = reinterpret_cast<float*>(scratch) + thread * kTiledScratch});
               });
}

template <const Tiles& kTiles>
std::string supports(const Linear::Problem& problem, const Machine& machine) {
  if (std::string reason = packed_refusal(problem, kColumnBlock); !reason.empty()) return reason;
  if (std::string reason = too_coarse(problem.precision, Rounded::bf16); !reason.empty()) return reason;
  return missing(kTiles.features, machine);
}

template <const Tiles& kTiles>
size_t workspace(const Linear::Problem& problem, const Machine&, int threads) {
  return copy_bytes<kTiles>(problem, problem.tokens) +
         static_cast<size_t>(kTiledScratch * threads) * sizeof(float);
}

template <const Tiles& kTiles>
void run(const Linear::Args& args, const Launch& launch) {
  const Source source = source_of<kTiles>(args, launch);
  std::byte* scratch = launch.workspace + copy_bytes<kTiles>(args.problem, args.tokens);
  const int64_t block = block_tokens(args.tokens, source.stride * int64_t{sizeof(uint16_t)}, kTiles.step);
  multiply<kTiles>(args, source, block, launch, scratch);
}

template <const Tiles& kTiles>
constexpr LinearFunctions kFunctions{supports<kTiles>, run<kTiles>, workspace<kTiles>};

}  // namespace

const LinearFunctions kTiledAmx = kFunctions<kAmx>, kTiledAvx512Bf16 = kFunctions<kVectors>;

const WeightPacking* tiled_packing(const Linear::Problem&) { return &kPacking; }

}  // namespace orrery::kernels
