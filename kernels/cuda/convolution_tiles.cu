// Convolutions as products of matrices that are never made (implicit GEMM; Chetlur et al., "cuDNN: efficient
// primitives for deep learning", 2014). Of a group:
//   dst[o, p] = bias[o] + sum_k weight[o, k] * read[k, p]
// where p is a place of dst in any image of the batch, k a channel and a tap, and read[k, p] the element of
// src that this tap of this place reads, or 0.
//   A block of 128 threads owns 64 outputs of 128 places. It walks k by 16 (float32) or 32 (16 bits). A
//   thread owns one place: it keeps where its window begins in registers and brings all of the column's
//   elements; neighbours own neighbouring places, so a warp reads a run of src for each tap. Where a tap lies
//   is worked out once a step by one thread per k, a step ahead, and read from shared memory by all.
//   Two parts lie in shared memory: the next one comes through registers while one is multiplied, so that a
//   step has one barrier.
//     cuda.tiled   float32: a thread adds 8 x 8 products, four neighbours twice in either direction: 64 FMAs
//                  for 4 loads of 16 bytes
//     cuda.tensor  f16, bf16, where convolution_channels.cuh does not pay: a warp owns 32 outputs of 64
//                  places, as 2 x 8 products of 16 x 8 over 16 of k (mma.sync), operands by ldmatrix, those
//                  of src turned on the way; sums are float32
//   Sums have the order of k, whatever is beside them.
// Preconditions: src, weight and dst of one type; all indices fit into 32 bits.
// Bytes moved: src once a tap from L1 and L2, once per 64 outputs; weights once per 128 places, from L2; dst
// once. Small images leave multiprocessors without a block: there are outputs / 64 * places / 128 of them.
#include <algorithm>

#include "kernels/cuda/convolution_places.cuh"

namespace orrery::kernels::cuda {
namespace {

constexpr int kRows = 64;     // outputs of a block
constexpr int kPlaces = 128;  // of a block, one a thread
constexpr int kThreads = kPlaces;
constexpr unsigned kMostGroups = 65535, kMostRowBlocks = 65535;
constexpr int64_t kFewOutputs = 16, kFewProducts = 16;  // below, cuda.direct wastes less

template <class T>
constexpr bool kWide = std::is_same_v<T, float>;
template <class T>
constexpr int kDepth = kWide<T> ? 16 : 32;  // of k, a step
template <class T>
constexpr int kWeights = kRows* kDepth<T> / kThreads;  // that a thread brings

/// Where tap k lies: what it adds to the start of a window in each dim, and to the index of the window's
/// first element (of a transpose, the plane's).
struct alignas(16) Tap {
  int z, y, x, offset;
};

template <class T>
struct Part;
template <>
struct alignas(16) Part<float> {
  float weight[kDepth<float>][kRows + 4];  // [k][row]
  float src[kDepth<float>][kPlaces];       // [k][place]
};
/// Rows begin 4 banks apart, so that the 8 rows of 16 bytes that ldmatrix takes together lie in all banks.
template <class T>
requires(!kWide<T>) struct alignas(16) Part<T> {
  T weight[kRows][kDepth<T> + 8];
  T src[kDepth<T>][kPlaces + 8];
};

template <class T>
struct Shared {
  Part<T> parts[2];
  Tap taps[2][kDepth<T>];
  int weights[2][kDepth<T>];  // what a tap adds to the index of an output's first weight; -1: no such tap
};

/// What a thread has on the way from memory: two of 16 bits in a register.
template <class T>
struct Brought {
  static constexpr int kEach = 4 / static_cast<int>(sizeof(T));
  struct alignas(4) Word {
    T at[kEach];
  };
  Word weight[kWeights<T> / kEach], src[kDepth<T> / kEach];
};

template <class T, bool kTransposed>
__device__ inline void find_tap(const Convolving& c, int k, Tap& tap, int& weight) {
  if (k >= c.channels * c.taps) {
    tap = {kNowhere, kNowhere, kNowhere, 0};
    weight = -1;
    return;
  }
  const int channel = k / c.taps, number = k % c.taps;
  tap.x = number % c.kernel[2] * c.dilation[2];
  tap.y = number / c.kernel[2] % c.kernel[1] * c.dilation[1];
  tap.z = number / (c.kernel[2] * c.kernel[1]) * c.dilation[0];
  tap.offset = channel * c.src_volume;
  if (!kTransposed) tap.offset += (tap.z * c.src[1] + tap.y) * c.src[2] + tap.x;
  weight = kTransposed ? channel * c.outputs * c.taps + number : k;
}

/// The thread's place.
template <class T, bool kTransposed>
struct Place {
  int z, y, x;  // where its window begins
  int base;     // index of what lies there, or of the first plane

