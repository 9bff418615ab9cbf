#include "kernels/cpu/fastmax_head.h"

#include <algorithm>

#include "kernels/cpu/element_runs.h"

namespace orrery::kernels {
namespace {

constexpr int64_t kChunk = kFastmaxChunk;
constexpr int64_t kScores = kChunk * kChunk;

}  // namespace

const FastmaxScale& FastmaxTokens::scale() const {
  const Fastmax::Problem& problem = call->args.problem;
  return keys ? call->of_key[batch * problem.kv_heads + head] : call->of_query[batch * problem.heads + head];
}

void FastmaxTokens::load(int64_t first, int64_t low, int64_t high, float* rows) const {
  const Fastmax::Args& args = call->args;
  const auto& [dim, wide, full, features] = call->sizes;
  const HeadStrides& strides = keys ? args.key_strides : args.query_strides;
  const void* base = keys ? args.key : args.query;
  const DType dtype = args.problem.dtype;
  const auto factor = static_cast<float>(keys ? scale().factor / args.temperature : scale().factor);
  for (int64_t i = 0; i < kChunk; ++i, rows += wide) {
    std::fill(rows, rows + wide, 0.0F);
    const int64_t place = first + i;
    if (place < low || place >= high) continue;
    const int64_t t = token(place);
    load_run(dtype, at(dtype, base, batch * strides.batch + head * strides.head + t * strides.token), 1, dim,
             rows);
    for (int64_t d = 0; d < dim; ++d) rows[d] *= factor;
    if (!keys || args.rpe == nullptr) continue;
    float shift[Fastmax::kLargestHead];
    load_run(dtype, at(dtype, args.rpe, (t + count) % (2 * count - 1) * dim), 1, dim, shift);
    for (int64_t d = 0; d < dim; ++d) rows[d] += shift[d];
  }
}

void FastmaxTokens::load_brought(int64_t first, int64_t low, int64_t high, float* rows) const {
  const Fastmax::Args& args = call->args;
  const auto& [dim, wide, full, features] = call->sizes;
  const DType dtype = args.problem.dtype;
  for (int64_t i = 0; i < kChunk; ++i, rows += full) {
    const int64_t place = first + i;
    if (place < low || place >= high) {
      std::fill(rows, rows + full, 0.0F);
      continue;
    }
    const int64_t t = token(place);
    if (!keys) {
      const float* from = call->g + ((batch * args.problem.heads + head) * args.queries + t) * full;
      std::copy(from, from + full, rows);
      continue;
    }
    const HeadStrides& strides = args.value_strides;
    load_run(dtype, at(dtype, args.value, batch * strides.batch + head * strides.head + t * strides.token), 1,
             dim, rows);
    std::fill(rows + dim, rows + full, 0.0F);
    rows[dim] = 1;
  }
}

int64_t FastmaxWorker::floats(const FastmaxSizes& sizes) {
  return kChunk * (4 * sizes.wide + 4 * sizes.full) + 2 * kScores + 2 * kFeatureBlock * kChunk + kChunk;
}

FastmaxWorker::FastmaxWorker(const FastmaxCall& call, float* memory) : call_(call), sizes_(call.sizes) {
  const auto take = [&](int64_t count) {
    float* taken = memory;
    memory += count;
    return taken;
  };
  rows_ = take(kChunk * sizes_.full);
  x_ = take(kChunk * sizes_.wide);
  y_ = take(kChunk * sizes_.wide);
  u_ = take(kChunk * sizes_.full);
  w_ = take(kChunk * sizes_.full);
  values_ = take(kChunk * sizes_.full);
  slopes_ = take(2 * kChunk * sizes_.wide);  // and across
  scores_ = take(kScores);
  products_ = take(kScores);
  features_ = take(kFeatureBlock * kChunk);
  others_ = take(kFeatureBlock * kChunk);
  ones_ = take(kChunk);
  std::fill(ones_, ones_ + kChunk, 1.0F);
}

void FastmaxWorker::take_consumers(const FastmaxTokens& tokens, int64_t first) {
  take(tokens, first, consumers_);
  tokens.load(first, 0, tokens.count, rows_);
  call_.table.transpose(rows_, sizes_.wide, sizes_.wide, x_);
  std::fill(values_, values_ + kChunk * sizes_.full, 0.0F);
  std::fill(slopes_, slopes_ + kChunk * sizes_.wide, 0.0F);
}

void FastmaxWorker::take_factors(const FastmaxTokens& tokens) {
  tokens.load_brought(consumers_.first, 0, tokens.count, rows_);
  call_.table.transpose(rows_, sizes_.full, sizes_.full, w_);
}

void FastmaxWorker::take_producers(const FastmaxTokens& tokens, int64_t first, int64_t low, int64_t high) {
  take(tokens, first, producers_);
  tokens.load(first, low, high, rows_);
  call_.table.transpose(rows_, sizes_.wide, sizes_.wide, y_);
  tokens.load_brought(first, low, high, u_);
}

/// visit(number in the block, m, n, weight) of features x_m x_n; m or n below 0: 1 in its place.
template <class Visit>
void FastmaxWorker::each_feature(int64_t first, int64_t count, const Visit& visit) const {
  const int64_t dim = sizes_.dim;
  int64_t m = 0, n = first - 1 - dim;  // of squares: the pair that `first` is
  for (; n >= dim - m && m < dim; ++m) n -= dim - m;
  n += m;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t f = first + i;
    if (f <= dim) {
      visit(i, int64_t{-1}, f - 1, f == 0 ? call_.curve.a0 : call_.curve.a1);
      if (f == dim) m = n = 0;
      continue;
    }
    visit(i, m, n, m == n ? call_.curve.a2 : 2 * call_.curve.a2);
    if (++n == dim) n = ++m;
  }
}

