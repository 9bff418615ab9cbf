// Keys and values of attention of single queries (attention_decode.cuh) on their way from f16 or bf16 pages
// to shared memory. A warp has copies of its own, 16 KB of them under way: the keys of a unit, its values,
// the next one's keys, ... It waits for itself only.
//   An instruction copies whole rows, as 32 lanes of 16 bytes. (Lanes that copied what they need themselves,
//   64 bytes from each of 8 rows together, had an H200 read half as fast.) So that the chunks of 16 bytes
//   that 8 lanes read together are in different banks, a row's chunks lie in an order that depends on the
//   row:
//     keys:    lane (g, c) reads chunk 4 b + c of row g       (8 lanes: 4 chunks of each of two rows)
//     values:  lane (g, c) reads chunk 8 b + g of row 2 c + i (8 lanes: 2 chunks of each of four rows)
//   Preconditions: rows are 16-byte aligned; whole warps call.
//   Bytes moved: rows that are seen, once; zeros stand for the others, and for elements beyond the head.
#pragma once

#include "kernels/cuda/attention_common.cuh"
#include "kernels/cuda/device/async_copy.cuh"
#include "kernels/cuda/device/block_reduce.cuh"

namespace orrery::kernels::cuda::decode {

/// Keys that are softened together. The longer, the fewer sums are added outside of the tensor cores, and the
/// fewer copies there is room for.
template <int kDim>
constexpr int kUnit = kDim > 128 ? 16 : 32;

/// A warp's copies that are under way.
template <int kDim>
struct Ring {
  static constexpr int kBytes = kUnit<kDim> * 2 * kDim;  // of keys or values
  static constexpr int kAhead = 16384 / kBytes;          // of either that are under way
  static_assert(kAhead % 2 == 0);                        // keys and values take turns
};

/// Where keys are, 16 after 16. The page is looked up as soon as the last one is left, not when it is needed.
class Place {
 public:
  __device__ void start(const KvPages& pages, int position) {
    position_ = position;
    page_ = position / pages.tokens, token_ = position - page_ * pages.tokens;
    look_up(pages);
  }
  __device__ int position() const { return position_; }
  /// Of key `row` of the 16, of whole pages.
  __device__ size_t offset(const KvPages& pages, int row) const { return pages.offset(entry_, token_ + row); }
  __device__ void advance(const KvPages& pages) {
    position_ += 16, token_ += 16;
    if (token_ < pages.tokens) return;
    ++page_, token_ = 0;
    look_up(pages);
  }

 private:
  __device__ void look_up(const KvPages& pages) {
    if (pages.whole && page_ * pages.tokens < pages.end) entry_ = pages.table[page_];
  }
  int position_ = 0, page_ = 0, token_ = 0, entry_ = 0;
};

/// Where a row's chunk lies in it.
struct KeyOrder {
  static __device__ int of(int row, int chunk) { return chunk ^ (row % 2 * 4); }
};
struct ValueOrder {
  static __device__ int of(int row, int chunk) { return chunk ^ (row & 6); }
};
template <int kDim>
constexpr int kChunks = kDim / 8;  // of a row

/// Starts copies of 16 rows, whole ones by as many lanes as those have chunks.
template <int kDim, class Order>
__device__ void copy_rows(const KvPages& pages, const std::byte* base, const Place& from, uint32_t to) {
  constexpr int kTogether = kWarp / kChunks<kDim>;  // rows
  const int lane = threadIdx.x % kWarp, first = lane / kChunks<kDim>, chunk = lane % kChunks<kDim>;
  const bool fits = 8 * chunk < pages.head_dim;
  base += 16 * chunk;
  const auto copy = [&](int row, const std::byte* at) {
    copy_16(to + (row * kChunks<kDim> + Order::of(row, chunk)) * 16, at,
            fits && pages.sees(from.position() + row));
  };
  if (pages.whole) {
    base += from.offset(pages, first);
#pragma unroll
    for (int step = 0; step < 16; step += kTogether, base += kTogether * pages.row_bytes)
      copy(step + first, base);
  } else {
#pragma unroll 1
    for (int row = first; row < 16; row += kTogether) {
      const int position = from.position() + row;
      copy(row, base + (pages.sees(position) ? pages.offset(position) : 0));
    }
  }
}

/// Units of a warp's slot.
struct Slot {
  int unit, last;
};

/// A slot's keys and values on their way through the warp's ring.
template <int kDim>
class Copies {
 public:
  __device__ explicit Copies(uint4* rings) : own_(rings + threadIdx.x / kWarp * (kAhead * kStep)) {}

  __device__ void start(const KvPages& pages, const Slot& slot) {
    end_ = slot.last * kUnit<kDim>, at_ = 0;
    keys_.start(pages, slot.unit * kUnit<kDim>);
    values_ = keys_;
#pragma unroll
    for (int i = 0; i < kAhead; ++i) i % 2 == 0 ? bring_keys(pages) : bring_values(pages);
  }
  /// What was brought first of what has not been used: a unit's keys, or its values.
  __device__ const uint4* arrived() const {
    wait_for_copies<kAhead - 1>();
    __syncwarp();
    return own_ + at_ * kStep;
  }
  /// The next ones, to where what arrived last has been used.
  __device__ void bring_keys(const KvPages& pages) { bring<KeyOrder>(pages, pages.key, keys_); }
  __device__ void bring_values(const KvPages& pages) {
    bring<ValueOrder>(pages, pages.key + pages.value, values_);
  }

 private:
  static constexpr int kAhead = Ring<kDim>::kAhead;
  static constexpr int kStep = Ring<kDim>::kBytes / static_cast<int>(sizeof(uint4));

  template <class Order>
  __device__ void bring(const KvPages& pages, const std::byte* base, Place& place) {
    __syncwarp();  // all lanes have used what lay there
    if (place.position() < end_) {
      auto to = static_cast<uint32_t>(__cvta_generic_to_shared(own_ + at_ * kStep));
#pragma unroll
      for (int i = 0; i < kUnit<kDim> / 16; ++i, to += 16 * 2 * kDim) {
        copy_rows<kDim, Order>(pages, base, place, to);
        place.advance(pages);
      }
    }
    end_of_copies();
    at_ = at_ + 1 == kAhead ? 0 : at_ + 1;
  }

  Place keys_, values_;
  int end_ = 0, at_ = 0;
  uint4* own_;  // the warp's ring
};

}  // namespace orrery::kernels::cuda::decode