  __device__ Place(const Convolving& c, int group, int place) {
    const int n = place / c.dst_volume, at = place % c.dst_volume;
    z = start_of<kTransposed>(c, 0, at / (c.dst[2] * c.dst[1]));
    y = start_of<kTransposed>(c, 1, at / c.dst[2] % c.dst[1]);
    x = start_of<kTransposed>(c, 2, at % c.dst[2]);
    base = (n * c.groups + group) * c.channels * c.src_volume;
    if (!kTransposed) base += (z * c.src[1] + y) * c.src[2] + x;
    if (n >= c.batch) z = y = x = kNoWindow;  // after the last place: reads nothing
  }
  __device__ T read(const Convolving& c, const Tap& tap) const {
    const int at_z = element_at<kTransposed>(c, 0, z, tap.z);
    const int at_y = element_at<kTransposed>(c, 1, y, tap.y);
    const int at_x = element_at<kTransposed>(c, 2, x, tap.x);
    if ((at_z | at_y | at_x) < 0) return T(0.0F);
    const int inside = kTransposed ? (at_z * c.src[1] + at_y) * c.src[2] + at_x : 0;
    return static_cast<const T*>(c.from)[base + tap.offset + inside];
  }
};

/// Weight i of a thread: which row of the block, and which k of the step. A warp reads two runs of 16 that
/// follow each other along k (of 16 bits, pairs).
template <class T>
struct WeightAt {
  int row, k;
  __device__ explicit WeightAt(int i) {
    const int thread = static_cast<int>(threadIdx.x), each = kWide<T> ? 1 : 2;
    k = thread % 16 * each + i % each;
    row = thread / 16 + i / each * (kThreads / 16);
  }
};

template <class T, bool kTransposed>
__device__ inline void bring(const Convolving& c, const Tap (&taps)[kDepth<T>],
                             const int (&weights)[kDepth<T>], const Place<T, kTransposed>& place, int group,
                             int first_row, Brought<T>& to) {
  constexpr int kEach = Brought<T>::kEach;
#pragma unroll
  for (int i = 0; i < kWeights<T>; ++i) {
    const WeightAt<T> at(i);
    const int row = first_row + at.row, offset = weights[at.k];
    const int first = kTransposed ? (group * c.channels * c.outputs + row) * c.taps
                                  : (group * c.outputs + row) * c.channels * c.taps;
    to.weight[i / kEach].at[i % kEach] =
        row < c.outputs && offset >= 0 ? static_cast<const T*>(c.weight)[first + offset] : T(0.0F);
  }
#pragma unroll
  for (int k = 0; k < kDepth<T>; ++k) {
    to.src[k / kEach].at[k % kEach] = place.read(c, taps[k]);
    // Else the compiler finds all taps first and has no registers left for them.
    if (k % 4 == 3) asm volatile("" ::: "memory");
  }
}

template <class T>
__device__ inline void put(const Brought<T>& from, Part<T>& to) {
  constexpr int kEach = Brought<T>::kEach;
#pragma unroll
  for (int i = 0; i < kWeights<T>; i += kEach) {
    const WeightAt<T> at(i);
    if constexpr (kWide<T>)
      to.weight[at.k][at.row] = from.weight[i].at[0];
    else
      *reinterpret_cast<typename Brought<T>::Word*>(&to.weight[at.row][at.k]) = from.weight[i / kEach];
  }
#pragma unroll
  for (int k = 0; k < kDepth<T>; ++k) to.src[k][threadIdx.x] = from.src[k / kEach].at[k % kEach];
}

/// The sums of a thread, each with the row and the place of the block that it belongs to.
template <class T>
struct Sums;

template <>
struct Sums<float> {
  static constexpr int kOwnRows = 8, kOwnPlaces = 8;
  float at[8][8] = {};
  int row = static_cast<int>(threadIdx.x) / 16 * 4, place = static_cast<int>(threadIdx.x) % 16 * 4;

  __device__ int row_of(int r) const { return row + r / 4 * (kRows / 2) + r % 4; }
  __device__ int place_of(int p) const { return place + p / 4 * (kPlaces / 2) + p % 4; }
  __device__ float value(int r, int p) const { return at[r][p]; }

