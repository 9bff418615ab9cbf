// The gradients of dropout, residual add and norm (dropout_norm.h). Operands and units as dropout_norm.cuh
// says.
//   A block takes a part of the rows, one after another (up to 1024 columns: a warp each), and holds the sums
//   over them of the columns that its threads own in registers, a cluster of blocks those of up to 65,536
//   columns. More, or from 8193 on where there are no clusters, lie in the workspace: (3, parts, cols) f32,
//   where every thread reads only what it wrote. A second kernel adds the parts, in one order, in float64.
//   How rows fall into parts depends on the sizes alone.
//   With a second norm (Parallel) there are five sums to hold, in blocks of half the threads: a warp takes
//   rows of up to 512 columns, a block of 4096, a cluster of 32,768.
// Bytes moved: an element of grad_out, x, grad_src, grad_residual and, where they are asked for or given,
// src, grad_residual_out, grad_out2 and grad_src2 each.
#pragma once

#include <algorithm>

#include "kernels/cuda/dropout_norm.cuh"

namespace orrery::kernels::cuda {

constexpr int64_t kWarpColumns = 1024;  // of a row that one warp takes

/// Sums over rows: of weight, bias, colscale, and of weight2, bias2.
constexpr int kMostSums = 5;
ORRERY_HOST_DEVICE constexpr int sums_over_rows(bool parallel) { return parallel ? kMostSums : 3; }
/// How the rows are taken in parts: by the sizes of the call alone. So many that a card has work for all its
/// multiprocessors, and no more than a workspace of 100 MB, or of 32 parts, holds.
struct RowParts {
  int64_t rows, count;  // rows of each part but the last

  static int64_t most(int64_t cols) {
    if (cols <= kWarpColumns) return 512;
    return std::clamp<int64_t>((int64_t{1} << 23) / cols, 32, 256);
  }
  static RowParts of(int64_t rows, int64_t cols) {
    const int64_t each = std::max<int64_t>((rows + most(cols) - 1) / most(cols), 1);
    return {each, (rows + each - 1) / each};
  }
  ORRERY_HOST_DEVICE int64_t place(int which, int64_t part, int64_t cols) const {
    return (which * count + part) * cols;
  }
};

/// What the gradients of a row have in common.
struct RowSums {
  float centre, shift, inverse, m1, m2;

  __device__ float y(float x) const { return ((x - centre) - shift) * inverse; }
};

template <class Form>
struct BackwardRow {
  const DropoutNormBackward::Args& args;
  RowPlace<Form> place, src_place, out_place;  // of x; may not be there

  __device__ BackwardRow(const DropoutNormBackward::Args& call, int64_t row)
      : args(call),
        place{row, call.problem.cols},
        src_place{call.subset.src_of(row), call.problem.cols},
        out_place{call.subset.out_of(row), call.problem.cols} {}

  __device__ bool layer() const { return args.problem.kind == Norm::Kind::layer; }
  __device__ Unit x(int64_t unit) const { return place.x(args.problem.x, args.x, unit); }
  __device__ Unit grad(int64_t unit) const {
    return out_place.is_there() ? out_place.src(args.problem.src, args.grad_out, unit) : Unit{};
  }
  __device__ Unit grad2(int64_t unit) const {
    const bool read = Form::kParallel && args.grad_out2 != nullptr && out_place.is_there();
    return read ? out_place.src(args.problem.src, args.grad_out2, unit) : Unit{};
  }
  /// g of a unit.
  __device__ Unit weighed(int64_t unit, const Unit& grad, const Unit& grad2) const {
    Unit g = place.columns(args.weight, unit);
#pragma unroll
    for (int i = 0; i < kUnit; ++i) g.v[i] *= grad.v[i];
    if constexpr (Form::kParallel)
      if (args.grad_out2 != nullptr) {
        const Unit weight2 = place.columns(args.weight2, unit);
#pragma unroll
        for (int i = 0; i < kUnit; ++i) g.v[i] += weight2.v[i] * grad2.v[i];
      }
    return g;
  }
  /// What is read once the sums are known; zeros where there is nothing.
  __device__ Unit added(int64_t unit) const {
    if (args.grad_residual_out == nullptr) return Unit{};
    return place.x(args.problem.x, args.grad_residual_out, unit);
  }
  __device__ Unit src(int64_t unit) const {
    const bool read = args.grad_colscale != nullptr && src_place.is_there();
    return read ? src_place.src(args.problem.src, args.src, unit) : Unit{};
  }

