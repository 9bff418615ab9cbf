// Rows of TopK (top_k.h): values[o, j, i] = src[o, indices[o, j, i], i]; src is (outer, count, inner), found
// are (outer, k, inner). An element's code is its key (order_key.h) with its index in the low bits, so that
// codes are all different, the first k in order are the k smallest codes, and nothing depends on the order in
// which threads come.
//   cuda.select  up to 2048 of a row, or any number of one of up to 4096 (2048 of 64-bit elements)
//     count <= 32    a warp a row, an element a lane: sorted by shuffles
//     count <= 4096  (2048) a block a row, all codes in shared memory: sorted there
//     else           a block of 1024 threads a row. Counts how many codes have each of the 2048 values of
//                    their upper 11 bits, finds the value that the k-th has, and goes on with the next 11
//                    bits of those codes only while they and all before are more than 2048; then gathers
//                    these and sorts them. Of rows without many ties among the first one pass counts and one
//                    gathers; where a row is full of ties the bits of the indices are counted as any other.
//   cuda.sort    any k: a block of 1024 threads a row sorts it by digits of 8 bits of the keys, the lowest
//                first. Tiles of 1024 elements in their order: a thread owns an element, warps rank theirs
//                among equal digits by a match, a thread owns a digit and adds up the warps' counts. The
//                digits of all passes are counted in one pass over the row.
// Preconditions: 1 <= k <= count <= 2^30, values and indices are no part of src.
// Workspace of cuda.sort: two orders of a row, 32 bits an element, for each block; one for 16-bit elements,
// none for bytes.
// Bytes moved: an element of src twice (cuda.select, the second time from L2 where it holds the rows; once of
// rows that are sorted whole), or once for each byte and once more (cuda.sort, which also moves 8 bytes of
// workspace a byte). Where inner is not 1 each element costs a sector of 32 bytes, which blocks of
// neighbouring rows find in L2. Values and indices once.
#include <algorithm>
#include <limits>
#include <type_traits>

#include "kernels/cuda/device/block_reduce.cuh"
#include "kernels/cuda/device/one_wave.cuh"
#include "kernels/cuda/device/sort.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/order_key.h"
#include "kernels/top_k.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 30;  // of a row: sums of places stay in 31 bits
constexpr int kThreads = 1024;
constexpr int kWarps = kThreads / kWarp;
constexpr int kSort = 2048;  // codes that are left of a long row
constexpr int kBinBits = 11;
constexpr int kBins = 1 << kBinBits;
constexpr int kRowsOfWarps = 8;  // of a block
constexpr int kDigitBits = 8;
constexpr int kDigits = 1 << kDigitBits;
static_assert(kBins == 2 * kThreads, "a thread owns two bins");

/// Elements of rows that are sorted whole: 32 KB of codes.
constexpr int whole_row(size_t element_bytes) { return element_bytes == 8 ? 2048 : 4096; }

template <class Bits>
using Code = std::conditional_t<sizeof(Bits) == 8, unsigned __int128, uint64_t>;

/// Elements of a row in their order: the first has the smallest code.
template <class Bits>
struct Ranking {
  OrderKey<Bits> order;
  int index_bits;

  __device__ Code<Bits> operator()(Bits bits, int index) const {
    return static_cast<Code<Bits>>(order(bits)) << index_bits | static_cast<unsigned>(index);
  }
  __device__ int index_of(Code<Bits> code) const {
    return static_cast<int>(static_cast<uint64_t>(code) & ((uint64_t{1} << index_bits) - 1));
  }
  __device__ int bits() const { return 8 * static_cast<int>(sizeof(Bits)) + index_bits; }
};

template <class Bits>
struct Found {
  Bits* values;  // null: not wanted
  void* indices;
  bool wide;  // indices are i64
};

/// The elements of one row, `stride` apart, and what is found of them.
template <class Bits>
struct RowOf {
  const Bits* src;
  int64_t stride;
  int count;
  int64_t dst;  // of the first that is found, the others `stride` apart
  Found<Bits> found;

  __device__ Bits at(int index) const { return src[index * stride]; }
  __device__ void put(int place, int index) const {
    const int64_t to = dst + place * stride;
    if (found.wide)
      static_cast<int64_t*>(found.indices)[to] = index;
    else
      static_cast<int32_t*>(found.indices)[to] = index;
    if (found.values != nullptr) found.values[to] = at(index);
  }

