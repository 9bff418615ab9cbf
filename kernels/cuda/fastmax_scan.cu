// FastmaxScan on CUDA (kernels/fastmax_scan.h):
//   S_t += x_t(k) value, z_t += x_t(k);  dst = (sum_t w_t x_t(q) S_t) / (sum_t w_t x_t(q) z_t)
//   query, key, value, dst: f32 rows, any alignment; records: numbered by the step's RecordUses
// The state stays in registers while tokens pass by it, one after the other, so that a prompt of any length
// reads and writes it once in each window of some hundred rows. Two kernels for each window, one after the
// other:
//   scan    a block owns a slice of the features of a kv head of a sequence, for 32 kAcross columns. A thread
//     owns kQuads quads of features times kAcross quads of columns of S, and z of its features; 8 lanes of a
//     warp lie along the columns, 4 along the features. Rows come some tokens at a time by cp.async, in two
//     stages; kAlong lanes scale a row. What a thread adds to a result is added up in one order: its
//     features, the lanes along the features by butterflies, warps.
//   finish  a thread owns an element of dst: it adds up the slices in their order and divides.
// No order depends on how many tokens come at once, so however a text is cut into steps, numbers are the
// same. That is also why no product is made on tensor cores: a chunk's own keys would have to be taken score
// by score there, and one after another in decode. A thread alone reads and writes its numbers of a record, a
// warp its z, so `after` may be `before`.
//   Preconditions: kernels/fastmax_scan.h; at most kMostGroup query heads of a kv head.
//   Bytes moved: S and z twice for each window; shares of results, 4 bytes times slices for each element of
//   dst, twice; the rest is small.
#include <algorithm>

#include "kernels/cuda/device/async_copy.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/fastmax_scan.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int kWarp = 32;
constexpr int kQuad = static_cast<int>(FastmaxScan::kQuad);
constexpr int kAlong = 8;              // lanes of a warp along the columns
constexpr int kDeep = kWarp / kAlong;  // and along the features
constexpr int kLargeQuads = 3;         // of features, of a thread that owns many
constexpr int kRows = 16;              // queries that a block takes at once, where a token has no more
constexpr int kMostGroup = 32;
constexpr int kSchedulers = 4;  // of a multiprocessor
constexpr int kFewestWarps = 4, kMostWarps = 8;
constexpr int64_t kLeastWindow = 64, kWindow = 512;  // rows of a step between two reads of the state
constexpr int64_t kShareBytes = int64_t{64} << 20;   // that more rows than kLeastWindow may take
constexpr unsigned kMostSequences = 65535;           // of a grid's y
constexpr unsigned kAllLanes = 0xffffffffU;

/// How the features of a kv head fall to threads.
struct Slicing {
  int quads = 1, across = 1;  // of a thread: quads of features, quads of columns
  int warps = 1;              // of a block
  int slices = 1;             // blocks that share the features
  int column_blocks = 1;

  Slicing(const FastmaxScan::Problem& problem, int multiprocessors) {
    const int64_t all = FastmaxScan::features(problem.fastmax.p, problem.head_dim) / kQuad;
    // With few features for each thread a token takes less time, with many results cost less.
    const bool large = problem.fastmax.p == 2 && problem.head_dim > kQuad * kAlong;
    quads = large ? kLargeQuads : 1;
    across = large ? 2 : 1;
    const int columns = kQuad * kAlong * across;
    column_blocks = static_cast<int>((problem.head_dim + columns - 1) / columns);
    const auto needed = static_cast<int>((all + kDeep * quads - 1) / (kDeep * quads));  // warps of a head
    const int64_t heads = problem.kv_heads * column_blocks, at_once = std::max(multiprocessors, 1);
    int64_t best = 0;
    for (int w = kFewestWarps; w <= kMostWarps; ++w) {
      const int64_t blocks = heads * ((needed + w - 1) / w);
      const int64_t time = ((blocks + at_once - 1) / at_once * w + kSchedulers - 1) / kSchedulers;
      if (best != 0 && time > best) continue;
      best = time;
      warps = std::min(w, needed);
      slices = (needed + warps - 1) / warps;
    }
  }
};

