// The kernels of row cuda.tiles: more tokens than pay one by one, too few to pay for widening the weights.
//   dst_s = epilogue(src * w_s^T + bias_s) by mma.m16n8k16: 16 rows of a matrix times 8 tokens.
//
// Numbers: quants become f16 integers exactly. A token of src is scaled by a power of two (its largest
// magnitude becomes 2^13 to 2^14) and rounded to f16; with two planes, hi + lo, 22 bits of it count. Products
// of a block go into float32 sums, which are multiplied with its scale; mins are added by float32 sums of
// what src was rounded to. So only src is rounded.
//
//   lay      src to the order in which lanes read it: by slice of tokens and group of 128 columns, for each
//            plane, 8 tokens and block 16 bytes of each lane; then the sums of blocks. A block of threads
//            owns a token; tokens that fill up the slice are zero.
//   tiles    a unit is a tile of rows by a group of columns. The blocks of a slice take equal runs of all
//            units, so that every multiprocessor has as much to do whatever the shape is. A warp owns 16 or
//            32 rows (gated: half of gate, half of up, both then in one lane) and all tokens of the slice.
//            src comes into shared memory by cp.async, some units ahead; weights into registers, one ahead. A
//            tile that one block did whole goes to dst, parts of one to the workspace.
//   finish   adds the parts of tiles, in the order of the blocks, and writes them to dst.
// So the order of a sum depends on the problem, not on the other tokens of the call.
//
// Preconditions: weights quantised, 16-byte aligned and all of one type; gate and up of equal rows.
//
// Bytes: weights once (slices run beside each other, so all but one find them in L2); src once a tile of
// rows, from L2; parts of tiles 8 an element, from L2.
#pragma once

#include "kernels/cuda/device/async_copy.cuh"
#include "kernels/cuda/device/block_reduce.cuh"
#include "kernels/cuda/device/linear_group.cuh"
#include "kernels/cuda/device/linear_products.cuh"
#include "kernels/cuda/device/one_wave.cuh"

