// FastmaxScan on CUDA (kernels/fastmax_scan.h):
//   S_t += x_t(k) value, z_t += x_t(k);  dst = (sum_t w_t x_t(q) S_t) / (sum_t w_t x_t(q) z_t)
//   query, key, value, dst: f32 rows, any alignment; records: numbered by the step's RecordUses
// Two kernels, one after the other:
//   count: a block owns a kv head of a sequence and goes token after token: it leaves queries and keys scaled
//   in
//     the workspace (rows of whole quads, zeros behind head_dim), takes z on, and leaves 1 / divisor. A warp
//     owns rows x_m (x_n ..) of the features when z is written, and a query when it is read.
//   columns: a block owns 32 columns of S of a kv head of a sequence, a lane one of them; a warp owns every
//     kWarps-th row of features. Each takes its features through a few tokens at a time, so that what they
//     add to these tokens' results fits in shared memory, where the warps' shares are added up in their
//     order.
// The order of each sum does not depend on how many tokens come at once, so however a text is cut into steps,
// numbers are the same. A thread alone reads and writes its numbers of a record, so `after` may be `before`.
//   Preconditions: kernels/fastmax_scan.h; at most kMostGroup query heads of a kv head.
//   Bytes moved: S and z twice for each few tokens (in decode: once a step), 4 bytes a number; the rest is
//   small.
#include "kernels/cuda/launch.h"
#include "kernels/fastmax_scan.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int kWarp = 32, kWarps = 8, kThreads = kWarp * kWarps;
constexpr int kQuad = static_cast<int>(FastmaxScan::kQuad);
constexpr int kLargestHead = static_cast<int>(FastmaxScan::kLargestHead);
constexpr int kRows = 16;  // results that a block holds at once, where a token has no more
constexpr int kMostGroup = 32;
constexpr unsigned kMostSequences = 65535;  // of a grid's y
constexpr unsigned kAllLanes = 0xffffffffU;

/// What lies in the workspace, rows of the step.
struct Scaled {
  float* queries;  // (tokens, heads, padded)
  float* keys;     // (tokens, kv_heads, padded)
  float* inverse;  // (tokens, heads)
};

/// Where features x_m (x_n ..) begin, for n from m / 4 * 4 on: behind those of the blocks of four before m's
/// own, which have padded - 4 b each.
__device__ inline int64_t pairs_at(int m, int head_dim) {
  const int padded = static_cast<int>(FastmaxScan::padded(head_dim)), b = m / kQuad;
  const int before = kQuad * (b * padded - kQuad * (b * (b - 1) / 2));
  return FastmaxScan::pairs_begin(head_dim) + before + (m % kQuad) * (padded - kQuad * b);
}

__device__ inline float sum_of_warp(float x) {
  for (int step = kWarp / 2; step > 0; step /= 2) x += __shfl_xor_sync(kAllLanes, x, step);
  return x;
}

/// A warp scales a row into shared memory and into the workspace.
__device__ void scale_row(const FastmaxScan::Problem& problem, const float* row, float factor, float* here,
                          float* there) {
  const int lane = threadIdx.x % kWarp, dim = static_cast<int>(problem.head_dim);
  const int padded = static_cast<int>(FastmaxScan::padded(dim));
  if (problem.fastmax.normalise) {
    float squares = 0.0F;
    for (int n = lane; n < dim; n += kWarp) squares = fmaf(row[n], row[n], squares);
    const float length = sqrtf(sum_of_warp(squares));
    constexpr float kShortest = Attention::Fastmax::kShortest, kLongest = Attention::Fastmax::kLongest;
    factor /= length < kShortest ? kShortest : length > kLongest ? kLongest : length;
  }
  for (int n = lane; n < padded; n += kWarp) {
    const float x = n < dim ? factor * row[n] : 0.0F;
    here[n] = x;
    there[n] = x;
  }
}