/// Rows [begin, end) of a step.
struct Window {
  int64_t begin, end;
  bool last;
};

/// Shares of results: (slices, rows of a window, heads, whole quads of columns and one more, which begins
/// with the divisor's).
struct Shares {
  float* base;
  int64_t rows;

  __device__ float* of(const FastmaxScan::Problem& problem, int64_t slice, int64_t row, int64_t head) const {
    return base + ((slice * rows + row) * problem.heads + head) * pitch(problem);
  }
  __host__ __device__ static int64_t pitch(const FastmaxScan::Problem& problem) {
    return FastmaxScan::padded(problem.head_dim) + kQuad;
  }
};

__device__ inline uint32_t shared_address(const float* at) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(at));
}
/// 4 bytes from global to shared memory; zero where there is nothing.
__device__ inline void copy_4(float* to, const float* from, bool there) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared_address(to)), "l"(from),
               "r"(there ? 4 : 0)
               : "memory");
}

/// A warp copies elements [first, first + count) of a row, zeros behind the last of `dim`; `whole`: 16 bytes
/// at a time.
__device__ inline void copy_row(float* to, const float* row, int first, int count, int dim, bool whole) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  if (whole) {
    for (int n = kQuad * lane; n < count; n += kQuad * kWarp) {
      const bool there = first + n < dim;
      copy_16(shared_address(to + n), there ? row + first + n : row, there);
    }
    return;
  }
  for (int n = lane; n < count; n += kWarp) {
    const bool there = first + n < dim;
    copy_4(to + n, there ? row + first + n : row, there);
  }
}

/// Floats of a row in shared memory: whole quads, then 1 and zeros, which are what x_n and 1 are multiplied
/// by.
__host__ __device__ inline int extended(int64_t head_dim) {
  return static_cast<int>(FastmaxScan::padded(head_dim)) + 2 * kQuad;
}

/// A quad of features: x_m (x_n .. x_n+3) of an extended row.
struct QuadPlace {
  int m, n;
  float weight;
};

/// Quad `number` of a head, in the order of a record; a place of zeros behind the last.
__device__ inline QuadPlace quad_place(const FastmaxScan::Problem& problem, int number) {
  const int padded = static_cast<int>(FastmaxScan::padded(problem.head_dim)), blocks = padded / kQuad;
  if (number == 0) return {padded, padded, 1.0F};
  if (number <= blocks) return {padded, kQuad * (number - 1), 1.0F};
  int left = number - 1 - blocks;
  for (int block = 0; block < blocks && problem.fastmax.p == 2; ++block) {
    const int across = blocks - block;
    if (left < kQuad * across)
      return {kQuad * block + left / across, kQuad * (block + left % across),
              left % across == 0 ? 0.5F : 1.0F};
    left -= kQuad * across;
  }
  return {padded + kQuad, padded + kQuad, 1.0F};
}

/// What lies in shared memory: raw rows in two stages, scaled rows, shares of warps.
template <int kAcross>
struct Buffers {
  static constexpr int kColumns = kQuad * kAlong * kAcross;
  static constexpr int kShareRow = kColumns + kQuad;  // the divisor's behind the columns
  int tokens, rows, length, warps;

  __host__ __device__ Buffers(const FastmaxScan::Problem& problem, int of_warps)
      : tokens(problem.heads / problem.kv_heads < kRows
                   ? kRows / static_cast<int>(problem.heads / problem.kv_heads)
                   : 1),
        rows(tokens * static_cast<int>(problem.heads / problem.kv_heads)),
        length(extended(problem.head_dim)),
        warps(of_warps) {}
  __host__ __device__ int stage_floats() const { return (tokens + rows) * length + tokens * kColumns; }
  __host__ __device__ int scaled_at() const { return 2 * stage_floats(); }
  __host__ __device__ int shares_at() const { return scaled_at() + (tokens + rows) * length; }
  __host__ __device__ size_t bytes() const {
    return sizeof(float) * static_cast<size_t>(shares_at() + kRows * warps * kShareRow);
  }
};

__device__ inline float4 quad_at(const float* row) { return *reinterpret_cast<const float4*>(row); }

