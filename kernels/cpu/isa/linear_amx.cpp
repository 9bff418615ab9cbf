// Linear in bf16 by tiles (AMX): one thread's share of weight rows, times all of its tokens.
//   src (tokens, cols) bf16       weight in slices of tiles, see TiledShare (up the same)
//   dst = act(src weight^T + bias), or act(src weight^T + bias) * (src up^T + up_bias); f32 or bf16
//   A block of 32 tokens x 32 rows is summed into scratch, and finished from there, in L1, while the next one
//   is summed: tiles leave the vectors idle.
//   preconditions: cols is a multiple of 32
//   a token's sums depend on nothing but it: see tiles.h
//   traffic: weights once, asked for before they are due while tiles are multiplied; src once per slice, from
//   L2
#include "kernels/cpu/isa/linear_tiled.h"
#include "kernels/cpu/isa/tiles.h"

namespace orrery::kernels::ORRERY_ISA {
namespace {

constexpr int64_t kLine = 64;
constexpr int64_t kTileBytes = kTileRows * kTileRowBytes,
                  kStepBytes = 2 * kTileBytes;  // of a slice's weights
constexpr int64_t kStepLines = kStepBytes / kLine;
constexpr int64_t kNear = 8;  // steps: what memory needs to bring a line

static_assert(kTiledSlice == 2 * kTileRows && kTiledTokens == 2 * kTileRows);

/// All lines of a step, or null: nothing is asked for.
struct Near {
  const char* step;

  ORRERY_INLINE void next() {
    if (step == nullptr) return;
#pragma GCC unroll 32
    for (int64_t i = 0; i < kStepLines; ++i) _mm_prefetch(step + i * kLine, _MM_HINT_T1);
    step += kStepBytes;
  }
};

/// Some lines of a step, or none.
struct Far {
  const char* first;
  int64_t count;

  ORRERY_INLINE void next() {
    for (int64_t i = 0; i < count; ++i) _mm_prefetch(first + i * kLine, _MM_HINT_T1);
    first += kStepBytes;
  }
};

/// The weights of a share, slice after slice, and what is asked for ahead.
class Slices {
 public:
  Slices(const uint16_t* weight, const TiledShare& share)
      : weight_(reinterpret_cast<const char*>(weight)),
        bytes_(kTiledSlice * share.cols * int64_t{sizeof(uint16_t)}),
        count_((share.finish.count + kTiledSlice - 1) / kTiledSlice),
        passes_((share.finish.tokens + kTiledTokens - 1) / kTiledTokens) {}

  const char* at(int64_t slice) const { return weight_ + slice * bytes_; }

  /// What is due soon, where nothing else asked for it: in the only pass, and in the share's first.
  Near near(int64_t slice, int64_t pass) const {
    const bool first = pass == 0 && (slice == 0 || passes_ == 1);
    return {first ? at(slice) + kNear * kStepBytes : nullptr};
  }
  /// A pass's part of the next slice.
  Far far(int64_t slice, int64_t pass) const {
    const int64_t each = (kStepLines + passes_ - 1) / passes_, begin = pass * each;
    const bool there = passes_ > 1 && slice + 1 < count_ && begin < kStepLines;
    return {at(slice + 1) + begin * kLine, there ? each : 0};
  }

 private:
  const char* weight_;
  int64_t bytes_, count_, passes_;
};

/// Finishes a block, some tokens at a time.
class Finishing {
 public:
  explicit Finishing(void (*run)(const LinearFinish&)) : run_(run) {}

  /// The block, in parts that are spread over so many steps.
  void start(const LinearFinish& block, int64_t steps) {
    part_ = block;
    left_ = block.tokens;
    const int64_t every = steps * kTokens / kTiledTokens;
    every_ = wait_ = every > 0 ? every : 1;
  }
  ORRERY_INLINE void step() {
    if (left_ == 0 || --wait_ > 0) return;
    wait_ = every_;
    next(kTokens);
  }
  void rest() {
    if (left_ > 0) next(left_);
  }

 private:
  static constexpr int64_t kTokens = 4;

  [[gnu::noinline]] void next(int64_t tokens) {
    part_.tokens = tokens < left_ ? tokens : left_;
    run_(part_);
    left_ -= part_.tokens;
    part_.src += part_.tokens * part_.src_stride;
    if (part_.up != nullptr) part_.up += part_.tokens * part_.up_stride;
    part_.dst = moved(part_, part_.tokens * part_.dst_stride);
  }

  void (*run_)(const LinearFinish&);
  LinearFinish part_{};
  int64_t left_ = 0, every_ = 1, wait_ = 1;
};

class Share {
 public:
  explicit Share(const TiledShare& share)
      : share_(share), weight_(share.weight, share), up_(share.up, share), finishing_(share.finish_block) {}

  /// Each slice with all tokens: whole blocks, then the rest under a configuration of its own.
  void run() {
    const int64_t tokens = share_.finish.tokens, rest = tokens % kTiledTokens, whole = tokens - rest;
    const bool one_tile = rest <= kTileRows;
    const TileConfig for_whole = tile_config(2, kTileRows),
                     for_rest = one_tile ? tile_config(1, rest) : tile_config(2, rest - kTileRows);
    configure_tiles(whole > 0 ? for_whole : for_rest);
    for (int64_t slice = 0; slice * kTiledSlice < share_.finish.count; ++slice) {
      for (int64_t t = 0; t < whole; t += kTiledTokens) block<2>(slice, t);
      if (rest == 0) continue;
      if (whole > 0) configure_tiles(for_rest);
      one_tile ? block<1>(slice, whole) : block<2>(slice, whole);
      if (whole > 0) configure_tiles(for_whole);
    }
    finishing_.rest();
    release_tiles();
  }

 private:
  template <int kRowTiles>
  void block(int64_t slice, int64_t token) {
    float* sums = share_.scratch + (blocks_++ % 2) * 2 * kTiledSums;
    const bool gated = share_.up != nullptr;
    multiply<kRowTiles>(weight_, slice, token, sums);
    if (gated) multiply<kRowTiles>(up_, slice, token, sums + kTiledSums);
    finishing_.rest();
    finishing_.start(finish_of(share_, slice, token, kTiledTokens, sums),
                     (gated ? 2 : 1) * share_.cols / kTileDepth);
  }

  template <int kRowTiles>
  void multiply(const Slices& slices, int64_t slice, int64_t token, float* sums) {
    const int64_t pass = token / kTiledTokens;
    Near near = slices.near(slice, pass);
    Far far = slices.far(slice, pass);
    multiply_tiles<kRowTiles, 2>(
        TileProduct{.a = share_.src + token * share_.src_stride,
                    .b = slices.at(slice),
                    .c = sums,
                    .a_row = share_.src_stride * int64_t{sizeof(uint16_t)},
                    .c_row = kTiledSlice * int64_t{sizeof(float)},
                    .b_row = kTileRowBytes,
                    .b_tile = kTileBytes,
                    .b_step = kStepBytes,
                    .depth = share_.cols,
                    .add = false},
        [&]() __attribute__((always_inline)) {
          near.next();
          far.next();
          finishing_.step();
        });
  }

  const TiledShare& share_;
  Slices weight_, up_;
  Finishing finishing_;
  int64_t blocks_ = 0;
};

}  // namespace

void linear_tiled(const TiledShare& share) { Share(share).run(); }

}  // namespace orrery::kernels::ORRERY_ISA