/// body(t, m, n) for the features of a warp's rows that are a lane's: m = -1 for x_n alone; the first feature
/// is left out.
template <class Body>
__device__ void each_feature(const FastmaxScan::Problem& problem, Body&& body) {
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const int dim = static_cast<int>(problem.head_dim), padded = static_cast<int>(FastmaxScan::padded(dim));
  const int rows = problem.fastmax.p == 2 ? padded : 0;
  for (int m = warp - 1; m < rows; m += kWarps) {
    const int begin = m < 0 ? 0 : m / kQuad * kQuad;
    const int64_t first = m < 0 ? kQuad : pairs_at(m, dim);
    for (int n = begin + lane; n < padded; n += kWarp) body(first + n - begin, m, n);
  }
}

/// The same of all rows, for one warp.
__device__ float divisor(const FastmaxScan::Problem& problem, const float* query, const float* counts) {
  const int lane = threadIdx.x % kWarp;
  const int dim = static_cast<int>(problem.head_dim), padded = static_cast<int>(FastmaxScan::padded(dim));
  const int rows = problem.fastmax.p == 2 ? padded : 0;
  float total = 0.0F;
  for (int m = -1; m < rows; ++m) {
    const int begin = m < 0 ? 0 : m / kQuad * kQuad;
    const int64_t first = m < 0 ? kQuad : pairs_at(m, dim);
    const float x = m < 0 ? 1.0F : query[m];
    for (int n = begin + lane; n < padded; n += kWarp) {
      const float weight = m >= 0 && n < begin + kQuad ? 0.5F : 1.0F;
      total = fmaf(weight * x * query[n], counts[first + n - begin], total);
    }
  }
  return counts[0] + sum_of_warp(total);
}

__global__ void __launch_bounds__(kThreads)
    count_features(const FastmaxScan::Args args, const Scaled scaled) {
  __shared__ float key[kLargestHead], query[kWarps][kLargestHead];
  pdl_wait();
  const FastmaxScan::Problem& problem = args.problem;
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const int64_t kv_head = blockIdx.x, dim = problem.head_dim, padded = FastmaxScan::padded(dim);
  const int64_t group = problem.heads / problem.kv_heads, at = FastmaxScan::counts_at(problem, kv_head);
  const int64_t features = FastmaxScan::features(problem.fastmax.p, dim);
  const float limit = problem.fastmax.limit;
  const float factor = problem.fastmax.normalise ? limit * limit : args.scale;
  for (int64_t s = blockIdx.y; s < args.ragged.sequences; s += gridDim.y) {
    each_record_run(args.ragged, args.records, args.uses, s, [&](const RecordRun& run) {
      float* counts = run.after + at;
      for (int64_t t = threadIdx.x; t < features; t += kThreads)
        counts[t] = run.before != nullptr ? run.before[at + t] : 0.0F;
      __syncthreads();
      for (int64_t row = run.row; row < run.row + run.tokens; ++row) {
        if (warp == 0)
          scale_row(problem, args.key + (row * problem.kv_heads + kv_head) * dim, 1.0F, key,
                    scaled.keys + (row * problem.kv_heads + kv_head) * padded);
        __syncthreads();  // the key is there
        if (threadIdx.x == 0) counts[0] += 1.0F;
        each_feature(problem,
                     [&](int64_t t, int m, int n) { counts[t] += (m < 0 ? 1.0F : key[m]) * key[n]; });
        __syncthreads();  // z is there
        for (int64_t g = warp; g < group; g += kWarps) {
          const int64_t head = kv_head * group + g;
          __syncwarp();
          scale_row(problem, args.query + (row * problem.heads + head) * dim, factor, query[warp],
                    scaled.queries + (row * problem.heads + head) * padded);
          __syncwarp();
          const float sum = divisor(problem, query[warp], counts);
          if (lane == 0) scaled.inverse[row * problem.heads + head] = sum <= 0.0F ? 0.0F : 1.0F / sum;
        }
        __syncthreads();  // the key and z may change
      }
    });
  }
}