/// Scales `count` rows, a row for each kAlong lanes; the rest of an extended row is there already.
__device__ void scale_rows(const FastmaxScan::Problem& problem, const float* rows, int count, int length,
                           float factor, float* to) {
  const auto thread = static_cast<int>(threadIdx.x), at_once = static_cast<int>(blockDim.x) / kAlong;
  const int lane = thread % kAlong, padded = static_cast<int>(FastmaxScan::padded(problem.head_dim));
  for (int base = 0; base < count; base += at_once) {
    const int row = base + thread / kAlong;
    const float* from = rows + min(row, count - 1) * length;
    float by = factor;
    if (problem.fastmax.normalise) {
      float squares = 0.0F;
      for (int n = kQuad * lane; n < padded; n += kQuad * kAlong) {
        const float4 x = quad_at(from + n);
        squares = fmaf(x.x, x.x, fmaf(x.y, x.y, fmaf(x.z, x.z, fmaf(x.w, x.w, squares))));
      }
      for (int step = kAlong / 2; step > 0; step /= 2) squares += __shfl_xor_sync(kAllLanes, squares, step);
      const float root = sqrtf(squares);
      constexpr float kShortest = Attention::Fastmax::kShortest, kLongest = Attention::Fastmax::kLongest;
      by = factor / (root < kShortest ? kShortest : root > kLongest ? kLongest : root);
    }
    if (row >= count) continue;
    for (int n = kQuad * lane; n < padded; n += kQuad * kAlong) {
      const float4 x = quad_at(from + n);
      *reinterpret_cast<float4*>(to + row * length + n) = {by * x.x, by * x.y, by * x.z, by * x.w};
    }
  }
}

/// A thread's part of a state.
template <int kQuads, int kAcross>
struct State {
  float sums[kQuads][kQuad][kAcross][kQuad];
  float counts[kQuads][kQuad];
};

template <int kQuads, int kAcross>
__device__ inline void add_token(State<kQuads, kAcross>& state, const QuadPlace (&quads)[kQuads],
                                 const float* key, const float* value) {
  float v[kAcross][kQuad];
#pragma unroll
  for (int a = 0; a < kAcross; ++a) {
    const float4 four = quad_at(value + kQuad * kAlong * a);
    v[a][0] = four.x, v[a][1] = four.y, v[a][2] = four.z, v[a][3] = four.w;
  }
#pragma unroll
  for (int q = 0; q < kQuads; ++q) {
    const float x = key[quads[q].m];
    const float4 four = quad_at(key + quads[q].n);
    const float k[kQuad] = {x * four.x, x * four.y, x * four.z, x * four.w};
#pragma unroll
    for (int j = 0; j < kQuad; ++j) {
      state.counts[q][j] += k[j];
#pragma unroll
      for (int a = 0; a < kAcross; ++a)
#pragma unroll
        for (int e = 0; e < kQuad; ++e) state.sums[q][j][a][e] = fmaf(k[j], v[a][e], state.sums[q][j][a][e]);
    }
  }
}

