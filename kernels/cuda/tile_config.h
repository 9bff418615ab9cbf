// What was tuned on cards, by architecture: the one place that has such numbers. What follows from a card's
// size (multiprocessors, shared memory, caches) is computed from kernels/machine.h instead.
//
// Rows of Linear by tokens, as measured with linear_bench (tests/bench/results):
//   cuda.matvec  one launch; src of a launch lies in shared memory, so more tokens or wider rows mean more
//                launches, each of which reads the weights again
//   cuda.tiles   three launches, weights read once; its products are those of all tokens
//   cuda.dense   quantised weights are widened to f16 first, which costs the same however many tokens there
//                are
// Plans are made for powers of two of tokens, so the counts here are such.
#pragma once

#include "kernels/cpu/linear_rows.h"
#include "kernels/cuda/linear_packing.h"
#include "kernels/machine.h"

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

struct TileConfig {
  int capability;       // of the cards that the numbers are for, and of those up to the next entry's
  int cluster_blocks;   // most of one cluster; 0: there are none
  int multiprocessors;  // of the largest card, for what is decided when kernels are compiled
  // Blocks of a grid that walks over its work, for each multiprocessor:
  int append_blocks, pointwise_blocks;
  /// By type; the first stands for types that are not here.
  Measured packed[5];
  Measured wide;  // f16 and bf16, which need no widening
};

/// Measured on an H200 (tests/bench/results/linear_h200.md); the other architectures use its numbers until
/// theirs are measured, clusters aside.
constexpr TileConfig measured_on_h200(int capability, int cluster_blocks, int multiprocessors) {
  return {.capability = capability,
          .cluster_blocks = cluster_blocks,
          .multiprocessors = multiprocessors,
          .append_blocks = 8,
          .pointwise_blocks = 16,
          .packed = {{DType::q4_k, {8, 128}, {4, 128}, {1, 128}},
                     {DType::q6_k, {8, 64}, {4, 64}, {2, 128}},
                     {DType::q4_0, {8, 64}, {4, 64}, {1, 128}},
                     {DType::q4_1, {8, 64}, {4, 64}, {1, 128}},
                     {DType::q8_0, {8, 128}, {4, 128}, {1, 128}}},
          .wide = {DType::bf16, {8, 0}, {4, 0}, {2, 0}}};
}

/// Clusters of more than 8 blocks are for the cards of data centres.
inline constexpr TileConfig kTileConfigs[] = {measured_on_h200(80, 0, 144), measured_on_h200(90, 16, 132),
                                              measured_on_h200(100, 16, 148), measured_on_h200(120, 8, 170)};

constexpr const TileConfig& config_of(int capability) {
  const TileConfig* found = kTileConfigs;
  for (const TileConfig& config : kTileConfigs)
    if (config.capability <= capability) found = &config;
  return *found;
}
constexpr const TileConfig& config_of(const CardMachine& card) { return config_of(card.capability); }

constexpr Crossover crossover_of(const TileConfig& config, DType dtype, Precision precision,
                                 int64_t weights) {
  if (is_packed(dtype) && !allows(precision, Rounded::f16)) return {32, 0};  // cuda.tiles rounds
  const Measured* found = is_packed(dtype) ? config.packed : &config.wide;
  for (const Measured& each : config.packed)
    if (each.dtype == dtype) found = &each;
  if (weights < kFewWeights) return found->few_weights;
  return weights < kManyWeights ? found->some_weights : found->many_weights;
}

/// The type of the first segment speaks for all.
inline Crossover crossover_of(const Linear::Problem& problem, const CardMachine& card) {
  int64_t rows = 0;
  for (int s = 0; s < problem.segment_count; ++s) rows += problem.segments[static_cast<size_t>(s)].rows;
  return crossover_of(config_of(card), problem.segments[0].weight, problem.precision, rows * problem.cols);
}

/// Shared memory of each of `blocks` that run on one multiprocessor; the driver keeps 1 KB a block.
constexpr size_t shared_of_each(const CardMachine& card, int blocks) {
  const size_t share = card.shared_per_multiprocessor / static_cast<size_t>(blocks);
  return share > 1024 ? (share - 1024 < card.shared_per_block ? share - 1024 : card.shared_per_block) : 0;
}

/// Of products that are finished after they are made: they stay in the L2 cache beside what is read.
constexpr int64_t cached_bytes(const CardMachine& card) {
  return static_cast<int64_t>(card.l2_bytes / 25 * 16);
}

}  // namespace orrery::kernels::cuda