/// Four features of a row: x_m (x_n .. x_n+3), m = -1: x_n .. x_n+3, m = -2: 1, 0, 0, 0.
__device__ inline float4 quad_of(const float* row, int m, int n) {
  if (m == -2) return {1.0F, 0.0F, 0.0F, 0.0F};
  const float x = m < 0 ? 1.0F : row[m];
  return {x * row[n], x * row[n + 1], x * row[n + 2], x * row[n + 3]};
}

/// A warp takes its features through tokens [first, first + tokens) of the step; `out` is its own, (tokens,
/// group, lanes).
__device__ void pass(const FastmaxScan::Args& args, const Scaled& scaled, int64_t kv_head, int64_t column,
                     const float* before, float* after, int64_t first, int tokens, float* out) {
  const FastmaxScan::Problem& problem = args.problem;
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const int64_t dim = problem.head_dim, padded = FastmaxScan::padded(dim);
  const int group = static_cast<int>(problem.heads / problem.kv_heads);
  const int rows = problem.fastmax.p == 2 ? static_cast<int>(padded) : 0;
  const bool inside = column < dim;
  for (int i = 0; i < tokens * group; ++i) out[i * kWarp + lane] = 0.0F;
  for (int m = warp - 2; m < rows; m += kWarps) {
    const int begin = m < 0 ? 0 : m / kQuad * kQuad;
    const int end = m == -2 ? kQuad : static_cast<int>(padded);
    const int64_t at = m == -2 ? 0 : m == -1 ? kQuad : pairs_at(m, static_cast<int>(dim));
    for (int n = begin; n < end; n += kQuad) {
      const int64_t place = (at + n - begin) * dim + column;
      float state[kQuad];
#pragma unroll
      for (int j = 0; j < kQuad; ++j) state[j] = before != nullptr && inside ? before[place + j * dim] : 0.0F;
      const float weight = m >= 0 && n == begin ? 0.5F : 1.0F;
      for (int i = 0; i < tokens; ++i) {
        const int64_t kv_row = (first + i) * problem.kv_heads + kv_head;
        const float4 k = quad_of(scaled.keys + kv_row * padded, m, n);
        const float value = inside ? args.value[kv_row * dim + column] : 0.0F;
        state[0] = fmaf(k.x, value, state[0]);
        state[1] = fmaf(k.y, value, state[1]);
        state[2] = fmaf(k.z, value, state[2]);
        state[3] = fmaf(k.w, value, state[3]);
        const float* query = scaled.queries + ((first + i) * problem.heads + kv_head * group) * padded;
        for (int g = 0; g < group; ++g) {
          const float4 q = quad_of(query + g * padded, m, n);
          float* total = out + (i * group + g) * kWarp + lane;
          const float sum = fmaf(q.x, state[0], fmaf(q.y, state[1], fmaf(q.z, state[2], q.w * state[3])));
          *total = fmaf(weight, sum, *total);
        }
      }
      if (inside)
#pragma unroll
        for (int j = 0; j < kQuad; ++j) after[place + j * dim] = state[j];
    }
  }
}