namespace orrery::kernels::cuda::linear_tiles {

constexpr int kWarps = 8, kThreads = 32 * kWarps;
constexpr int kGroupCols = static_cast<int>(kGroup);
constexpr int kTileTokens = 8, kTileRows = 16;  // of a product
constexpr int kLaneBytes = 2048;                // of src: a group of 8 tokens, a plane
constexpr int kSumBytes = 128;                  // a group of 8 tokens

/// How a problem is cut: tiles of 8 tokens in a slice, of 16 rows a warp, planes of src, blocks on a
/// multiprocessor, units of src on the way or in use.
template <int token_tiles, int row_tiles, int planes, int blocks, int stages>
struct Shape {
  static constexpr int kTokenTiles = token_tiles, kRowTiles = row_tiles, kPlanes = planes;
  static constexpr int kBlocks = blocks, kStages = stages;
  static constexpr int kTokens = token_tiles * kTileTokens;
  static constexpr int kRows = kWarps * row_tiles * kTileRows;
  static constexpr int kPairs = kWarps * row_tiles * token_tiles;  // of 16 rows and 8 tokens, in a tile
  static constexpr int kSums = planes * token_tiles * kLaneBytes;  // where they begin in a group of src
  static constexpr int kGroupBytes = kSums + token_tiles * kSumBytes;
  static constexpr int kResults = stages * kGroupBytes;  // where they begin in shared memory
  static constexpr size_t kShared = kResults + kPairs * 32 * sizeof(float4);
};

// ---- lay ----

struct Lay {
  const float* src;
  uint8_t* dst;    // (slices, groups, kGroupBytes)
  float* unscale;  // (slices * tokens of one)
  int64_t src_stride;
  int cols, groups, tokens;
};

/// Four columns of a token; zero behind the last of either.
template <bool kWide>
__device__ inline void load_columns(const Lay& p, int token, int column, float (&x)[4]) {
  load_four(p.src + token * p.src_stride + column, token < p.tokens ? p.cols - column : 0, kWide, x);
}

/// Columns 4 * four to 4 * four + 3 of a token, scaled, to their places; a warp has a group.
template <class S>
__device__ inline void store_four(const Lay& p, int token, int four, float (&x)[4]) {
  const int slice = token / S::kTokens, tile = token % S::kTokens / kTileTokens, g = token % kTileTokens;
  const int block = four % 32 / 8, half = four % 8 / 4, t = four % 4;
  uint8_t* group = p.dst + (static_cast<int64_t>(slice) * p.groups + four / 32) * S::kGroupBytes;
  const float given = (x[0] + x[1]) + (x[2] + x[3]);
#pragma unroll
  for (int plane = 0; plane < S::kPlanes; ++plane)
    split_off<__half>(
        x, group + (plane * S::kTokenTiles + tile) * kLaneBytes + block * 512 + (4 * g + t) * 16 + half * 8);
  float sum = given - ((x[0] + x[1]) + (x[2] + x[3]));
#pragma unroll
  for (int offset = 1; offset < 8; offset *= 2) sum += __shfl_xor_sync(kWholeWarp, sum, offset);
  if (four % 8 == 0)
    store_block_sum(reinterpret_cast<__half*>(group + S::kSums + tile * kSumBytes + g * 16), block, sum);
}

template <class S, bool kWide>
__global__ void __launch_bounds__(1024) lay_kernel(const Lay p) {
  __shared__ float shared[kWarp];
  pdl_wait();
  pdl_trigger_in_one_wave();
  const int token = static_cast<int>(blockIdx.x), fours = p.groups * 32;
  const int step = static_cast<int>(blockDim.x);
  float x[4];
  float most = 0.0F;
  for (int four = static_cast<int>(threadIdx.x); four < fours; four += step) {
    load_columns<kWide>(p, token, 4 * four, x);
    most = fmaxf(most, fmaxf(fmaxf(fabsf(x[0]), fabsf(x[1])), fmaxf(fabsf(x[2]), fabsf(x[3]))));
  }
  const int exponent = scale_exponent(block_reduce(most, 0.0F, Larger{}, shared));
  const float scale = power_of_two(exponent);
  if (threadIdx.x == 0) p.unscale[token] = power_of_two(-exponent);
  for (int four = static_cast<int>(threadIdx.x); four < fours; four += step) {
    if (fours > step) load_columns<kWide>(p, token, 4 * four, x);  // else it is still there
#pragma unroll
    for (float& value : x) value *= scale;
    store_four<S>(p, token, four, x);
  }
}

// ---- tiles ----

struct Part {  // a segment; gated: both
  const uint8_t* weight[2];
  const float* bias[2];
  float* dst;
  int64_t dst_stride;
  int rows, first_tile;
};

struct Tiles {
  Part parts[Linear::kMaxSegments];
  PackedRow at;
  const uint8_t* src;  // as lay leaves it
  const float* unscale;
  float4* partial;  // (slices, 2 * blocks, kPairs, 32)
  int part_count, groups, tokens, blocks;
  int units_each, blocks_of_more;  // the first ones take a unit more
  Epilogue epilogue;
  bool gated;