/// A warp's share of the results of a query: columns, then the divisor.
template <int kQuads, int kAcross>
__device__ inline void ask(const State<kQuads, kAcross>& state, const QuadPlace (&quads)[kQuads],
                           const float* query, float* share) {
  float total[kAcross * kQuad] = {}, divisor = 0.0F;
#pragma unroll
  for (int q = 0; q < kQuads; ++q) {
    const float x = quads[q].weight * query[quads[q].m];
    const float4 four = quad_at(query + quads[q].n);
    const float f[kQuad] = {x * four.x, x * four.y, x * four.z, x * four.w};
#pragma unroll
    for (int j = 0; j < kQuad; ++j) {
      divisor = fmaf(f[j], state.counts[q][j], divisor);
#pragma unroll
      for (int a = 0; a < kAcross; ++a)
#pragma unroll
        for (int e = 0; e < kQuad; ++e)
          total[a * kQuad + e] = fmaf(f[j], state.sums[q][j][a][e], total[a * kQuad + e]);
    }
  }
  // Each step a lane keeps half of the columns, and adds what its partner has of them.
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const bool high = lane / (kWarp / 2) != 0, upper = lane / kAlong % 2 != 0;
  constexpr int kHalf = kAcross * kQuad / 2, kFourth = kHalf / 2;
  float half[kHalf], fourth[kFourth];
#pragma unroll
  for (int i = 0; i < kHalf; ++i)
    half[i] = (high ? total[kHalf + i] : total[i]) +
              __shfl_xor_sync(kAllLanes, high ? total[i] : total[kHalf + i], kWarp / 2);
#pragma unroll
  for (int i = 0; i < kFourth; ++i)
    fourth[i] = (upper ? half[kFourth + i] : half[i]) +
                __shfl_xor_sync(kAllLanes, upper ? half[i] : half[kFourth + i], kAlong);
  divisor += __shfl_xor_sync(kAllLanes, divisor, kWarp / 2);
  divisor += __shfl_xor_sync(kAllLanes, divisor, kAlong);
  const int first = (high ? kHalf : 0) + (upper ? kFourth : 0);
  float* to = share + first / kQuad * kQuad * kAlong + kQuad * (lane % kAlong) + first % kQuad;
  if constexpr (kFourth == 2)
    *reinterpret_cast<float2*>(to) = {fourth[0], fourth[1]};
  else
    *to = fourth[0];
  if (lane == 0) *reinterpret_cast<float4*>(share + Buffers<kAcross>::kColumns) = {divisor, 0.0F, 0.0F, 0.0F};
}