  /// body(element, index) for all of them, by the threads of the block: 16 bytes at a time where elements
  /// follow each other, two such loads before the first is used.
  template <class Body>
  __device__ void each(Body&& body) const {
    constexpr int kVector = 16 / static_cast<int>(sizeof(Bits)), kAhead = 2;
    const auto gap = static_cast<unsigned>(-reinterpret_cast<uintptr_t>(src) % 16 / sizeof(Bits));
    const int head = stride == 1 ? min(count, static_cast<int>(gap)) : count;
    const int vectors = (count - head) / kVector, apart = static_cast<int>(blockDim.x);
    const auto* whole = reinterpret_cast<const uint4*>(src + head);
    for (int v = static_cast<int>(threadIdx.x); v < vectors; v += kAhead * apart) {
      uint4 loaded[kAhead] = {};
#pragma unroll
      for (int a = 0; a < kAhead; ++a)
        if (v + a * apart < vectors) loaded[a] = whole[v + a * apart];
#pragma unroll
      for (int a = 0; a < kAhead; ++a) {
        if (v + a * apart >= vectors) break;
        Bits bits[kVector];
        memcpy(bits, &loaded[a], sizeof bits);
#pragma unroll
        for (int i = 0; i < kVector; ++i) body(bits[i], head + (v + a * apart) * kVector + i);
      }
    }
    // What lies before the first and after the last of them, or all.
    for (int i = static_cast<int>(threadIdx.x); i < count - vectors * kVector; i += apart) {
      const int index = i < head ? i : i + vectors * kVector;
      body(at(index), index);
    }
  }
};

/// All rows of a call.
template <class Bits>
struct Rows {
  const Bits* src;
  Found<Bits> found;
  int64_t rows, inner;
  int count, k;
  Ranking<Bits> ranking;

  __device__ RowOf<Bits> row(int64_t number) const {
    const int64_t outer = number / inner, column = number % inner;
    return {src + outer * count * inner + column, inner, count, outer * k * inner + column, found};
  }
};

template <class Bits>
__global__ void __launch_bounds__(kRowsOfWarps* kWarp) warps_kernel(const Rows<Bits> call) {
  pdl_wait();
  pdl_trigger_in_one_wave();
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int64_t step = static_cast<int64_t>(gridDim.x) * kRowsOfWarps;
  for (int64_t r = static_cast<int64_t>(blockIdx.x) * kRowsOfWarps + threadIdx.x / kWarp; r < call.rows;
       r += step) {
    const RowOf<Bits> row = call.row(r);
    const Code<Bits> code = lane < call.count ? call.ranking(row.at(lane), lane) : ~Code<Bits>{0};
    const Code<Bits> mine = warp_sort(code);
    if (lane < call.k) row.put(lane, call.ranking.index_of(mine));
  }
}

template <class Bits>
__global__ void __launch_bounds__(kThreads) blocks_kernel(const Rows<Bits> call) {
  extern __shared__ uint4 memory[];
  auto* codes = reinterpret_cast<Code<Bits>*>(memory);  // of a power of two of elements
  pdl_wait();
  pdl_trigger_in_one_wave();
  const int threads = static_cast<int>(blockDim.x);
  for (int64_t r = blockIdx.x; r < call.rows; r += gridDim.x) {
    const RowOf<Bits> row = call.row(r);
    row.each([&](Bits bits, int index) { codes[index] = call.ranking(bits, index); });
    block_sort(codes, call.count, threads);
    for (int j = static_cast<int>(threadIdx.x); j < call.k; j += threads)
      row.put(j, call.ranking.index_of(codes[j]));
    __syncthreads();  // the next row takes the same memory
  }
}

template <class Bits>
struct SelectShared {
  Code<Bits> codes[kSort];
  uint32_t bins[kBins];
  uint32_t sums[kWarp];
  uint32_t bin, before, here, gathered;
};

/// Codes of which all but the lowest `left` bits are `prefix`, and how many there are before them and of
/// them.
template <class Bits>
struct Bracket {
  Code<Bits> prefix;
  int left;
  uint32_t before, here;

  __device__ bool with_all_before_holds(Code<Bits> code) const { return code >> left <= prefix; }
};