__global__ void __launch_bounds__(kThreads)
    add_columns(const FastmaxScan::Args args, const Scaled scaled, const int at_once) {
  extern __shared__ float shares[];  // (kWarps, at_once * group, lanes)
  pdl_wait();
  const FastmaxScan::Problem& problem = args.problem;
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const int64_t dim = problem.head_dim, blocks = (dim + kWarp - 1) / kWarp;
  const int64_t kv_head = blockIdx.x / blocks, column = blockIdx.x % blocks * kWarp + lane;
  const int group = static_cast<int>(problem.heads / problem.kv_heads);
  const int64_t at = FastmaxScan::sums_at(problem, kv_head);
  const int share = at_once * group * kWarp;
  for (int64_t s = blockIdx.y; s < args.ragged.sequences; s += gridDim.y) {
    if (args.uses[s].after < 0) {  // nobody reads what it gives
      for (int64_t row = args.ragged.sequence_starts[s]; row < args.ragged.sequence_starts[s + 1]; ++row)
        for (int g = warp; g < group && column < dim; g += kWarps)
          args.dst[(row * problem.heads + kv_head * group + g) * dim + column] = 0.0F;
      continue;
    }
    each_record_run(args.ragged, args.records, args.uses, s, [&](const RecordRun& run) {
      const float* before = run.before != nullptr ? run.before + at : nullptr;
      int64_t done = 0;
      do {
        const int64_t first = run.row + done, left = run.tokens - done;
        const int tokens = static_cast<int>(left < at_once ? left : at_once);
        pass(args, scaled, kv_head, column, before, run.after + at, first, tokens, shares + warp * share);
        __syncthreads();  // all shares are there
        for (int i = warp; i < tokens * group; i += kWarps) {
          float sum = 0.0F;
          for (int w = 0; w < kWarps; ++w) sum += shares[w * share + i * kWarp + lane];
          const int64_t row = (first + i / group) * problem.heads + kv_head * group + i % group;
          if (column < dim) args.dst[row * dim + column] = sum * scaled.inverse[row];
        }
        __syncthreads();  // they may change
        before = run.after + at;
        done += tokens;
      } while (done < run.tokens);
    });
  }
}

size_t scaled_floats(const FastmaxScan::Problem& problem) {
  return static_cast<size_t>(
      problem.tokens *
      ((problem.heads + problem.kv_heads) * FastmaxScan::padded(problem.head_dim) + problem.heads));
}

size_t scaled_bytes(const FastmaxScan::Problem& problem, const Machine&, int) {
  return scaled_floats(problem) * sizeof(float);
}

void run_fastmax_scan(const FastmaxScan::Args& args, const Launch& launch) {
  const FastmaxScan::Problem& problem = args.problem;
  const int64_t padded = FastmaxScan::padded(problem.head_dim), group = problem.heads / problem.kv_heads;
  Scaled scaled{};
  scaled.queries = reinterpret_cast<float*>(launch.workspace);
  scaled.keys = scaled.queries + problem.tokens * problem.heads * padded;
  scaled.inverse = scaled.keys + problem.tokens * problem.kv_heads * padded;
  const auto sequences = static_cast<unsigned>(std::min<int64_t>(args.ragged.sequences, kMostSequences));
  const auto kv_heads = static_cast<unsigned>(problem.kv_heads);
  launch_kernel(launch, count_features, dim3(kv_heads, sequences), dim3(kThreads), 0, args, scaled);
  const auto blocks = static_cast<unsigned>((problem.head_dim + kWarp - 1) / kWarp);
  const int at_once = std::max(1, kRows / static_cast<int>(group));
  const size_t shared = sizeof(float) * kWarps * kWarp * static_cast<size_t>(at_once * group);
  launch_kernel(launch, add_columns, dim3(kv_heads * blocks, sequences), dim3(kThreads), shared, args, scaled,
                at_once);
}

std::string scans_fastmax(const FastmaxScan::Problem& problem, const Machine&) {
  if (std::string reason = ref::legal(problem); !reason.empty()) return reason;
  return problem.heads / problem.kv_heads > kMostGroup ? "more than 32 query heads of a key head" : "";
}

}  // namespace

std::span<const Row<FastmaxScan>> fastmax_scan_rows() {
  static const Row<FastmaxScan> rows[] = {
      {.name = "cuda.fastmax_scan",
       .device = DeviceKind::cuda,
       .supports = scans_fastmax,
       .run = run_fastmax_scan,
       .workspace = scaled_bytes,
       .source = "cuda/fastmax_scan.cu"},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
