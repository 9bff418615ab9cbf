// Linear in bf16 by vectors (AVX-512 BF16): one thread's share of weight rows, times all of its tokens.
//   src (tokens, cols) bf16       weight in slices of tiles, see TiledShare (up the same)
//   dst = act(src weight^T + bias), or act(src weight^T + bias) * (src up^T + up_bias); f32 or bf16
//   A block of 12 tokens x 32 rows is summed in 24 registers. A step of two columns loads two vectors of
//   weights and a pair of every token's, and makes 24 products of them: the loads fit into the time of the
//   products, and more rows instead of tokens would read the weights, which come from L2, more often. The
//   sums are finished from L1 right after.
//   preconditions: cols is a multiple of 32
//   a token's sums depend on nothing but it: each is added up in the order of columns, two at a time, in
//   parts of 512
//   traffic: weights once, then from L2, where each slice is asked for while the one before it is
//   multiplied; src once per slice, a block of it from L1
#include "kernels/cpu/isa/linear_tiled.h"

namespace orrery::kernels::ORRERY_ISA {
namespace {

using Pairs = __m512bh;  // of bf16

constexpr int64_t kBlock = 12;               // tokens
constexpr int64_t kTilePairs = 16 * 2 * 16;  // elements: 16 pairs of columns of 16 rows
constexpr int64_t kColumns = 512;            // summed at a time: short sums lose less
constexpr int64_t kStep = 2 * kTilePairs;    // elements of 32 columns of a slice
constexpr int kForWriting = 1;
constexpr int64_t kVectorPairs = 32;  // elements of a vector
constexpr int64_t kNear = 8 * kStep;  // what memory needs to bring some: 16 KB

/// Weights that a block asks for, besides those it multiplies: none; what it needs soon itself, two lines for
/// every pair of columns; or part of the next slice, a line for every pair.
enum class Asks : uint8_t { nothing, own, next };

/// The same pair in all lanes.
ORRERY_INLINE Pairs pair_of(const uint16_t* src) {
  int32_t pair;
  __builtin_memcpy(&pair, src, sizeof pair);
  return reinterpret_cast<Pairs>(_mm512_set1_epi32(pair));
}

ORRERY_INLINE Pairs load_pairs(const uint16_t* src) {
  return reinterpret_cast<Pairs>(_mm512_loadu_si512(src));
}

ORRERY_INLINE void ask_for(const uint16_t* weight) {
  _mm_prefetch(reinterpret_cast<const char*>(weight), _MM_HINT_T1);
}

/// sums (kTokens, 32) of a slice, of `weight`, kColumns at a time.
template <int kTokens, Asks kAsks>
void sum_block(const TiledShare& share, const uint16_t* weight, const uint16_t* asked, int64_t token,
               float* sums) {
  const uint16_t* src = share.src + token * share.src_stride;
  for (int64_t column = 0; column < share.cols; column += kColumns) {
    Vec total[kTokens][2];
#pragma GCC unroll 12
    for (int t = 0; t < kTokens; ++t) total[t][0] = total[t][1] = set1(0.0F);
    const int64_t end = column + kColumns < share.cols ? column + kColumns : share.cols;
    for (int64_t k = column; k < end; k += 32, weight += kStep) {
      for (int64_t pair = 0; pair < 16; ++pair, src += 2, asked += kVectorPairs) {
        const uint16_t* at = weight + pair * kVectorPairs;
        if constexpr (kAsks != Asks::nothing) ask_for(asked);
        if constexpr (kAsks == Asks::own) ask_for(asked += kVectorPairs);
        const Pairs first = load_pairs(at), second = load_pairs(at + kTilePairs);
#pragma GCC unroll 12
        for (int t = 0; t < kTokens; ++t) {
          const Pairs x = pair_of(src + t * share.src_stride);
          total[t][0] = _mm512_dpbf16_ps(total[t][0], x, first);
          total[t][1] = _mm512_dpbf16_ps(total[t][1], x, second);
        }
      }
    }
#pragma GCC unroll 12
    for (int t = 0; t < kTokens; ++t) {
      float* to = sums + t * kTiledSlice;
      store(to, column == 0 ? total[t][0] : load(to) + total[t][0]);
      store(to + kLanes, column == 0 ? total[t][1] : load(to + kLanes) + total[t][1]);
    }
  }
}

/// Weights of one matrix, slice after slice.
class Slices {
 public:
  Slices(const uint16_t* weight, const TiledShare& share)
      : share_(share), weight_(weight), count_((share.finish.count + kTiledSlice - 1) / kTiledSlice) {}

  template <int kTokens = kBlock>
  void sum(int64_t slice, int64_t token, int64_t tokens, float* sums) const {
    if constexpr (kTokens > 1) {
      if (tokens < kTokens) return sum<kTokens - 1>(slice, token, tokens, sums);
    }
    const uint16_t* own = at(slice);
    const int64_t half = kTiledSlice * share_.cols / 2;  // of a slice: what a block asks for of the next
    if (token == 0 && (slice == 0 || share_.finish.tokens <= kBlock)) {
      sum_block<kTokens, Asks::own>(share_, own, own + kNear, token, sums);
    } else if (token < 2 * kBlock && slice + 1 < count_) {
      sum_block<kTokens, Asks::next>(share_, own, at(slice + 1) + (token == 0 ? 0 : half), token, sums);
    } else {
      sum_block<kTokens, Asks::nothing>(share_, own, own, token, sums);
    }
  }

 private:
  const uint16_t* at(int64_t slice) const { return weight_ + slice * kTiledSlice * share_.cols; }

  const TiledShare& share_;
  const uint16_t* weight_;
  int64_t count_;
};

}  // namespace

void linear_tiled(const TiledShare& share) {
  const Slices weight(share.weight, share), up(share.up, share);
  for (int64_t slice = 0; slice * kTiledSlice < share.finish.count; ++slice) {
    for (int64_t token = 0; token < share.finish.tokens; token += kBlock) {
      const LinearFinish block = finish_of(share, slice, token, kBlock, share.scratch);
      for (int64_t t = 0; t < block.tokens; ++t) {  // here, ours to write, by the time the sums are
        const auto* row = moved(block, t * block.dst_stride);
        __builtin_prefetch(row, kForWriting);
      }
      weight.sum(slice, token, block.tokens, share.scratch);
      if (share.up != nullptr) up.sum(slice, token, block.tokens, share.scratch + kTiledSums);
      share.finish_block(block);
    }
  }
}

}  // namespace orrery::kernels::ORRERY_ISA