/// Grid: (slices of column blocks of kv heads, sequences).
template <int kQuads, int kAcross, bool kAlone>
__global__ void __launch_bounds__(kMostWarps* kWarp)
    scan_kernel(const FastmaxScan::Args args, const Slicing slicing, const Window window,
                const Shares shares) {
  using Buffer = Buffers<kAcross>;
  constexpr int kColumns = Buffer::kColumns;
  extern __shared__ float4 memory[];
  pdl_wait();
  const FastmaxScan::Problem& problem = args.problem;
  const int lane = static_cast<int>(threadIdx.x) % kWarp, warp = static_cast<int>(threadIdx.x) / kWarp;
  const int threads = static_cast<int>(blockDim.x), dim = static_cast<int>(problem.head_dim);
  const int slice = static_cast<int>(blockIdx.x) % slicing.slices;
  const int column_block = static_cast<int>(blockIdx.x) / slicing.slices % slicing.column_blocks;
  const int64_t kv_head = blockIdx.x / (slicing.slices * slicing.column_blocks);
  const int group = kAlone ? 1 : static_cast<int>(problem.heads / problem.kv_heads);
  const Buffer buffer(problem, slicing.warps);
  const int length = buffer.length;
  float* const raw = reinterpret_cast<float*>(memory);
  float* const scaled = raw + buffer.scaled_at();
  float* const of_warps = raw + buffer.shares_at();
  const float limit = problem.fastmax.limit;
  const float factor = problem.fastmax.normalise ? limit * limit : args.scale;

  const int first_quad = ((slice * slicing.warps + warp) * kDeep + lane / kAlong) * kQuads;
  const auto all = static_cast<int>(FastmaxScan::features(problem.fastmax.p, dim) / kQuad);
  const int own_column = column_block * kColumns + kQuad * (lane % kAlong);
  QuadPlace quads[kQuads];
#pragma unroll
  for (int q = 0; q < kQuads; ++q) quads[q] = quad_place(problem, first_quad + q);
  const bool whole = dim % kQuad == 0 && args.records.stride % 16 == 0 &&
                     reinterpret_cast<uintptr_t>(args.records.base) % 16 == 0;

  // visit(q, j, a, place): four numbers of S that lie side by side, from column own_column + 32 a on.
  const auto each_four = [&](auto&& visit) {
    int pitch =
        dim;  // as if it were another one each time: places are computed anew and not kept in registers
    asm volatile("" : "+r"(pitch));
#pragma unroll
    for (int q = 0; q < kQuads; ++q)
#pragma unroll
      for (int j = 0; j < kQuad; ++j)
#pragma unroll
        for (int a = 0; a < kAcross; ++a) {
          const int column = own_column + kQuad * kAlong * a;
          if (first_quad + q < all && column < dim)
            visit(q, j, a, column,
                  FastmaxScan::sums_at(problem, kv_head) + ((first_quad + q) * kQuad + j) * int64_t{pitch} +
                      column);
        }
  };
  const bool counts = column_block == 0;
  const bool whole_rows = dim % kQuad == 0 && reinterpret_cast<uintptr_t>(args.query) % 16 == 0 &&
                          reinterpret_cast<uintptr_t>(args.key) % 16 == 0 &&
                          reinterpret_cast<uintptr_t>(args.value) % 16 == 0;
  const auto padded = static_cast<int>(FastmaxScan::padded(dim));
  for (int i = static_cast<int>(threadIdx.x); i < (buffer.tokens + buffer.rows) * 2 * kQuad; i += threads)
    scaled[i / (2 * kQuad) * length + padded + i % (2 * kQuad)] = i % (2 * kQuad) == 0 ? 1.0F : 0.0F;
  const int64_t counts_at = FastmaxScan::counts_at(problem, kv_head);

  for (int64_t s = blockIdx.y; s < args.ragged.sequences; s += gridDim.y) {
    if (args.uses[s].after < 0) {  // nobody reads what it gives: it divides by 0
      const int64_t end = min(window.end, int64_t{args.ragged.sequence_starts[s + 1]});
      for (int64_t row = max(window.begin, int64_t{args.ragged.sequence_starts[s]}); row < end; ++row)
        for (int g = 0; g < group; ++g)
          for (int n = static_cast<int>(threadIdx.x); n < static_cast<int>(Shares::pitch(problem));
               n += threads)
            shares.of(problem, slice, row - window.begin, kv_head * group + g)[n] = 0.0F;
      continue;
    }
    each_record_run(args.ragged, args.records, args.uses, s, [&](const RecordRun& run) {
      const int64_t begin = max(run.row, window.begin), end = min(run.row + run.tokens, window.end);
      const bool copies = run.tokens == 0 && run.row >= window.begin && (run.row < window.end || window.last);
      if (begin >= end && !copies) return;
      const float* before = begin > run.row ? run.after : run.before;

      State<kQuads, kAcross> state = {};
      if (before != nullptr) {
        each_four([&](int q, int j, int a, int column, int64_t place) {
          float(&to)[kQuad] = state.sums[q][j][a];
          if (whole) {
            const float4 four = quad_at(before + place);
            to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
            return;
          }
#pragma unroll
          for (int e = 0; e < kQuad; ++e)
            if (column + e < dim) to[e] = before[place + e];
        });
#pragma unroll
        for (int q = 0; q < kQuads; ++q)
#pragma unroll
          for (int j = 0; j < kQuad; ++j)
            if (counts && first_quad + q < all)
              state.counts[q][j] = before[counts_at + (first_quad + q) * kQuad + j];
      }

      const auto bring = [&](int64_t first, int number) {
        if (first < end) {
          const int tokens = static_cast<int>(min(int64_t{buffer.tokens}, end - first));
          float* to = raw + number % 2 * buffer.stage_floats();
          const float* keys = args.key + (first * problem.kv_heads + kv_head) * dim;
          const float* values = args.value + (first * problem.kv_heads + kv_head) * dim;
          const float* queries = args.query + (first * problem.heads + kv_head * group) * dim;
          for (int row = warp; row < tokens; row += slicing.warps) {
            copy_row(to + row * length, keys + row * problem.kv_heads * dim, 0, padded, dim, whole_rows);
            copy_row(to + (buffer.tokens + buffer.rows) * length + row * kColumns,
                     values + row * problem.kv_heads * dim, column_block * kColumns, kColumns, dim,
                     whole_rows);
          }
          for (int row = warp; row < tokens * group; row += slicing.warps)
            copy_row(to + (buffer.tokens + row) * length,
                     queries + (row / group * problem.heads + row % group) * dim, 0, padded, dim, whole_rows);
        }
        end_of_copies();
      };
      bring(begin, 0);
      int number = 0;
      for (int64_t first = begin; first < end; first += buffer.tokens, ++number) {
        const int tokens = static_cast<int>(min(int64_t{buffer.tokens}, end - first));
        bring(first + buffer.tokens, number + 1);
        wait_for_copies<1>();
        __syncthreads();  // rows are there
        const float* stage = raw + number % 2 * buffer.stage_floats();
        scale_rows(problem, stage, tokens, length, 1.0F, scaled);
        scale_rows(problem, stage + buffer.tokens * length, tokens * group, length, factor,
                   scaled + buffer.tokens * length);
        __syncthreads();  // scaled ones too
        const float* values = stage + (buffer.tokens + buffer.rows) * length + kQuad * (lane % kAlong);
        const float* queries = scaled + buffer.tokens * length;
        const int share_row = slicing.warps * Buffer::kShareRow;
        float* const own = of_warps + warp * Buffer::kShareRow;
        for (int g0 = 0; g0 < group; g0 += kRows) {  // a second time only where a token has more than kRows
          const int some = min(group - g0, kRows);
#pragma unroll 1
          for (int i = 0; i < tokens; ++i) {
            if (g0 == 0) add_token(state, quads, scaled + i * length, values + i * kColumns);
            if constexpr (kAlone)
              ask(state, quads, queries + i * length, own + i * share_row);
            else
              for (int g = 0; g < some; ++g)
                ask(state, quads, queries + (i * group + g0 + g) * length, own + (i * some + g) * share_row);
          }
          __syncthreads();  // all shares are there
          // Quads of columns, then divisors.
          const int rows = tokens * some;
          for (int i = static_cast<int>(threadIdx.x); i < rows * (kColumns / kQuad + 1); i += threads) {
            const bool divides = i >= rows * (kColumns / kQuad);
            const int row = divides ? i - rows * (kColumns / kQuad) : i / (kColumns / kQuad);
            const int n = divides ? kColumns : i % (kColumns / kQuad) * kQuad;
            const int column = divides ? padded : column_block * kColumns + n;
            if (divides ? !counts : column >= padded) continue;
            const float* from = of_warps + row * share_row + n;
            float4 sum = quad_at(from);
            for (int w = 1; w < slicing.warps; ++w) {
              const float4 x = quad_at(from + w * Buffer::kShareRow);
              sum = {sum.x + x.x, sum.y + x.y, sum.z + x.z, sum.w + x.w};
            }
            const int token = kAlone ? row : row / some;
            *reinterpret_cast<float4*>(shares.of(problem, slice, first + token - window.begin,
                                                 kv_head * group + g0 + row - token * some) +
                                       column) = sum;
          }
          if (g0 + kRows < group) __syncthreads();  // before shares are written anew
        }
      }

      __syncthreads();  // all have read z
      each_four([&](int q, int j, int a, int column, int64_t place) {
        const float(&from)[kQuad] = state.sums[q][j][a];
        if (whole) {
          *reinterpret_cast<float4*>(run.after + place) = {from[0], from[1], from[2], from[3]};
          return;
        }
#pragma unroll
        for (int e = 0; e < kQuad; ++e)
          if (column + e < dim) run.after[place + e] = from[e];
      });
#pragma unroll
      for (int q = 0; q < kQuads; ++q)
#pragma unroll
        for (int j = 0; j < kQuad; ++j)
          if (counts && lane % kAlong == 0 && first_quad + q < all)
            run.after[counts_at + (first_quad + q) * kQuad + j] = state.counts[q][j];
      __syncthreads();  // z is there for who goes on from it
    });
  }
}