  /// The units of a block: from its first one to the next block's.
  ORRERY_HOST_DEVICE int first_unit(int block) const {
    return block * units_each + (block < blocks_of_more ? block : blocks_of_more);
  }
};

/// Whose unit it is.
__device__ inline int block_of(const Tiles& p, int unit) {
  const int more = p.blocks_of_more * (p.units_each + 1);
  return unit < more ? unit / (p.units_each + 1) : p.blocks_of_more + (unit - more) / p.units_each;
}

__device__ inline const Part& part_of(const Tiles& p, int tile) {
  int s = 0;
  while (s + 1 < p.part_count && tile >= p.parts[s + 1].first_tile) ++s;
  return p.parts[s];
}

/// Where the 16 rows begin in their matrix; gated: 8 rows, in both.
template <class S>
__device__ inline int first_row(const Tiles& p, const Part& part, int tile, int row_tile) {
  const int in_part = tile - part.first_tile;
  return (in_part * (S::kRows / kTileRows) + row_tile) * (p.gated ? kTileRows / 2 : kTileRows);
}

/// The rows of a lane; behind the last row the last is read, and its result dropped.
template <class S>
__device__ inline void find_rows(const Tiles& p, int tile, RowPair (&rows)[S::kRowTiles]) {
  const int warp = static_cast<int>(threadIdx.x) / 32, g = static_cast<int>(threadIdx.x) % 32 / 4;
  const Part& part = part_of(p, tile);
#pragma unroll
  for (int m = 0; m < S::kRowTiles; ++m) {
    const int row = first_row<S>(p, part, tile, warp * S::kRowTiles + m) + g;
    const int64_t low = min(row, part.rows - 1), high = min(p.gated ? row : row + 8, part.rows - 1);
    rows[m] = {{part.weight[0] + low * p.at.stride, part.weight[p.gated ? 1 : 0] + high * p.at.stride}};
  }
}

/// A walk over units.
struct Walk {
  int tile, group;
  __device__ Walk(const Tiles& p, int unit) : tile(unit / p.groups), group(unit % p.groups) {}
  /// True where another tile begins.
  __device__ bool advance(const Tiles& p) {
    if (++group < p.groups) return false;
    group = 0;
    ++tile;
    return true;
  }
};

template <class S, int kBytes>
__device__ inline void copy_src(const Tiles& p, int group, uint32_t to) {
  const uint8_t* from = p.src + (static_cast<int64_t>(blockIdx.y) * p.groups + group) * S::kGroupBytes;
  for (int at = static_cast<int>(threadIdx.x) * 16; at < kBytes; at += kThreads * 16)
    copy_16(to + static_cast<uint32_t>(at), from + at, true);
}

/// sum += a group's part: of each tile rows g, g + 8 by tokens 2t, 2t + 1.
template <class L, class S>
__device__ inline void add_group(const L (&weights)[S::kRowTiles], const uint8_t* src, int group,
                                 float (&sum)[S::kRowTiles][S::kTokenTiles][4]) {
  constexpr int kAtOnce = L::kFolded ? 2 : 1;  // blocks that are scaled together
  constexpr int kScales = L::kHalves ? 2 : 1;
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int first = 0; first < 4; first += kAtOnce) {
    uint32_t a[S::kRowTiles][kAtOnce][2][4];
    float scales[S::kRowTiles][kScales][2];
    uint32_t half_mins[S::kRowTiles][2][4];
#pragma unroll
    for (int m = 0; m < S::kRowTiles; ++m) {
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) {
        uint32_t low[4], high[4];
        weights[m].pairs(0, first + j, group, low);
        weights[m].pairs(1, first + j, group, high);
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          a[m][j][i][0] = low[2 * i], a[m][j][i][1] = high[2 * i];
          a[m][j][i][2] = low[2 * i + 1], a[m][j][i][3] = high[2 * i + 1];
        }
      }
#pragma unroll
      for (int i = 0; i < kScales; ++i) {
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          if constexpr (L::kFolded)
            scales[m][i][r] = weights[m].factor(r);
          else
            scales[m][i][r] = weights[m].scale(r, first, i);
        }
      }
      if constexpr (L::kHalfMins) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          half_mins[m][i][0] = half_mins[m][i][2] = weights[m].half_min(0, first, i);
          half_mins[m][i][1] = half_mins[m][i][3] = weights[m].half_min(1, first, i);
        }
      }
    }
#pragma unroll
    for (int n = 0; n < S::kTokenTiles; ++n) {
      float c[S::kRowTiles][kScales][4] = {};
      float mins[S::kRowTiles][4] = {};
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) {
#pragma unroll
        for (int plane = 0; plane < S::kPlanes; ++plane) {
          const uint4 b = *reinterpret_cast<const uint4*>(src + (plane * S::kTokenTiles + n) * kLaneBytes +
                                                          (first + j) * 512 + lane * 16);
#pragma unroll
          for (int m = 0; m < S::kRowTiles; ++m) {
            mma_f16(c[m][0], a[m][j][0], b.x, b.y);
            mma_f16(c[m][kScales - 1], a[m][j][1], b.z, b.w);
            if constexpr (L::kHalfMins) {
              mma_f16(mins[m], half_mins[m][0], b.x, b.y);
              mma_f16(mins[m], half_mins[m][1], b.z, b.w);
            }
          }
        }
      }