/// The part of the bracket that holds the k-th code, by its next bits.
template <class Bits>
__device__ inline Bracket<Bits> narrow(const Rows<Bits>& call, const RowOf<Bits>& row,
                                       const Bracket<Bits>& bracket, SelectShared<Bits>& shared) {
  const int digit = min(kBinBits, bracket.left), left = bracket.left - digit;
  for (int i = static_cast<int>(threadIdx.x); i < kBins; i += kThreads) shared.bins[i] = 0;
  __syncthreads();
  row.each([&](Bits bits, int index) {
    const Code<Bits> upper = call.ranking(bits, index) >> left;
    if (upper >> digit == bracket.prefix)
      atomicAdd(&shared.bins[static_cast<unsigned>(upper) & ((1U << digit) - 1)], 1U);
  });
  __syncthreads();
  const auto first = 2 * threadIdx.x, wanted = static_cast<unsigned>(call.k);
  const uint32_t counts[2] = {shared.bins[first], shared.bins[first + 1]};
  uint32_t before = bracket.before + block_sum_before(counts[0] + counts[1], shared.sums);
#pragma unroll
  for (unsigned i = 0; i < 2; ++i) {
    if (before < wanted && wanted <= before + counts[i]) {  // of one bin
      shared.bin = first + i;
      shared.before = before;
      shared.here = counts[i];
    }
    before += counts[i];
  }
  __syncthreads();
  return {bracket.prefix << digit | shared.bin, left, shared.before, shared.here};
}

template <class Bits>
__global__ void __launch_bounds__(kThreads) select_kernel(const Rows<Bits> call) {
  __shared__ SelectShared<Bits> shared;
  pdl_wait();
  pdl_trigger_in_one_wave();
  for (int64_t r = blockIdx.x; r < call.rows; r += gridDim.x) {
    const RowOf<Bits> row = call.row(r);
    Bracket<Bits> bracket{0, call.ranking.bits(), 0, static_cast<uint32_t>(call.count)};
    // Ends: without bits left there is one code, and before it there are fewer than k.
    while (bracket.before + bracket.here > kSort) bracket = narrow(call, row, bracket, shared);
    if (threadIdx.x == 0) shared.gathered = 0;
    __syncthreads();
    row.each([&](Bits bits, int index) {
      const Code<Bits> code = call.ranking(bits, index);
      if (bracket.with_all_before_holds(code)) shared.codes[atomicAdd(&shared.gathered, 1U)] = code;
    });
    __syncthreads();
    block_sort(shared.codes, static_cast<int>(bracket.before + bracket.here), kThreads);
    for (int j = static_cast<int>(threadIdx.x); j < call.k; j += kThreads)
      row.put(j, call.ranking.index_of(shared.codes[j]));
    __syncthreads();  // the next row takes the same memory
  }
}

template <class Bits>
struct SortShared {
  static constexpr int kPasses = static_cast<int>(sizeof(Bits));
  uint32_t counts[kWarps][kDigits];   // of a tile, by warp; then where the first of them goes
  uint32_t places[kPasses][kDigits];  // where the next element with the digit goes
};

/// A digit of a key.
template <class Bits>
__device__ inline unsigned digit_of(Bits key, int pass) {
  return static_cast<unsigned>(key >> (kDigitBits * pass)) & (kDigits - 1);
}

/// Where the first element with each digit goes, in every pass.
template <class Bits>
__device__ inline void find_places(const Rows<Bits>& call, const RowOf<Bits>& row, SortShared<Bits>& shared) {
  constexpr int kPasses = SortShared<Bits>::kPasses;
  for (int i = static_cast<int>(threadIdx.x); i < kPasses * kDigits; i += kThreads)
    (&shared.places[0][0])[i] = 0;
  __syncthreads();
  row.each([&](Bits bits, int) {
    const Bits key = call.ranking.order(bits);
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) atomicAdd(&shared.places[pass][digit_of(key, pass)], 1U);
  });
  __syncthreads();
  // A warp a pass, eight digits a lane.
  constexpr int kEach = kDigits / kWarp;
  const int pass = static_cast<int>(threadIdx.x) / kWarp, lane = static_cast<int>(threadIdx.x) % kWarp;
  if (pass < kPasses) {
    uint32_t counts[kEach];
    uint32_t sum = 0;
#pragma unroll
    for (int i = 0; i < kEach; ++i) sum += counts[i] = shared.places[pass][lane * kEach + i];
    uint32_t before = sum;
#pragma unroll
    for (int step = 1; step < kWarp; step *= 2) {
      const uint32_t below = __shfl_up_sync(kWholeWarp, before, step);
      if (lane >= step) before += below;
    }
    before -= sum;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      shared.places[pass][lane * kEach + i] = before;
      before += counts[i];
    }
  }
  __syncthreads();
}