constexpr int kFinishThreads = 256;

/// A thread an element of dst.
__global__ void __launch_bounds__(kFinishThreads)
    finish_kernel(const FastmaxScan::Args args, const int slices, const Window window, const Shares shares) {
  pdl_wait();
  const FastmaxScan::Problem& problem = args.problem;
  const auto cols = static_cast<uint32_t>(problem.heads * problem.head_dim);
  const auto dim = static_cast<uint32_t>(problem.head_dim);
  const uint32_t i = blockIdx.x * kFinishThreads + threadIdx.x;
  const uint32_t row = i / cols, head = i % cols / dim, column = i % dim;
  if (row >= min(window.end, int64_t{args.ragged.sequence_starts[args.ragged.sequences]}) - window.begin)
    return;
  float total = 0.0F, divisor = 0.0F;
  for (int slice = 0; slice < slices; ++slice) {
    const float* share = shares.of(problem, slice, row, head);
    total += share[column];
    divisor += share[FastmaxScan::padded(problem.head_dim)];
  }
  args.dst[(window.begin + row) * cols + i % cols] = divisor <= 0.0F ? 0.0F : total * (1.0F / divisor);
}

size_t bytes_of_row(const FastmaxScan::Problem& problem, const Slicing& slicing) {
  return sizeof(float) * static_cast<size_t>(slicing.slices * problem.heads * Shares::pitch(problem));
}