#pragma unroll
      for (int m = 0; m < S::kRowTiles; ++m) {
#pragma unroll
        for (int i = 0; i < kScales; ++i) add_scaled(sum[m][n], scales[m][i][0], scales[m][i][1], c[m][i]);
        if constexpr (L::kHalfMins)
          add_scaled(sum[m][n], weights[m].min_factor(0), weights[m].min_factor(1), mins[m]);
      }
    }
  }
  if constexpr (L::kMins) {
#pragma unroll
    for (int n = 0; n < S::kTokenTiles; ++n) {
      const uint32_t sums = *reinterpret_cast<const uint32_t*>(src + S::kSums + n * kSumBytes + lane * 4);
#pragma unroll
      for (int m = 0; m < S::kRowTiles; ++m) add_mins(weights[m], group, sums, sum[m][n]);
    }
  }
}

/// A lane's results of 16 rows and 8 tokens to dst.
template <class S>
__device__ inline void store_pair(const Tiles& p, int slice, int tile, int pair, const float4& sums) {
  const int row_tile = pair / S::kTokenTiles, token_tile = pair % S::kTokenTiles;
  const float sum[4] = {sums.x, sums.y, sums.z, sums.w};
  const int g = static_cast<int>(threadIdx.x) % 32 / 4, t = static_cast<int>(threadIdx.x) % 4;
  const Part& part = part_of(p, tile);
  const int row = first_row<S>(p, part, tile, row_tile) + g;
#pragma unroll
  for (int e = 0; e < 2; ++e) {
    const int token = slice * S::kTokens + token_tile * kTileTokens + 2 * t + e;
    if (token >= p.tokens) continue;
    const float unscale = p.unscale[token];
    const auto result = [&](float value, const float* bias, int at) {
      return fmaf(value, unscale, bias != nullptr ? bias[at] : 0.0F);
    };
    float* dst = part.dst + token * part.dst_stride;
    if (p.gated) {
      if (row >= part.rows) continue;
      const float gate = activate(p.epilogue, result(sum[e], part.bias[0], row));
      dst[row] = gate * result(sum[2 + e], part.bias[1], row);
      continue;
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int at = row + 8 * r;
      if (at < part.rows) dst[at] = activate(p.epilogue, result(sum[2 * r + e], part.bias[0], at));
    }
  }
}

/// Where a block leaves its part of a tile: of the one that its run ends in, or of the one it begins in.
template <class S>
__device__ inline float4* part_at(const Tiles& p, int slice, int block, bool at_end, int pair) {
  const int64_t slot = 2 * (static_cast<int64_t>(slice) * p.blocks + block) + (at_end ? 1 : 0);
  return p.partial + (slot * S::kPairs + pair) * 32 + threadIdx.x % 32;
}

/// A warp's sums, by way of its own results in shared memory: a loop over registers would be unrolled with
/// all that a result takes.
template <class S>
__device__ inline void store_tile(const Tiles& p, int tile, bool from_start, bool to_end, float4* results,
                                  const float (&sum)[S::kRowTiles][S::kTokenTiles][4]) {
  constexpr int kPairs = S::kRowTiles * S::kTokenTiles;
  const int first = static_cast<int>(threadIdx.x) / 32 * kPairs, lane = static_cast<int>(threadIdx.x) % 32;
  float4* const own = results + first * 32 + lane;
#pragma unroll
  for (int m = 0; m < S::kRowTiles; ++m) {
#pragma unroll
    for (int n = 0; n < S::kTokenTiles; ++n) {
      const float(&s)[4] = sum[m][n];
      own[(m * S::kTokenTiles + n) * 32] = make_float4(s[0], s[1], s[2], s[3]);
    }
  }
  const int slice = static_cast<int>(blockIdx.y), block = static_cast<int>(blockIdx.x);
#pragma unroll 1
  for (int i = 0; i < kPairs; ++i) {
    const float4 s = own[i * 32];
    if (from_start && to_end)
      store_pair<S>(p, slice, tile, first + i, s);
    else
      *part_at<S>(p, slice, block, from_start, first + i) = s;
  }
}