void FastmaxWorker::take(const FastmaxTokens& tokens, int64_t first, Chunk& chunk) const {
  chunk.first = first;
  if (!call_.masks()) return;
  const Fastmax::Args& args = call_.args;
  const Dropout dropout(args.rate, args.seed, tokens.keys ? Fastmax::kKeyStream : Fastmax::kQueryStream);
  chunk.mask.seed = args.seed;
  chunk.mask.stream = dropout.stream;
  chunk.mask.most = dropout.most;
  chunk.mask.kept = dropout.scale;
  const int64_t heads = tokens.keys ? args.problem.kv_heads : args.problem.heads;
  const int64_t base = (tokens.batch * heads + tokens.head) * tokens.count;
  for (int64_t i = 0; i < kChunk; ++i) {
    // Rows of places where there is no token draw what is multiplied by zeros.
    const auto row = static_cast<uint64_t>(base + tokens.token(first + i));
    chunk.mask.low[i] = static_cast<uint32_t>(row);
    chunk.mask.high[i] = static_cast<uint32_t>(row >> 32);
  }
}

void FastmaxWorker::drop(const Chunk& chunk, int64_t first, int64_t count, float* to) const {
  if (!call_.masks()) return;
  const int64_t begin = call_.args.problem.p == 1 ? 1 : 1 + sizes_.dim;  // of those that may be dropped
  const int64_t low = std::max(first, begin), high = first + count;
  for (int64_t group = (low - begin) / 4; begin + 4 * group < high; ++group) {
    float* rows[4];
    for (int64_t k = 0; k < 4; ++k) {
      const int64_t feature = begin + 4 * group + k;
      rows[k] = feature >= low && feature < high ? to + (feature - first) * kChunk : nullptr;
    }
    call_.table.mask(chunk.mask, group, rows);
  }
}

void FastmaxWorker::make_features(const Chunk& chunk, const float* across, int64_t first, int64_t count,
                                  bool weighed, float* to) const {
  each_feature(first, count, [&](int64_t i, int64_t m, int64_t n, float weight) {
    call_.table.feature(m < 0 ? ones_ : across + m * kChunk, n < 0 ? ones_ : across + n * kChunk,
                        weighed ? weight : 1.0F, to + i * kChunk);
  });
  drop(chunk, first, count, to);
}

/// scores (producers, consumers): y . x, or their weights where features are masked.
void FastmaxWorker::make_scores() {
  std::fill(scores_, scores_ + kScores, 0.0F);
  if (!call_.masks())
    return multiply({y_, 1, kChunk, x_, kChunk, scores_, kChunk, kChunk, sizes_.dim, kChunk});
  for (int64_t first = 0; first < sizes_.features; first += kFeatureBlock) {
    const int64_t count = std::min(kFeatureBlock, sizes_.features - first);
    make_features(consumers_, x_, first, count, true, features_);
    make_features(producers_, y_, first, count, false, others_);
    multiply({others_, 1, kChunk, features_, kChunk, scores_, kChunk, kChunk, count, kChunk});
  }
}