  __device__ void add(int64_t unit, const Unit& x, float (&sum)[1]) const {
#pragma unroll
    for (int i = 0; i < kUnit; ++i)
      if (i < place.count(unit)) sum[0] += x.v[i];
  }
  __device__ void add(int64_t unit, const Unit& x, const Unit& g, float centre, float (&sums)[4]) const {
#pragma unroll
    for (int i = 0; i < kUnit; ++i) {
      if (i >= place.count(unit)) continue;
      const float away = x.v[i] - centre;
      sums[0] += away;
      sums[1] += away * away;
      sums[2] += g.v[i];
      sums[3] += g.v[i] * away;
    }
  }
  __device__ RowSums sums_of(float centre, const float (&sums)[4]) const {
    const auto columns = static_cast<float>(place.cols);
    const float shift = layer() ? sums[0] / columns : 0.0F;
    const float inverse = 1.0F / sqrtf(fmaxf(sums[1] / columns - shift * shift, 0.0F) + args.eps);
    return {centre, shift, inverse, layer() ? sums[2] / columns : 0.0F,
            (sums[3] - shift * sums[2]) / columns * inverse};
  }

  /// The unit's gradients, and what it adds to the sums over rows. d: added(unit).
  __device__ void finish(int64_t unit, const Unit& x, const Unit& grad, const Unit& grad2, Unit d,
                         const Unit& src, const RowSums& sums,
                         Unit (&of)[sums_over_rows(Form::kParallel)]) const {
    const Unit g = weighed(unit, grad, grad2);
#pragma unroll
    for (int i = 0; i < kUnit; ++i) {
      const float y = sums.y(x.v[i]);
      d.v[i] += sums.inverse * (g.v[i] - sums.m1 - sums.m2 * y);
      of[0].v[i] += grad.v[i] * y;
      of[1].v[i] += grad.v[i];
      if constexpr (Form::kParallel) {
        of[3].v[i] += grad2.v[i] * y;
        of[4].v[i] += grad2.v[i];
      }
    }
    if (args.grad_residual != nullptr) place.put_x(args.problem.x, d, args.grad_residual, unit);
    if constexpr (Form::kParallel)
      if (args.grad_src2 != nullptr) {
        uint32_t words2[kUnit];
        words_of_unit(args.dropout.of(Dropout::kSecondNormStream), place.row, unit, words2);
        Unit of_second;
#pragma unroll
        for (int i = 0; i < kUnit; ++i)
          of_second.v[i] = args.dropout.keeps(words2[i]) ? d.v[i] * args.dropout.scale : 0.0F;
        place.put_src(args.problem.src, of_second, args.grad_src2, unit);
      }
    if (args.grad_src == nullptr && args.grad_colscale == nullptr) return;
    if (!src_place.is_there()) return;
    uint32_t words[kUnit];
    words_of_unit(args.dropout, place.row, unit, words);
    const float kept = kept_factor(args, place.row);
#pragma unroll
    for (int i = 0; i < kUnit; ++i) {
      const bool stays = args.dropout.keeps(words[i]);
      d.v[i] = stays ? d.v[i] * kept : 0.0F;
      of[2].v[i] += stays ? d.v[i] * src.v[i] : 0.0F;
    }
    if (args.grad_src == nullptr) return;
    if (args.colscale != nullptr) {
      const Unit scale = place.columns(args.colscale, unit);
#pragma unroll
      for (int i = 0; i < kUnit; ++i) d.v[i] *= scale.v[i];
    }
    src_place.put_src(args.problem.src, d, args.grad_src, unit);
  }
};

/// Of the columns that a thread owns, over the rows it has seen.
template <class Form, int kUnits>
struct HeldSums {
  static constexpr int kSums = sums_over_rows(Form::kParallel);
  Unit of[kUnits][kSums];
};

template <class Form, int kUnits, class Team>
__device__ inline void backward_held(const BackwardRow<Form>& row, const Team& team,
                                     HeldSums<Form, kUnits>& held) {
  const int64_t first = team.first(), step = team.step(), units = row.place.units();
  Unit x[kUnits], grad[kUnits], grad2[kUnits];
#pragma unroll
  for (int u = 0; u < kUnits; ++u) {
    const int64_t unit = first + u * step;
    x[u] = unit < units ? row.x(unit) : Unit{};
    grad[u] = unit < units ? row.grad(unit) : Unit{};
    grad2[u] = unit < units ? row.grad2(unit) : Unit{};
  }
  float sum[1] = {};
#pragma unroll
  for (int u = 0; u < kUnits; ++u)
    if (const int64_t unit = first + u * step; unit < units) row.add(unit, x[u], sum);
  if (row.layer()) team.join(sum);
  const float centre = row.layer() ? sum[0] / static_cast<float>(row.place.cols) : 0.0F;
  float four[4] = {};
#pragma unroll
  for (int u = 0; u < kUnits; ++u)
    if (const int64_t unit = first + u * step; unit < units)
      row.add(unit, x[u], row.weighed(unit, grad[u], grad2[u]), centre, four);
  team.join(four);
  const RowSums sums = row.sums_of(centre, four);
  Unit added[kUnits], src[kUnits];
#pragma unroll
  for (int u = 0; u < kUnits; ++u) {
    const int64_t unit = first + u * step;
    added[u] = unit < units ? row.added(unit) : Unit{};
    src[u] = unit < units ? row.src(unit) : Unit{};
  }
#pragma unroll
  for (int u = 0; u < kUnits; ++u)
    if (const int64_t unit = first + u * step; unit < units)
      row.finish(unit, x[u], grad[u], grad2[u], added[u], src[u], sums, held.of[u]);
}

template <class Form, int kUnits>
__global__ void __launch_bounds__(kWarpThreads)
    backward_warps_kernel(const DropoutNormBackward::Args args, RowParts parts, float* partials) {
  __shared__ Unit joined[kWarps][kUnits * kWarp];
  pdl_wait();
  pdl_trigger_in_one_wave();
  const int warp = static_cast<int>(threadIdx.x) / kWarp, lane = static_cast<int>(threadIdx.x) % kWarp;
  const int64_t cols = args.problem.cols, begin = blockIdx.x * parts.rows;
  const int64_t end = min(begin + parts.rows, args.rows);
  HeldSums<Form, kUnits> held = {};
  for (int64_t row = begin + warp; row < end; row += kWarps)
    backward_held(BackwardRow<Form>(args, row), WarpTeam{}, held);
#pragma unroll
  for (int which = 0; which < held.kSums; ++which) {
#pragma unroll
    for (int u = 0; u < kUnits; ++u) joined[warp][lane + u * kWarp] = held.of[u][which];
    __syncthreads();
    float* part = partials + parts.place(which, blockIdx.x, cols);
    for (int c = static_cast<int>(threadIdx.x); c < cols; c += kWarpThreads) {
      float sum = 0;
#pragma unroll
      for (int w = 0; w < kWarps; ++w) sum += joined[w][c / kUnit].v[c % kUnit];
      part[c] = sum;
    }
    __syncthreads();
  }
}

/// A thread's sums over the rows of a part.
template <class Form>
__device__ inline void put_sums(const RowPlace<Form>& place, const HeldSums<Form, 1>& held, int64_t unit,
                                const RowParts& parts, int64_t part, float* partials) {
  if (unit >= place.units()) return;
#pragma unroll
  for (int which = 0; which < held.kSums; ++which)
    store_unit<Form::kWhole, DType::f32>(DType::f32, held.of[0][which],
                                         partials + parts.place(which, part, place.cols), unit * kUnit,
                                         place.count(unit));
}

/// A unit a thread.
template <class Form>
__global__ void __launch_bounds__(most_threads<Form>())
    backward_blocks_kernel(const DropoutNormBackward::Args args, RowParts parts, float* partials) {
  __shared__ float shared[BlockTeam::kMostSums * kWarp];
  pdl_wait();
  pdl_trigger_in_one_wave();
  const int64_t begin = blockIdx.x * parts.rows, end = min(begin + parts.rows, args.rows);
  HeldSums<Form, 1> held = {};
  for (int64_t row = begin; row < end; ++row)
    backward_held(BackwardRow<Form>(args, row), BlockTeam{shared}, held);
  put_sums(RowPlace<Form>{0, args.problem.cols}, held, threadIdx.x, parts, blockIdx.x, partials);
}

/// A unit a thread of the cluster.
template <class Form>
__global__ void __launch_bounds__(most_threads<Form>())
    backward_clusters_kernel(const DropoutNormBackward::Args args, RowParts parts, float* partials,
                             unsigned blocks) {
  if constexpr (kHopper) {
    __shared__ float shared[BlockTeam::kMostSums * kWarp];
    __shared__ ClusterTeam::Slots slots;
    pdl_wait();
    const ClusterTeam team{{shared}, slots};
    const int64_t part = blockIdx.x / blocks, begin = part * parts.rows;
    const int64_t end = min(begin + parts.rows, args.rows);
    HeldSums<Form, 1> held = {};
    for (int64_t row = begin; row < end; ++row) backward_held(BackwardRow<Form>(args, row), team, held);
    put_sums(RowPlace<Form>{0, args.problem.cols}, held, team.first(), parts, part, partials);
    team.finish();
  }
}

/// Rows are read again in each pass, and the sums over rows with them.
template <class Form>
__global__ void __launch_bounds__(most_threads<Form>())
    backward_wide_kernel(const DropoutNormBackward::Args args, RowParts parts, float* partials) {
  constexpr int kSums = sums_over_rows(Form::kParallel);
  __shared__ float shared[BlockTeam::kMostSums * kWarp];
  pdl_wait();
  pdl_trigger_in_one_wave();
  const int64_t begin = blockIdx.x * parts.rows, end = min(begin + parts.rows, args.rows);
  const BlockTeam team{shared};
  const int64_t first = team.first(), step = team.step();
  for (int64_t r = begin; r < end; ++r) {
    const BackwardRow<Form> row(args, r);
    const RowPlace<Form>& place = row.place;
    float sum[1] = {};
    if (row.layer()) {
      for (int64_t unit = first; unit < place.units(); unit += step) row.add(unit, row.x(unit), sum);
      team.join(sum);
    }
    const float centre = sum[0] / static_cast<float>(place.cols);
    float four[4] = {};
    for (int64_t unit = first; unit < place.units(); unit += step)
      row.add(unit, row.x(unit), row.weighed(unit, row.grad(unit), row.grad2(unit)), centre, four);
    team.join(four);
    const RowSums sums = row.sums_of(centre, four);
    for (int64_t unit = first; unit < place.units(); unit += step) {
      Unit of[kSums] = {};
      if (r > begin) {
#pragma unroll
        for (int which = 0; which < kSums; ++which)
          of[which] = place.columns(partials + parts.place(which, blockIdx.x, place.cols), unit);
      }
      row.finish(unit, row.x(unit), row.grad(unit), row.grad2(unit), row.added(unit), row.src(unit), sums,
                 of);
#pragma unroll
      for (int which = 0; which < kSums; ++which)
        store_unit<Form::kWhole, DType::f32>(DType::f32, of[which],
                                             partials + parts.place(which, blockIdx.x, place.cols),
                                             unit * kUnit, place.count(unit));
    }
  }
}

constexpr int kColumns = 32, kSteps = 8;

/// What nobody asks for is null.
struct SumTargets {
  float* of[kMostSums];
};

/// A block takes 32 columns of one of the sums: its 8 rows every 8th part, joined by halves.
static __global__ void __launch_bounds__(kColumns* kSteps)
    add_parts_kernel(const float* partials, RowParts parts, int64_t cols, SumTargets targets) {
  __shared__ double sums[kSteps][kColumns];
  pdl_wait();
  pdl_trigger_in_one_wave();
  const int which = static_cast<int>(blockIdx.y);
  float* target = targets.of[which];
  if (target == nullptr) return;
  const int64_t column = static_cast<int64_t>(blockIdx.x) * kColumns + threadIdx.x;
  double own = 0;
  for (int64_t part = threadIdx.y; column < cols && part < parts.count; part += kSteps)
    own += partials[parts.place(which, part, cols) + column];
  sums[threadIdx.y][threadIdx.x] = own;
  for (unsigned half = kSteps / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.y < half) sums[threadIdx.y][threadIdx.x] += sums[threadIdx.y + half][threadIdx.x];
  }
  if (threadIdx.y == 0 && column < cols) target[column] = static_cast<float>(sums[0][threadIdx.x]);
}