  __device__ static void load_eight(float (&to)[8], const float* low, const float* high) {
    const float4 a = *reinterpret_cast<const float4*>(low), b = *reinterpret_cast<const float4*>(high);
    to[0] = a.x, to[1] = a.y, to[2] = a.z, to[3] = a.w;
    to[4] = b.x, to[5] = b.y, to[6] = b.z, to[7] = b.w;
  }
  __device__ void add(const Part<float>& part) {
#pragma unroll
    for (int k = 0; k < kDepth<float>; ++k) {
      float down[8], across[8];
      load_eight(down, &part.weight[k][row], &part.weight[k][row + kRows / 2]);
      load_eight(across, &part.src[k][place], &part.src[k][place + kPlaces / 2]);
#pragma unroll
      for (int r = 0; r < 8; ++r)
#pragma unroll
        for (int p = 0; p < 8; ++p) at[r][p] = fmaf(down[r], across[p], at[r][p]);
    }
  }
};

__device__ inline uint32_t shared_place(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}
/// Four matrices of 8 rows of 16 bytes; lane l gives the address of row l % 8 of matrix l / 8.
__device__ inline void load_matrices(uint32_t (&to)[4], const void* from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(shared_place(from))
               : "memory");
}
/// Each turned.
__device__ inline void load_turned(uint32_t (&to)[4], const void* from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(shared_place(from))
               : "memory");
}

/// c += a b
__device__ inline void multiply(__half, float (&c)[4], const uint32_t (&a)[4], const uint32_t* b) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ inline void multiply(__nv_bfloat16, float (&c)[4], const uint32_t (&a)[4], const uint32_t* b) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

template <class T>
requires(!kWide<T>) struct Sums<T> {
  static constexpr int kDown = 2, kAcross = 8;  // products of 16 x 8
  static constexpr int kOwnRows = kDown * 2, kOwnPlaces = kAcross * 2;
  float at[kDown][kAcross][4] = {};
  int lane = static_cast<int>(threadIdx.x) % 32;
  int row = static_cast<int>(threadIdx.x) / 64 * 32, place = static_cast<int>(threadIdx.x) / 32 % 2 * 64;

  // Of a product lane 4 g + q has columns 2 q, 2 q + 1 of row g, then of row g + 8.
  __device__ int row_of(int r) const { return row + r / 2 * 16 + lane / 4 + r % 2 * 8; }
  __device__ int place_of(int p) const { return place + p / 2 * 8 + lane % 4 * 2 + p % 2; }
  __device__ float value(int r, int p) const { return at[r / 2][p / 2][r % 2 * 2 + p % 2]; }

  __device__ void add(const Part<T>& part) {
#pragma unroll
    for (int k = 0; k < kDepth<T>; k += 16) {
      uint32_t a[kDown][4], b[kAcross][2];
#pragma unroll
      for (int r = 0; r < kDown; ++r)  // matrices: rows 0 to 7, 8 to 15, then both of the second half of k
        load_matrices(a[r], &part.weight[row + 16 * r + lane % 16][k + lane / 16 * 8]);
#pragma unroll
      for (int p = 0; p < kAcross; p += 2) {  // matrices: k 0 to 7, 8 to 15, then both of the next 8 places
        uint32_t both[4];
        load_turned(both, &part.src[k + lane % 16][place + 8 * p + lane / 16 * 8]);
        b[p][0] = both[0], b[p][1] = both[1];
        b[p + 1][0] = both[2], b[p + 1][1] = both[3];
      }
#pragma unroll
      for (int r = 0; r < kDown; ++r)
#pragma unroll
        for (int p = 0; p < kAcross; ++p) multiply(T{}, at[r][p], a[r], b[p]);
    }
  }
};

template <class T>
__device__ inline void keep(const Convolving& c, const Sums<T>& sums, int group, int first_row,
                            int first_place) {
#pragma unroll
  for (int p = 0; p < Sums<T>::kOwnPlaces; ++p) {
    const int place = first_place + sums.place_of(p);
    if (place >= c.batch * c.dst_volume) continue;
    const int first = (place / c.dst_volume * c.groups + group) * c.outputs;
    T* to = static_cast<T*>(c.to) + place % c.dst_volume;
#pragma unroll
    for (int r = 0; r < Sums<T>::kOwnRows; ++r) {
      const int row = first_row + sums.row_of(r);
      if (row >= c.outputs) continue;
      to[(first + row) * c.dst_volume] = T(sums.value(r, p) + c.bias_of(group * c.outputs + row));
    }
  }
}