/// Moves the order of the row from one that is sorted by the digits below to one that is sorted by this digit
/// too: from[0, count), null: as they lie, to move(place, index).
template <class Bits, class Move>
__device__ inline void sort_by_digit(const Rows<Bits>& call, const RowOf<Bits>& row, int pass,
                                     const uint32_t* from, SortShared<Bits>& shared, Move&& move) {
  const int warp = static_cast<int>(threadIdx.x) / kWarp, lane = static_cast<int>(threadIdx.x) % kWarp;
  uint32_t* mine = shared.counts[warp];
  for (int first = 0; first < call.count; first += kThreads) {
    const int at = first + static_cast<int>(threadIdx.x);
    const bool is_there = at < call.count;
    int index = at;
    unsigned digit = 0;
    if (is_there) {
      if (from != nullptr) index = static_cast<int>(from[at]);
      digit = digit_of(call.ranking.order(row.at(index)), pass);
    }
    // A warp clears and fills its own counts; the others see them between the two barriers alone.
    for (int i = lane; i < kDigits; i += kWarp) mine[i] = 0;
    __syncwarp();
    const unsigned lanes = __ballot_sync(kWholeWarp, is_there);
    unsigned rank = 0;
    if (is_there) {
      const unsigned alike = __match_any_sync(lanes, digit);
      rank = static_cast<unsigned>(__popc(alike & ((1U << lane) - 1)));
      if (rank == 0) mine[digit] = static_cast<uint32_t>(__popc(alike));
    }
    __syncthreads();
    if (threadIdx.x < kDigits) {
      uint32_t place = shared.places[pass][threadIdx.x];
      for (int w = 0; w < kWarps; ++w) {
        const uint32_t count = shared.counts[w][threadIdx.x];
        shared.counts[w][threadIdx.x] = place;
        place += count;
      }
      shared.places[pass][threadIdx.x] = place;
    }
    __syncthreads();
    if (is_there) move(static_cast<int>(mine[digit] + rank), index);
    __syncwarp();  // before the counts are cleared
  }
  __syncthreads();  // the whole order is there
}

/// Orders that lie in the workspace between two passes.
ORRERY_HOST_DEVICE constexpr int orders_of(size_t element_bytes) {
  return element_bytes < 3 ? static_cast<int>(element_bytes) - 1 : 2;
}

template <class Bits>
__global__ void __launch_bounds__(kThreads) sort_kernel(const Rows<Bits> call, uint32_t* orders) {
  constexpr int kPasses = SortShared<Bits>::kPasses, kOrders = orders_of(sizeof(Bits));
  __shared__ SortShared<Bits> shared;
  pdl_wait();
  pdl_trigger_in_one_wave();
  uint32_t* own = orders + static_cast<int64_t>(blockIdx.x) * kOrders * call.count;
  for (int64_t r = blockIdx.x; r < call.rows; r += gridDim.x) {
    const RowOf<Bits> row = call.row(r);
    find_places(call, row, shared);
    const uint32_t* from = nullptr;
    for (int pass = 0; pass < kPasses - 1; ++pass) {
      uint32_t* to = own + static_cast<int64_t>(pass % 2) * call.count;
      sort_by_digit(call, row, pass, from, shared,
                    [&](int place, int index) { to[place] = static_cast<uint32_t>(index); });
      from = to;
    }
    sort_by_digit(call, row, kPasses - 1, from, shared, [&](int place, int index) {
      if (place < call.k) row.put(place, index);
    });
  }
}

int bits_for(int64_t count) {
  int bits = 0;
  while (int64_t{1} << bits < count) ++bits;
  return bits;
}