int64_t window_rows(const FastmaxScan::Problem& problem, const Slicing& slicing) {
  const int64_t room = kShareBytes / static_cast<int64_t>(bytes_of_row(problem, slicing));
  return std::min(problem.tokens, std::clamp(room / kRows * kRows, kLeastWindow, kWindow));
}

size_t share_bytes(const FastmaxScan::Problem& problem, const Machine& machine, int) {
  const Slicing slicing(problem, machine.card.multiprocessors);
  return bytes_of_row(problem, slicing) * static_cast<size_t>(window_rows(problem, slicing));
}

template <int kQuads, int kAcross>
size_t shared_bytes(const FastmaxScan::Problem& problem, const Slicing& slicing) {
  return Buffers<kAcross>(problem, slicing.warps).bytes();
}

template <int kQuads, int kAcross>
void scan_window(const FastmaxScan::Args& args, const Slicing& slicing, const Window& window,
                 const Shares& shares, const Launch& launch) {
  const FastmaxScan::Problem& problem = args.problem;
  const auto kernel = problem.heads == problem.kv_heads ? scan_kernel<kQuads, kAcross, true>
                                                        : scan_kernel<kQuads, kAcross, false>;
  const auto sequences = static_cast<unsigned>(std::min<int64_t>(args.ragged.sequences, kMostSequences));
  const auto blocks = static_cast<unsigned>(problem.kv_heads * slicing.column_blocks * slicing.slices);
  launch_kernel(launch, kernel, dim3(blocks, sequences), dim3(static_cast<unsigned>(slicing.warps * kWarp)),
                shared_bytes<kQuads, kAcross>(problem, slicing), args, slicing, window, shares);
}

void run_fastmax_scan(const FastmaxScan::Args& args, const Launch& launch) {
  const FastmaxScan::Problem& problem = args.problem;
  const Slicing slicing(problem, current_card().multiprocessors);
  const Shares shares{reinterpret_cast<float*>(launch.workspace), window_rows(problem, slicing)};
  for (int64_t begin = 0; begin < problem.tokens; begin += shares.rows) {
    const int64_t end = std::min(begin + shares.rows, problem.tokens);
    const Window window{begin, end, end == problem.tokens};
    (slicing.across == 2 ? scan_window<kLargeQuads, 2> : scan_window<1, 1>)(args, slicing, window, shares,
                                                                            launch);
    const int64_t elements = (end - begin) * problem.heads * problem.head_dim;
    launch_kernel(launch, finish_kernel,
                  dim3(static_cast<unsigned>((elements + kFinishThreads - 1) / kFinishThreads)),
                  dim3(kFinishThreads), 0, args, slicing.slices, window, shares);
  }
}

std::string scans_fastmax(const FastmaxScan::Problem& problem, const Machine& machine) {
  if (std::string reason = ref::legal(problem); !reason.empty()) return reason;
  if (problem.heads / problem.kv_heads > kMostGroup) return "more than 32 query heads of a key head";
  const Slicing slicing(problem, machine.card.multiprocessors);
  return without_shared(slicing.across == 2 ? shared_bytes<kLargeQuads, 2>(problem, slicing)
                                            : shared_bytes<1, 1>(problem, slicing),
                        machine.card);
}

}  // namespace

std::span<const Row<FastmaxScan>> fastmax_scan_rows() {
  static const Row<FastmaxScan> rows[] = {
      {.name = "cuda.fastmax_scan",
       .device = DeviceKind::cuda,
       .supports = scans_fastmax,
       .run = run_fastmax_scan,
       .workspace = share_bytes,
       .source = "cuda/fastmax_scan.cu"},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
