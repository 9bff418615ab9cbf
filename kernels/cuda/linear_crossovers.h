// Which row of Linear takes how many tokens: the one place where it is decided, by what was measured.
//   cuda.matvec  one launch; src of a launch lies in shared memory, so more tokens or wider rows mean more
//                launches, each of which reads the weights again
//   cuda.tiles   three launches, weights read once; its products are those of all tokens
//   cuda.dense   quantised weights are widened to f16 first, which costs the same however many tokens there
//   are
// Plans are made for powers of two of tokens, so the counts here are such.
#pragma once

#include "kernels/cpu/linear_rows.h"
#include "kernels/cuda/linear_packing.h"

namespace orrery::kernels::cuda {

/// The most tokens that cuda.matvec is for, and cuda.tiles if it is not; cuda.dense takes more.
struct Crossover {
  int64_t matvec, tiles;
};

/// Sizes of a call: to a few weights its launches cost more than its bytes, from many on its bytes alone
/// count.
constexpr int64_t kFewWeights = int64_t{4} << 20, kManyWeights = int64_t{8} << 20;

struct Measured {
  DType dtype;
  Crossover few_weights, some_weights, many_weights;
};
/// By linear_bench on an H200: tests/bench/results/linear_h200.md. The first stands for types that are not
/// here.
constexpr Measured kMeasured[] = {
    {DType::q4_k, {8, 128}, {4, 128}, {1, 128}}, {DType::q6_k, {8, 64}, {4, 64}, {2, 128}},
    {DType::q4_0, {8, 64}, {4, 64}, {1, 128}},   {DType::q4_1, {8, 64}, {4, 64}, {1, 128}},
    {DType::q8_0, {8, 128}, {4, 128}, {1, 128}},
};
/// Of f16 and bf16, which need no widening.
constexpr Measured kWide = {DType::bf16, {8, 0}, {4, 0}, {2, 0}};

constexpr Crossover crossover_of(DType dtype, Accuracy accuracy, int64_t weights) {
  if (is_packed(dtype) && accuracy == Accuracy::exact) return {32, 0};  // cuda.tiles rounds
  const Measured* found = is_packed(dtype) ? kMeasured : &kWide;
  for (const Measured& each : kMeasured)
    if (each.dtype == dtype) found = &each;
  if (weights < kFewWeights) return found->few_weights;
  return weights < kManyWeights ? found->some_weights : found->many_weights;
}

/// The type of the first segment speaks for all.
inline Crossover crossover_of(const Linear::Problem& problem) {
  int64_t rows = 0;
  for (int s = 0; s < problem.segment_count; ++s) rows += problem.segments[static_cast<size_t>(s)].rows;
  return crossover_of(problem.segments[0].weight, problem.accuracy, rows * problem.cols);
}

}  // namespace orrery::kernels::cuda