template <class Bits>
Rows<Bits> rows_of(const TopK::Args& args) {
  const TopK::Problem& problem = args.problem;
  return {.src = static_cast<const Bits*>(args.src),
          .found = {static_cast<Bits*>(args.values), args.indices, problem.indices == DType::i64},
          .rows = args.outer * args.inner,
          .inner = args.inner,
          .count = static_cast<int>(args.count),
          .k = static_cast<int>(taken(problem, args.count)),
          .ranking = {order_key<Bits>(problem.dtype, problem.largest), bits_for(args.count)}};
}

dim3 grid_of(int64_t blocks) {
  return dim3(static_cast<unsigned>(std::min<int64_t>(blocks, std::numeric_limits<int>::max())));
}

template <class Bits>
void run_select_of(const TopK::Args& args, const Launch& launch) {
  const Rows<Bits> rows = rows_of<Bits>(args);
  if (rows.count <= kWarp)
    return launch_kernel(launch, warps_kernel<Bits>, grid_of((rows.rows + kRowsOfWarps - 1) / kRowsOfWarps),
                         dim3(kRowsOfWarps * kWarp), 0, rows);
  if (rows.count > whole_row(sizeof(Bits)))
    return launch_kernel(launch, select_kernel<Bits>, grid_of(rows.rows), dim3(kThreads), 0, rows);
  const int size = 1 << rows.ranking.index_bits;
  const int threads = std::min(size / 2, kThreads);  // one or two exchanges each
  launch_kernel(launch, blocks_kernel<Bits>, grid_of(rows.rows), dim3(static_cast<unsigned>(threads)),
                static_cast<size_t>(size) * sizeof(Code<Bits>), rows);
}

void run_select(const TopK::Args& args, const Launch& launch) {
  if (args.outer <= 0 || args.count <= 0 || args.inner <= 0) return;
  with_bits(args.problem.dtype, [&](auto bits) { run_select_of<decltype(bits)>(args, launch); });
}

int64_t sort_blocks(const TopK::Problem& problem, const CardMachine& card) {
  return std::clamp<int64_t>(card.multiprocessors, 1, std::max<int64_t>(problem.rows, 1));
}

size_t sort_workspace(const TopK::Problem& problem, const Machine& machine, int) {
  const auto bytes = static_cast<size_t>(dtype_info(problem.dtype).block_bytes);
  return static_cast<size_t>(sort_blocks(problem, machine.card) * orders_of(bytes) * problem.count) *
         sizeof(uint32_t);
}

void run_sort(const TopK::Args& args, const Launch& launch) {
  if (args.outer <= 0 || args.count <= 0 || args.inner <= 0) return;
  const int64_t blocks = std::min(args.outer * args.inner, sort_blocks(args.problem, current_card()));
  with_bits(args.problem.dtype, [&](auto bits) {
    launch_kernel(launch, sort_kernel<decltype(bits)>, grid_of(blocks), dim3(kThreads), 0,
                  rows_of<decltype(bits)>(args), reinterpret_cast<uint32_t*>(launch.workspace));
  });
}

std::string supports_sort(const TopK::Problem& problem, const Machine&) {
  if (std::string reason = ref::legal(problem); !reason.empty()) return reason;
  if (problem.count > kMostElements)
    return "rows of " + std::to_string(problem.count) + "; it takes up to " + std::to_string(kMostElements);
  return {};
}

std::string supports_select(const TopK::Problem& problem, const Machine& machine) {
  if (std::string reason = supports_sort(problem, machine); !reason.empty()) return reason;
  const int64_t k = taken(problem, problem.count);
  const int whole = whole_row(static_cast<size_t>(dtype_info(problem.dtype).block_bytes));
  if (k > kSort && problem.count > whole)
    return std::to_string(k) + " of " + std::to_string(problem.count) + "; it takes up to " +
           std::to_string(kSort) + ", or rows of up to " + std::to_string(whole);
  return {};
}

}  // namespace

std::span<const Row<TopK>> top_k_rows() {
  static const Row<TopK> rows[] = {
      {.name = "cuda.select", .device = DeviceKind::cuda, .supports = supports_select, .run = run_select},
      {.name = "cuda.sort",
       .device = DeviceKind::cuda,
       .supports = supports_sort,
       .run = run_sort,
       .workspace = sort_workspace},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