void FastmaxWorker::hide(int64_t ahead, float* scores) const {
  for (int64_t y = 0; y < kChunk; ++y) {
    const int64_t seen_from = producers_.first + y - ahead - consumers_.first;
    std::fill_n(scores + y * kChunk, std::clamp<int64_t>(seen_from, 0, kChunk), 0.0F);
  }
}

void FastmaxWorker::add_values(int64_t ahead) {
  make_scores();
  if (!call_.masks()) call_.table.weigh(scores_, kScores, call_.curve);
  hide(ahead, scores_);
  multiply({scores_, 1, kChunk, u_, sizes_.full, values_, sizes_.full, kChunk, kChunk, sizes_.full});
}

void FastmaxWorker::add_slopes(int64_t ahead) {
  std::fill(products_, products_ + kScores, 0.0F);
  multiply({u_, sizes_.full, 1, w_, kChunk, products_, kChunk, kChunk, sizes_.dim + 1, kChunk});
  if (!call_.masks()) {
    make_scores();
    call_.table.slope(scores_, products_, kScores, call_.curve);
    hide(ahead, scores_);
    return multiply({y_, kChunk, 1, scores_, kChunk, slopes_, kChunk, sizes_.dim, kChunk, kChunk});
  }
  hide(ahead, products_);
  for (int64_t first = 0; first < sizes_.features; first += kFeatureBlock) {
    const int64_t count = std::min(kFeatureBlock, sizes_.features - first);
    make_features(producers_, y_, first, count, false, others_);
    std::fill(features_, features_ + kFeatureBlock * kChunk, 0.0F);
    multiply({others_, kChunk, 1, products_, kChunk, features_, kChunk, count, kChunk, kChunk});
    add_derivatives(first, count);
  }
}

void FastmaxWorker::add_derivatives(int64_t first, int64_t count) {
  drop(consumers_, first, count, features_);
  each_feature(first, count, [&](int64_t i, int64_t m, int64_t n, float weight) {
    const float* by = features_ + i * kChunk;
    if (m >= 0) call_.table.add_feature(x_ + n * kChunk, by, weight, slopes_ + m * kChunk);
    if (n >= 0) call_.table.add_feature(m < 0 ? ones_ : x_ + m * kChunk, by, weight, slopes_ + n * kChunk);
  });
}

void FastmaxWorker::add_to_state(float* state) {
  for (int64_t first = 0; first < sizes_.features; first += kFeatureBlock) {
    const int64_t count = std::min(kFeatureBlock, sizes_.features - first);
    make_features(producers_, y_, first, count, false, features_);
    multiply({features_, kChunk, 1, u_, sizes_.full, state + first * sizes_.full, sizes_.full, count, kChunk,
              sizes_.full});
  }
}

void FastmaxWorker::add_values(const float* state) {
  for (int64_t first = 0; first < sizes_.features; first += kFeatureBlock) {
    const int64_t count = std::min(kFeatureBlock, sizes_.features - first);
    make_features(consumers_, x_, first, count, true, features_);
    multiply({features_, 1, kChunk, state + first * sizes_.full, sizes_.full, values_, sizes_.full, kChunk,
              count, sizes_.full});
  }
}

void FastmaxWorker::add_slopes(const float* state) {
  for (int64_t first = 0; first < sizes_.features; first += kFeatureBlock) {
    const int64_t count = std::min(kFeatureBlock, sizes_.features - first);
    std::fill(features_, features_ + kFeatureBlock * kChunk, 0.0F);
    multiply({state + first * sizes_.full, sizes_.full, 1, w_, kChunk, features_, kChunk, count,
              sizes_.dim + 1, kChunk});
    add_derivatives(first, count);
  }
}

const float* FastmaxWorker::slopes() {
  float* rows = slopes_ + kChunk * sizes_.wide;
  for (int64_t i = 0; i < kChunk; ++i)
    for (int64_t d = 0; d < sizes_.wide; ++d) rows[i * sizes_.wide + d] = slopes_[d * kChunk + i];
  return rows;
}

}  // namespace orrery::kernels