template <class T, bool kTransposed>
__global__ void __launch_bounds__(kThreads, 3) tiles_kernel(const Convolving c) {
  __shared__ Shared<T> shared;
  pdl_wait();
  const int thread = static_cast<int>(threadIdx.x);
  const int first_place = static_cast<int>(blockIdx.x) * kPlaces,
            first_row = static_cast<int>(blockIdx.y) * kRows;
  const int steps = (c.channels * c.taps + kDepth<T> - 1) / kDepth<T>;
  const auto find_taps = [&](int step) {
    if (thread < kDepth<T>)
      find_tap<T, kTransposed>(c, step * kDepth<T> + thread, shared.taps[step % 2][thread],
                               shared.weights[step % 2][thread]);
  };
  for (int group = static_cast<int>(blockIdx.z); group < c.groups; group += static_cast<int>(gridDim.z)) {
    const Place<T, kTransposed> place(c, group, first_place + thread);
    Brought<T> brought;
    Sums<T> sums;
    find_taps(0);
    find_taps(1);
    __syncthreads();
    bring(c, shared.taps[0], shared.weights[0], place, group, first_row, brought);
    put(brought, shared.parts[0]);
    __syncthreads();
    for (int step = 0; step < steps; ++step) {
      const bool more = step + 1 < steps;
      if (more)
        bring(c, shared.taps[(step + 1) % 2], shared.weights[(step + 1) % 2], place, group, first_row,
              brought);
      find_taps(step + 2);  // where those of this step were, which all have read
      sums.add(shared.parts[step % 2]);
      if (more) put(brought, shared.parts[(step + 1) % 2]);
      __syncthreads();
    }
    keep(c, sums, group, first_row, first_place);
  }
}

template <class T>
void run(const Convolution::Args& args, const Launch& launch) {
  if (args.problem.batch <= 0) return;
  const Convolving c(args);
  const dim3 grid(static_cast<unsigned>((c.batch * c.dst_volume + int64_t{kPlaces} - 1) / kPlaces),
                  static_cast<unsigned>((c.outputs + kRows - 1) / kRows),
                  std::min(static_cast<unsigned>(c.groups), kMostGroups));
  launch_kernel(launch, args.problem.transposed ? tiles_kernel<T, true> : tiles_kernel<T, false>, grid,
                dim3(kThreads), 0, c);
}

std::string supports_tensor(const Convolution::Problem& problem, const Machine&) {
  if (std::string reason = refusal_of_tiles(problem); !reason.empty()) return reason;
  return problem.src == DType::f32 ? "f32; the tensor cores would round it" : "";
}
std::string supports_tiled(const Convolution::Problem& problem, const Machine&) {
  if (std::string reason = refusal_of_tiles(problem); !reason.empty()) return reason;
  if (problem.src != DType::f32) return std::string(name_of(problem.src)) + "; it multiplies f32";
  return {};
}

void run_tensor(const Convolution::Args& args, const Launch& launch) {
  args.problem.src == DType::f16 ? run<__half>(args, launch) : run<__nv_bfloat16>(args, launch);
}

}  // namespace

std::string refusal_of_tiles(const Convolution::Problem& problem) {
  if (std::string reason = ref::legal(problem); !reason.empty()) return reason;
  if (std::string reason = refusal_of_sizes(problem); !reason.empty()) return reason;
  if (problem.src != problem.weight || problem.src != problem.dst)
    return "src of " + std::string(name_of(problem.src)) + ", weights of " +
           std::string(name_of(problem.weight)) + ", dst of " + std::string(name_of(problem.dst)) +
           "; it takes one type";
  if (problem.outputs < kFewOutputs)
    return std::to_string(problem.outputs) + " outputs of a group; tiles pay from " +
           std::to_string(kFewOutputs);
  if (problem.depth() < kFewProducts)
    return std::to_string(problem.depth()) + " products of a sum; tiles pay from " +
           std::to_string(kFewProducts);
  if (problem.outputs > int64_t{kMostRowBlocks} * kRows)
    return std::to_string(problem.outputs) + " outputs; a grid has room for " +
           std::to_string(int64_t{kMostRowBlocks} * kRows);
  return {};
}

Row<Convolution> tensor_convolution_row() {
  return {.name = "cuda.tensor",
          .device = DeviceKind::cuda,
          .supports = supports_tensor,
          .run = run_tensor,
          .arithmetic = Arithmetic::bf16};
}

Row<Convolution> tiled_convolution_row() {
  return {.name = "cuda.tiled", .device = DeviceKind::cuda, .supports = supports_tiled, .run = run<float>};
}

}  // namespace orrery::kernels::cuda
