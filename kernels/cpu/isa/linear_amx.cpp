// Linear in bf16 by tiles (AMX): one thread's share of weight rows, times all of its tokens.
//   src (tokens, cols) bf16       weight, panels of 64 rows: [cols / 32][16][64 rows][2] bf16 (up the same)
//   dst = act(src weight^T + bias), or act(..) * (src up^T + up_bias): 32 tokens x 64 rows are summed into
//   scratch and finished there, in L1
//   preconditions: cols is a multiple of 32; the last panel is filled up with zeros
//   a token's sums depend on nothing but it: see tiles.h
//   traffic: weights once, which are asked for a panel ahead while tiles are multiplied; src once per panel,
//   from L2
#include "kernels/cpu/isa/linear_parts.h"
#include "kernels/cpu/isa/tiles.h"

namespace orrery::kernels::ORRERY_ISA {
namespace {

constexpr int64_t kBlockTokens = 2 * kTileRows;
constexpr int64_t kPanelStride = 4 * kTiledPanel;  // bytes of a pair of columns

/// Asks for the panel after the one that is being multiplied, some lines at each step.
class Coming {
 public:
  Coming(const uint16_t* panel, bool there, int64_t cols, int64_t steps)
      : line_(reinterpret_cast<const char*>(panel)) {
    const int64_t bytes = cols / 2 * kPanelStride;
    end_ = line_ + (there ? bytes : 0);
    step_ = (bytes / kLine + steps - 1) / steps * kLine;
  }
  ORRERY_INLINE void operator()() {
    const char* stop = line_ + step_ < end_ ? line_ + step_ : end_;
    for (; line_ < stop; line_ += kLine) _mm_prefetch(line_, _MM_HINT_T1);
  }

 private:
  static constexpr int64_t kLine = 64;
  const char *line_, *end_;
  int64_t step_;
};

/// Sums of up to 32 tokens x one panel.
template <int kRowTiles>
ORRERY_INLINE void sum_block(const uint16_t* src, int64_t src_stride, const uint16_t* panel, int64_t cols,
                             float* sums, Coming& coming) {
  constexpr int kColumnTiles = kTileSums / kRowTiles;
  for (int64_t r = 0; r < kTiledPanel; r += kColumnTiles * kTileRows) {
    multiply_tiles<kRowTiles, kColumnTiles>(
        TileProduct{src, panel + 2 * r, sums + r, 2 * src_stride, kPanelStride, 4 * kTiledPanel, cols, false},
        [&]() __attribute__((always_inline)) { coming(); });
  }
}

/// What is done to the sums of a block in scratch.
LinearFinish finish_of(const TiledShare& share, int64_t token, int64_t row) {
  LinearFinish finish = share.finish;
  const int64_t at = token * finish.dst_stride + row;
  finish.dst = finish.rounded ? reinterpret_cast<float*>(reinterpret_cast<uint16_t*>(finish.dst) + at)
                              : finish.dst + at;
  if (finish.bias != nullptr) finish.bias += row;
  if (finish.up_bias != nullptr) finish.up_bias += row;
  const int64_t tokens = finish.tokens - token, count = finish.count - row;
  finish.tokens = tokens < kBlockTokens ? tokens : kBlockTokens;
  finish.count = count < kTiledPanel ? count : kTiledPanel;
  finish.src = share.scratch;
  finish.up = share.up == nullptr ? nullptr : share.scratch + kBlockTokens * kTiledPanel;
  finish.src_stride = finish.up_stride = kTiledPanel;
  return finish;
}

/// One panel of each matrix, and the tokens in blocks: the whole ones, then the rest under a configuration of
/// its own.
class Panel {
 public:
  Panel(const TiledShare& share, int64_t row)
      : share_(share),
        row_(row),
        coming_{ahead(share.weight), ahead(share.up == nullptr ? share.weight : share.up)} {}

  template <int kRowTiles>
  void block(int64_t token) {
    const uint16_t* src = share_.src + token * share_.src_stride;
    sum_block<kRowTiles>(src, share_.src_stride, at(share_.weight, row_), share_.cols, share_.scratch,
                         coming_[0]);
    if (share_.up != nullptr)
      sum_block<kRowTiles>(src, share_.src_stride, at(share_.up, row_), share_.cols,
                           share_.scratch + kBlockTokens * kTiledPanel, coming_[1]);
    share_.finish_block(finish_of(share_, token, row_));
  }

 private:
  const uint16_t* at(const uint16_t* weight, int64_t row) const { return weight + row * share_.cols; }
  Coming ahead(const uint16_t* weight) const {
    const int64_t next = row_ + kTiledPanel, tokens = share_.finish.tokens;
    // A block of two tiles of tokens goes through a panel twice, once for each half of its rows; of one tile
    // once.
    const int64_t rest = tokens % kBlockTokens;
    const int64_t passes = tokens / kBlockTokens * 2 + (rest > kTileRows ? 2 : rest > 0 ? 1 : 0);
    return Coming(at(weight, next), next < share_.finish.count, share_.cols,
                  passes * share_.cols / kTileDepth);
  }

  const TiledShare& share_;
  int64_t row_;
  Coming coming_[2];
};

}  // namespace

void linear_tiled(const TiledShare& share) {
  const int64_t tokens = share.finish.tokens, rest = tokens % kBlockTokens, whole = tokens - rest;
  const int rest_tiles = rest > kTileRows ? 2 : 1;
  const TileConfig for_whole = tile_config(2, kTileRows),
                   for_rest = tile_config(rest_tiles, rest - (rest_tiles - 1) * kTileRows);
  if (rest == 0) configure_tiles(for_whole);
  for (int64_t row = 0; row < share.finish.count; row += kTiledPanel) {
    Panel panel(share, row);
    if (rest > 0 && whole > 0) configure_tiles(for_whole);
    for (int64_t t = 0; t < whole; t += kBlockTokens) panel.block<2>(t);
    if (rest == 0) continue;
    configure_tiles(for_rest);
    rest_tiles == 2 ? panel.block<2>(whole) : panel.block<1>(whole);
  }
  release_tiles();
}

}  // namespace orrery::kernels::ORRERY_ISA
