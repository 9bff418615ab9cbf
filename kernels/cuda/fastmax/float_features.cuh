// Features of Fastmax in float32 (fastmax.h), and how a call is cut into tiles of them, segments and heads.
//   A block makes the features of kTile tokens kTile at a time in shared memory, from rows that lie there
//   (float_tiles.cuh): first the elements and 1, then the squares. A call of Philox decides which of four are
//   dropped.
#pragma once

#include "kernels/cuda/fastmax/float_tiles.cuh"
#include "kernels/dropout.h"

namespace orrery::kernels::cuda::fastmax {

/// Floats of all states at a time.
constexpr int64_t kStateRoom = int64_t{1} << 26;
constexpr int64_t kMostBlocks = 65535;  // of a grid in y and z

/// How features, producers and heads are cut; of the largest call.
struct FeaturePlan {
  int linear_tiles = 0, tiles = 0;  // of features
  int64_t state = 0;                // floats of one
  int64_t segment = 0;              // producers of one
  int64_t units = 0;                // heads of key and value at a time

  __host__ __device__ int64_t segments_of(int64_t producers) const {
    return (producers + segment - 1) / segment;
  }
};

template <int kDim>
FeaturePlan plan_of(const Fastmax::Problem& problem) {
  constexpr int64_t kRows = kTile<kDim>;
  const int64_t dim = problem.head_dim, squares = problem.p == 2 ? dim * (dim + 1) / 2 : 0;
  FeaturePlan plan;
  plan.linear_tiles = static_cast<int>((dim + 1 + kRows - 1) / kRows);
  plan.tiles = plan.linear_tiles + static_cast<int>((squares + kRows - 1) / kRows);
  plan.state = plan.tiles * kRows * (kDim + 1);
  // Scores between two states cost a consumer about as much as a state where a segment is 4 heads long.
  plan.segment = problem.causal ? 4 * kDim : 16 * kDim;
  const int64_t most = std::max<int64_t>({problem.queries, problem.keys, 1});
  while (plan.segments_of(most) * plan.state > kStateRoom && plan.segment < most) plan.segment *= 2;
  const int64_t heads = std::max<int64_t>(problem.batch * problem.kv_heads, 1);
  plan.units = std::clamp<int64_t>(kStateRoom / (plan.segments_of(most) * plan.state), 1,
                                   std::min(heads, kMostBlocks / group_of(problem)));
  return plan;
}

/// x_m x_n and its factor in the polynomial; column kDim of all rows is one. m < 0: none.
struct Feature {
  int16_t m, n;
  float factor;
};

/// A tile of features.
template <int kDim>
struct FeatureTile {
  const Feature* features;
  int64_t column;  // of its first one in the mask
  bool masked;

  /// All threads write the table; it may be read when they have met.
  __device__ FeatureTile(const Call& call, const FeaturePlan& plan, int tile, Feature* table)
      : features(table) {
    const bool squares = tile >= plan.linear_tiles;
    const int place = (squares ? tile - plan.linear_tiles : tile) * kTile<kDim>;
    column = place;
    masked =
        call.args.problem.dropping == Fastmax::Dropping::features && squares == (call.args.problem.p == 2);
    const int i = thread_number();
    if (i < kTile<kDim>) table[i] = squares ? square(call, place + i) : linear(call, place + i);
  }

 private:
  __device__ static Feature linear(const Call& call, int place) {
    const auto dim = static_cast<int>(call.args.problem.head_dim);
    if (place < dim) return {static_cast<int16_t>(place), kDim, call.args.a1};
    return place == dim ? Feature{kDim, kDim, call.args.a0} : Feature{-1, -1, 0.0F};
  }
  /// Of the upper triangle, row by row.
  __device__ static Feature square(const Call& call, int place) {
    const auto dim = static_cast<int>(call.args.problem.head_dim);
    if (place >= dim * (dim + 1) / 2) return {-1, -1, 0.0F};
    const auto begin = [&](int m) { return m * dim - m * (m - 1) / 2; };
    const auto twice = static_cast<float>(2 * dim + 1);
    auto m = static_cast<int>((twice - sqrtf(twice * twice - 8.0F * static_cast<float>(place))) / 2);
    m = min(max(m, 0), dim - 1);
    while (begin(m) > place) --m;
    while (begin(m + 1) <= place) ++m;
    const int n = m + place - begin(m);
    return {static_cast<int16_t>(m), static_cast<int16_t>(n), (m == n ? 1.0F : 2.0F) * call.args.a2};
  }
};

/// to[row][i] = value(row, i, feature) times the mask's element, of kTile tokens from `first` on.
template <int kDim, bool kKeys, class Value>
__device__ void fill_tile(const Tokens<kKeys>& tokens, const FeatureTile<kDim>& tile, const Dropout& dropout,
                          int64_t first, float* to, const Value& value) {
  constexpr int kQuads = kTile<kDim> / 4;
  const Dropout mask = dropout.of(kKeys ? Fastmax::kKeyStream : Fastmax::kQueryStream);
  const int64_t first_row = tokens.number() * tokens.count + first;
  for (int unit = thread_number(); unit < kTile<kDim> * kQuads; unit += kSide * kSide) {
    const int row = unit / kQuads, quad = unit % kQuads;
    uint32_t words[4] = {};
    if (tile.masked) mask.words(first_row + row, tile.column / 4 + quad, words);
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int i = 4 * quad + e;
      const Feature feature = tile.features[i];
      float result = feature.m < 0 ? 0.0F : value(row, i, feature);
      if (tile.masked && feature.m < kDim) result = mask.keeps(words[e]) ? result * mask.scale : 0.0F;
      to[row * (kTile<kDim> + 1) + i] = result;
    }
  }
}

/// Features of rows; of consumers times their factors.
template <int kDim, bool kConsumers, bool kKeys>
__device__ void make_features(const Tokens<kKeys>& tokens, const FeatureTile<kDim>& tile,
                              const Dropout& dropout, int64_t first, const float* rows, float* to) {
  fill_tile<kDim>(tokens, tile, dropout, first, to, [&](int row, int, const Feature& feature) {
    const float* x = rows + row * (kDim + 1);
    const float product = x[feature.m] * x[feature.n];
    return kConsumers ? product * feature.factor : product;
  });
}

}  // namespace orrery::kernels::cuda::fastmax