template <bool kParallel>
void run_backward(const DropoutNormBackward::Args& args, const Launch& launch) {
  const int64_t cols = args.problem.cols, units = (cols + kUnit - 1) / kUnit;
  const RowParts parts = RowParts::of(args.rows, cols);
  auto* partials = reinterpret_cast<float*>(launch.workspace);
  if (args.subset.src_rows != nullptr && args.grad_src != nullptr)
    zero_rows(launch, args.problem.src, args.subset.src_count, cols, args.grad_src);
  const bool whole =
      cols % kUnit == 0 &&
      are_aligned(args.grad_out, args.grad_out2, args.grad_residual_out, args.x, args.src, args.weight,
                  args.weight2, args.colscale, args.grad_src, args.grad_src2, args.grad_residual);
  with_form<kParallel>(whole, args.problem.src, args.problem.x, [&](auto form) {
    using Form = decltype(form);
    const dim3 grid = in_x(parts.count);
    constexpr int64_t kMost = most_threads<Form>(), kHeldColumns = kMost * kUnit;
    if (cols <= kWarpColumns / 2)
      return launch_kernel(launch, backward_warps_kernel<Form, 2>, grid, dim3(kWarpThreads), 0, args, parts,
                           partials);
    if constexpr (!kParallel)
      if (cols <= kWarpColumns)
        return launch_kernel(launch, backward_warps_kernel<Form, 4>, grid, dim3(kWarpThreads), 0, args, parts,
                             partials);
    if (const int64_t blocks =
            cluster_of(cols, current_card(), kHeldColumns, std::min(kHeldColumns, kClusterColumns));
        blocks > 0 && units <= blocks * kMost)
      return launch_clusters(launch, backward_clusters_kernel<Form>, static_cast<unsigned>(blocks),
                             in_x(parts.count * blocks), in_x(whole_warps((units + blocks - 1) / blocks)), 0,
                             args, parts, partials, static_cast<unsigned>(blocks));
    const auto kernel = cols <= kHeldColumns ? backward_blocks_kernel<Form> : backward_wide_kernel<Form>;
    const int64_t threads = std::min<int64_t>(whole_warps(units), kMost);
    launch_kernel(launch, kernel, grid, in_x(threads), 0, args, parts, partials);
  });
  const SumTargets targets{
      {args.grad_weight, args.grad_bias, args.grad_colscale, args.grad_weight2, args.grad_bias2}};
  launch_kernel(launch, add_parts_kernel,
                dim3(static_cast<unsigned>((cols + kColumns - 1) / kColumns), sums_over_rows(kParallel)),
                dim3(kColumns, kSteps), 0, partials, parts, cols, targets);
}

}  // namespace orrery::kernels::cuda