template <DType dtype, class S>
__global__ void __launch_bounds__(kThreads, S::kBlocks) tiles_kernel(const __grid_constant__ Tiles p) {
  extern __shared__ __align__(128) uint8_t stages[];  // of src, then results
  using L = Lanes<dtype>;
  constexpr int kBytes = L::kMins ? S::kGroupBytes : S::kSums;
  const int begin = p.first_unit(static_cast<int>(blockIdx.x));
  const int end = p.first_unit(static_cast<int>(blockIdx.x) + 1);
  const int t = static_cast<int>(threadIdx.x) % 4;
  const auto stage_of = [&](int unit) { return (unit - begin) % S::kStages * S::kGroupBytes; };
  const auto shared = static_cast<uint32_t>(__cvta_generic_to_shared(stages));

  Walk walk(p, begin), ahead = walk, far = walk;  // what is added, what is loaded, what is copied
  RowPair rows[S::kRowTiles];
  L now[S::kRowTiles], next[S::kRowTiles];
  find_rows<S>(p, ahead.tile, rows);
#pragma unroll
  for (int m = 0; m < S::kRowTiles; ++m) next[m].load(rows[m], p.at, ahead.group, t);
  pdl_wait();
#pragma unroll
  for (int i = 0; i + 1 < S::kStages; ++i) {
    if (begin + i < end)
      copy_src<S, kBytes>(p, far.group, shared + static_cast<uint32_t>(stage_of(begin + i)));
    end_of_copies();
    far.advance(p);
  }
  pdl_trigger();

  float sum[S::kRowTiles][S::kTokenTiles][4] = {};
  bool from_start = walk.group == 0;
  for (int unit = begin; unit < end; ++unit) {
    wait_for_copies<S::kStages - 2>();
    __syncthreads();  // the unit's src is there for all, and all are done with the one before
    if (const int copied = unit + S::kStages - 1; copied < end)
      copy_src<S, kBytes>(p, far.group, shared + static_cast<uint32_t>(stage_of(copied)));
    end_of_copies();
    far.advance(p);
#pragma unroll
    for (int m = 0; m < S::kRowTiles; ++m) now[m] = next[m];
    if (unit + 1 < end) {
      if (ahead.advance(p)) find_rows<S>(p, ahead.tile, rows);
#pragma unroll
      for (int m = 0; m < S::kRowTiles; ++m) next[m].load(rows[m], p.at, ahead.group, t);
    }
    add_group<L, S>(now, stages + stage_of(unit), walk.group, sum);
    const bool ends = walk.group + 1 == p.groups;
    if (ends || unit + 1 == end) {
      store_tile<S>(p, walk.tile, from_start, ends, reinterpret_cast<float4*>(stages + S::kResults), sum);
#pragma unroll
      for (auto& of_rows : sum)
#pragma unroll
        for (auto& of_tokens : of_rows)
#pragma unroll
          for (float& value : of_tokens) value = 0.0F;
    }
    if (walk.advance(p)) from_start = true;
  }
}

// ---- finish ----

/// A block of threads for the first unit of each block but the first one, and some pairs of tiles.
template <class S>
__global__ void __launch_bounds__(kThreads) finish_kernel(const __grid_constant__ Tiles p) {
  const int block = static_cast<int>(blockIdx.x) + 1, slice = static_cast<int>(blockIdx.z);
  const int unit = p.first_unit(block), tile = unit / p.groups, from = tile * p.groups;
  if (unit == from || p.first_unit(block - 1) > from) return;  // not shared, or another's
  pdl_wait();
  const int last = block_of(p, from + p.groups - 1);
  const int pair = static_cast<int>(blockIdx.y) * kWarps + static_cast<int>(threadIdx.x) / 32;
  float4 total = *part_at<S>(p, slice, block - 1, true, pair);
#pragma unroll 4
  for (int other = block; other <= last; ++other) {
    const float4 part = *part_at<S>(p, slice, other, false, pair);
    total.x += part.x, total.y += part.y, total.z += part.z, total.w += part.w;
  }
  store_pair<S>(p, slice, tile, pair, total);
}

}  // namespace orrery::kernels::cuda::linear_tiles
