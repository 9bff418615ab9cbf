// Dropout, residual add and norm in one (dropout_norm.h):
//   x = dropout(src rowscale) colscale + residual (Parallel: + dropout(src2)); out = weight (x - mean) s +
//   bias, rms: weight x s + bias
// Operands and units as dropout_norm.cuh says.
//   up to 768 columns: a warp a row, four rows a block. More: a block a row, which holds some 130,000
//   columns of 16 bits and 75,000 of 32. Longer rows, so few that they leave half of the card without a
//   block: where the card has them, a cluster of two, four or eight blocks a row (with a row for each
//   multiprocessor or more clusters take 1.4 times as long: their blocks wait for each other three times a
//   row). From 8,192 to 20,480 columns of 16 bits many rows are in registers alone. Else the first 16 columns
//   of a thread are, the next in shared memory (eight blocks hold 262,144 columns), and what is left is read
//   again, from residual_out where there is one. All that is read of a unit is read before it is written, so
//   residual_out may be src, src2 or residual.
// Quantised rows are normed twice from there, for the largest number and with it.
// Bytes moved: an element of src, residual, out and residual_out each, and of src2 and out2 where they are, a
// byte of quantised.
#pragma once

#include <algorithm>

#include "kernels/cuda/dropout_norm.cuh"

namespace orrery::kernels::cuda {

constexpr int64_t kFewRows = 512;  // below it there are more threads than rows need
constexpr int kHeld = 2;           // units of a thread in registers
// The same of rows that are there alone. None of them is in shared memory, so the L1 cache has room for
// weight and bias, which are as many bytes a column as all that is moved: with 18,432 columns blocks with a
// shelf read them from the L2 cache for every row, and take 8 % longer.
constexpr int kAllHeld = 5, kAllHeldThreads = 512;

/// x of the units after the held ones, in its type.
struct Shelf {
  void* memory;
  int64_t units;
};

/// A unit of a row as its operands have it.
template <class Form>
struct Operands {
  Packed<Form::kWhole, Form::kSrc> src, second;
  Packed<Form::kWhole, Form::kX> added;
};

template <class Form>
struct ForwardRow {
  using X = Packed<Form::kWhole, Form::kX>;

  const DropoutNorm::Args& args;
  RowPlace<Form> place, src_place, out_place;  // of x; may not be there
  float kept;
  Shelf shelf;

  __device__ ForwardRow(const DropoutNorm::Args& call, int64_t row, Shelf room)
      : args(call),
        place{row, call.problem.cols},
        src_place{call.subset.src_of(row), call.problem.cols},
        out_place{call.subset.out_of(row), call.problem.cols},
        kept(src_place.is_there() ? kept_factor(call, row) : 0.0F),
        shelf(room) {}

  __device__ int units() const { return static_cast<int>(place.units()); }
  __device__ X residual(int64_t unit) const {
    if constexpr (Form::kSrc != Form::kX) {
      if (args.problem.residual == Form::kSrc) return {place.src(Form::kSrc, args.residual, unit)};
    }
    return place.packed_x(args.problem.residual, args.residual, unit);
  }

  /// Zeros beyond the row.
  __device__ Operands<Form> read(int unit) const {
    Operands<Form> of = {};
    if (unit >= units()) return of;
    if (src_place.is_there()) of.src = src_place.packed_src(args.problem.src, args.src, unit);
    if constexpr (Form::kParallel)
      if (args.src2 != nullptr) of.second = place.packed_src(args.problem.src, args.src2, unit);
    if (args.residual != nullptr) of.added = residual(unit);
    return of;
  }
  /// x of units first, first + step, ..., which is written to residual_out; zeros beyond the row.
  template <int kCount>
  __device__ void take(int first, int step, const Operands<Form> (&of)[kCount], X (&x)[kCount]) const {
#pragma unroll
    for (int u = 0; u < kCount; ++u) {
      const int unit = first + u * step;
      x[u] = unit < units() ? mixed(unit, of[u]) : X{};
    }
    if (args.residual_out == nullptr) return;
#pragma unroll
    for (int u = 0; u < kCount; ++u) {
      const int unit = first + u * step;
      if (unit < units())
        store_packed<Form::kWhole, Form::kX, Form::kStreams>(args.problem.x, x[u], args.residual_out,
                                                             place.at(unit), place.count(unit));
    }
  }

  /// x of a unit. Its words are drawn while the operands are on their way.
  __device__ X mixed(int unit, const Operands<Form>& of) const {
    uint32_t words[kUnit] = {};
    if (src_place.is_there()) words_of_unit(args.dropout, place.row, unit, words);
    Unit x = unpacked(of.src);
#pragma unroll
    for (int i = 0; i < kUnit; ++i) x.v[i] = args.dropout.keeps(words[i]) ? x.v[i] * kept : 0.0F;
    if (args.colscale != nullptr) {
      const Unit scale = place.columns(args.colscale, unit);
#pragma unroll
      for (int i = 0; i < kUnit; ++i) x.v[i] *= scale.v[i];
    }
    if constexpr (Form::kParallel)
      if (args.src2 != nullptr) {
        uint32_t words2[kUnit];
        words_of_unit(args.dropout.of(Dropout::kSecondNormStream), place.row, unit, words2);
        const Unit second = unpacked(of.second);
#pragma unroll
        for (int i = 0; i < kUnit; ++i)
          x.v[i] += args.dropout.keeps(words2[i]) ? second.v[i] * args.dropout.scale : 0.0F;
      }
    const Unit added = unpacked(of.added);
#pragma unroll
    for (int i = 0; i < kUnit; ++i) x.v[i] += added.v[i];
    return packed<Form::kWhole, Form::kX>(args.problem.x, x);
  }

  /// To the nearest, halves to even.
  __device__ void put_quantised(const Unit& out, int unit) const {
    int8_t* to = args.quantised + out_place.at(unit);
    if constexpr (Form::kWhole) {
      uint32_t words[2] = {};
#pragma unroll
      for (int i = 0; i < kUnit; ++i)
        words[i / 4] |= (static_cast<uint32_t>(__float2int_rn(out.v[i])) & 0xFFU) << (8 * (i % 4));
      *reinterpret_cast<uint2*>(to) = {words[0], words[1]};
    } else {
      for (int i = 0; i < out_place.count(unit); ++i) to[i] = static_cast<int8_t>(__float2int_rn(out.v[i]));
    }
  }

  /// Of a unit whose x is in no register, the thread's `slot`-th place on the shelf: taken, and laid there as
  /// far as that goes.
  __device__ Unit take_more(int unit, int slot, const Operands<Form>& of) const {
    const Unit x = taken(unit, of);
    if constexpr (Form::kWhole)
      if (slot < shelf.units)
        store_unit<true, Form::kX>(Form::kX, x, shelf.memory, int64_t{slot} * kUnit, kUnit);
    return x;
  }
  __device__ Unit again(int unit, int slot) const {
    if constexpr (Form::kWhole)
      if (slot < shelf.units)
        return load_unit<true, Form::kX>(Form::kX, shelf.memory, int64_t{slot} * kUnit, kUnit);
    if (args.residual_out != nullptr) return place.x(args.problem.x, args.residual_out, unit);
    return taken(unit, read(unit));
  }
  __device__ Unit taken(int unit, const Operands<Form>& operands) const {
    const Operands<Form> of[1] = {operands};
    X x[1];
    take(unit, 1, of, x);
    return unpacked(x[0]);
  }
};

/// A row has at most kUnits units of each thread, if not kMore.
template <class Form, int kUnits, bool kMore, class Team>
__device__ inline void forward_row(const ForwardRow<Form>& row, const Team& team) {
  const DropoutNorm::Args& args = row.args;
  const RowPlace<Form>& place = row.place;
  const bool layer = args.problem.kind == Norm::Kind::layer;
  const auto columns = static_cast<float>(place.cols);
  const auto first = static_cast<int>(team.first()), step = static_cast<int>(team.step());
  const int units = row.units(), held = kUnits * step;
  Operands<Form> of[kUnits];  // all on their way before the first is used
#pragma unroll
  for (int u = 0; u < kUnits; ++u) of[u] = row.read(first + u * step);
  typename ForwardRow<Form>::X x[kUnits];
  row.take(first, step, of, x);
  /// body(unit, its x) for all units of the thread, those after the held ones by way of `more`.
  const auto each = [&](auto&& more, auto&& body) {
#pragma unroll
    for (int u = 0; u < kUnits; ++u)
      if (const int unit = first + u * step; unit < units) body(unit, unpacked(x[u]));
    if constexpr (kMore)
      for (int unit = first + held, slot = static_cast<int>(threadIdx.x); unit < units;
           unit += step, slot += static_cast<int>(blockDim.x))
        body(unit, more(unit, slot));
  };
  Operands<Form> next = {};  // which are read before those of the unit before are used
  if constexpr (kMore) next = row.read(first + held);
  const auto taken = [&](int unit, int slot) {
    const Operands<Form> now = next;
    next = row.read(unit + step);
    return row.take_more(unit, slot, now);
  };
  const auto again = [&](int unit, int slot) { return row.again(unit, slot); };

  float sum[1] = {};
  each(taken, [&](int unit, const Unit& of) {
#pragma unroll
    for (int i = 0; i < kUnit; ++i)
      if (i < place.count(unit)) sum[0] += of.v[i];
  });
  if (!row.out_place.is_there()) return;  // all of the team
  if (layer) team.join(sum);
  const float centre = layer ? sum[0] / columns : 0.0F;
  float moments[2] = {};
  each(again, [&](int unit, const Unit& of) {
#pragma unroll
    for (int i = 0; i < kUnit; ++i) {
      if (i >= place.count(unit)) continue;
      const float away = of.v[i] - centre;
      moments[0] += away;
      moments[1] += away * away;
    }
  });
  team.join(moments);
  const float shift = layer ? moments[0] / columns : 0.0F;  // what the rounded mean is short of
  const float inverse = 1.0F / sqrtf(fmaxf(moments[1] / columns - shift * shift, 0.0F) + args.eps);

  const auto normed_by = [&](const float* weights, const float* biases, int unit, const Unit& of) {
    const Unit weight = place.columns(weights, unit);
    const Unit bias = biases != nullptr ? place.columns(biases, unit) : Unit{};
    Unit out;
#pragma unroll
    for (int i = 0; i < kUnit; ++i)
      out.v[i] = ((of.v[i] - centre) - shift) * inverse * weight.v[i] + bias.v[i];
    return out;
  };
  const auto normed = [&](int unit, const Unit& of) { return normed_by(args.weight, args.bias, unit, of); };
  float largest[1] = {};
  each(again, [&](int unit, const Unit& of) {
    if constexpr (Form::kParallel)
      if (args.out2 != nullptr)
        row.out_place.put_src(args.problem.src, normed_by(args.weight2, args.bias2, unit, of), args.out2,
                              unit);
    const Unit out = normed(unit, of);
    if (args.out != nullptr) row.out_place.put_src(args.problem.src, out, args.out, unit);
    if (args.quantised == nullptr) return;
#pragma unroll
    for (int i = 0; i < kUnit; ++i)
      if (i < place.count(unit)) largest[0] = LargerOrNan{}(largest[0], fabsf(out.v[i]));
  });
  if (args.quantised == nullptr) return;
  team.join(largest, LargerOrNan{});
  const bool finite = largest[0] <= FLT_MAX;
  const float factor = finite && largest[0] > 0 ? 127.0F / largest[0] : 0.0F;
  if (first == 0) args.scales[row.out_place.row] = finite ? largest[0] / 127.0F : NAN;
  each(again, [&](int unit, const Unit& of) {
    Unit out = normed(unit, of);
#pragma unroll
    for (int i = 0; i < kUnit; ++i) out.v[i] = finite ? out.v[i] * factor : 0.0F;
    row.put_quantised(out, unit);
  });
}

template <class Form, int kUnits>
__global__ void __launch_bounds__(kWarpThreads) forward_warps_kernel(const DropoutNorm::Args args) {
  pdl_wait();
  pdl_trigger_in_one_wave();
  const int64_t row = static_cast<int64_t>(blockIdx.x) * (blockDim.x / kWarp) + threadIdx.x / kWarp;
  if (row >= args.rows) return;
  forward_row<Form, kUnits, false>(ForwardRow<Form>(args, row, {}), WarpTeam{});
}

template <class Form>
__global__ void __launch_bounds__(most_threads<Form>())
    forward_blocks_kernel(const DropoutNorm::Args args, int64_t shelf_units) {
  extern __shared__ uint4 shelf[];
  __shared__ float shared[BlockTeam::kMostSums * kWarp];
  pdl_wait();
  pdl_trigger_in_one_wave();
  forward_row<Streamed<Form>, kHeld, true>(ForwardRow<Streamed<Form>>(args, blockIdx.x, {shelf, shelf_units}),
                                           BlockTeam{shared});
}

/// Rows of up to kAllHeld kAllHeldThreads units; two blocks a multiprocessor.
template <class Form>
__global__ void __launch_bounds__(kAllHeldThreads, 2) forward_held_kernel(const DropoutNorm::Args args) {
  __shared__ float shared[BlockTeam::kMostSums * kWarp];
  pdl_wait();
  pdl_trigger_in_one_wave();
  forward_row<Streamed<Form>, kAllHeld, false>(ForwardRow<Streamed<Form>>(args, blockIdx.x, {}),
                                               BlockTeam{shared});
}

template <class Form>
__global__ void __launch_bounds__(most_threads<Form>())
    forward_clusters_kernel(const DropoutNorm::Args args, int64_t shelf_units, unsigned blocks) {
  if constexpr (kHopper) {
    extern __shared__ uint4 shelf[];
    __shared__ float shared[BlockTeam::kMostSums * kWarp];
    __shared__ ClusterTeam::Slots slots;
    pdl_wait();
    const ClusterTeam team{{shared}, slots};
    forward_row<Streamed<Form>, kHeld, true>(
        ForwardRow<Streamed<Form>>(args, blockIdx.x / blocks, {shelf, shelf_units}), team);
    team.finish();
  }
}

/// Threads of a block that has a row of so many units, if there are many rows: few, so that several blocks
/// read, add up and write side by side, but no more units of each than two in registers and some on the
/// shelf.
inline int64_t threads_of(int64_t units) {
  constexpr int64_t kShort = 2560, kLong = 8192;
  return units <= kShort ? 256 : units <= kLong ? 512 : kMostThreads;
}

/// Units of x that are kept in shared memory beside `other` bytes: those of `units` that a block's registers
/// do not hold.
template <class Form>
int64_t shelf_of(int64_t units, int64_t threads, size_t other) {
  if (!Form::kWhole) return 0;
  constexpr size_t kUnitBytes = Form::kX == DType::f32 ? 4 * kUnit : 2 * kUnit;
  const size_t room = shared_of_each(current_card(), 1);
  return std::clamp<int64_t>(units - kHeld * threads, 0,
                             static_cast<int64_t>((room - std::min(room, other)) / kUnitBytes));
}
template <class Form>
size_t shelf_bytes(int64_t shelf) {
  return static_cast<size_t>(shelf) * kUnit * (Form::kX == DType::f32 ? 4 : 2);
}

template <class Form>
void run_clusters(const DropoutNorm::Args& args, const Launch& launch, int64_t blocks) {
  const int64_t units = (args.problem.cols + kUnit - 1) / kUnit, each = (units + blocks - 1) / blocks;
  const int64_t threads = std::min<int64_t>(whole_warps((each + kHeld - 1) / kHeld), most_threads<Form>());
  constexpr size_t kOther = sizeof(float) * BlockTeam::kMostSums * kWarp + sizeof(ClusterTeam::Slots);
  // Of a block: its units are those of every thread in turn, of which there are so many at most.
  const int64_t turns = (units + blocks * threads - 1) / (blocks * threads);
  const int64_t shelf = shelf_of<Form>(turns * threads, threads, kOther);
  launch_clusters(launch, forward_clusters_kernel<Form>, static_cast<unsigned>(blocks),
                  in_x(args.rows * blocks), in_x(threads), shelf_bytes<Form>(shelf), args, shelf,
                  static_cast<unsigned>(blocks));
}

template <bool kParallel>
void run_forward(const DropoutNorm::Args& args, const Launch& launch) {
  const int64_t cols = args.problem.cols;
  if (args.subset.out_rows != nullptr && args.out != nullptr)
    zero_rows(launch, args.problem.src, args.subset.out_count, cols, args.out);
  if (args.subset.out_rows != nullptr && args.out2 != nullptr)
    zero_rows(launch, args.problem.src, args.subset.out_count, cols, args.out2);
  if (args.subset.out_rows != nullptr && args.quantised != nullptr) {
    zero_rows(launch, DType::i8, args.subset.out_count, cols, args.quantised);
    zero_rows(launch, DType::f32, args.subset.out_count, 1, args.scales);
  }
  if (args.rows <= 0) return;
  const bool whole = cols % kUnit == 0 && are_aligned(args.src, args.src2, args.residual, args.out, args.out2,
                                                      args.quantised, args.residual_out, args.weight,
                                                      args.bias, args.weight2, args.bias2, args.colscale);
  with_form<kParallel>(whole, args.problem.src, args.problem.x, [&](auto form) {
    using Form = decltype(form);
    const int64_t units = (cols + kUnit - 1) / kUnit;
    const bool few = args.rows < kFewRows;
    const auto by_warps = [&](auto kernel) {
      const int64_t warps = few ? 1 : kWarps;
      launch_kernel(launch, kernel, in_x((args.rows + warps - 1) / warps), in_x(warps * kWarp), 0, args);
    };
    if (units <= 2 * kWarp) return by_warps(forward_warps_kernel<Form, 2>);
    if (units <= 3 * kWarp) return by_warps(forward_warps_kernel<Form, 3>);
    // Units of 32 bits, or of two sources, are too many registers.
    if constexpr (Form::kWhole && Form::kX != DType::f32 && !Form::kParallel)
      if (!few && units >= 2 * kAllHeldThreads && units <= kAllHeld * kAllHeldThreads)
        return launch_kernel(launch, forward_held_kernel<Form>, in_x(args.rows), in_x(kAllHeldThreads), 0,
                             args);
    const int64_t wanted = few ? units : std::min((units + kHeld - 1) / kHeld, threads_of(units));
    const int64_t threads = std::min<int64_t>(whole_warps(wanted), most_threads<Form>());
    const int64_t shelf = shelf_of<Form>(units, threads, sizeof(float) * BlockTeam::kMostSums * kWarp);
    if (kHeld * threads + shelf < units && 2 * args.rows < current_card().multiprocessors)
      if (const int64_t blocks = cluster_of(cols, current_card()); blocks > 0)
        return run_clusters<Form>(args, launch, blocks);
    launch_kernel(launch, forward_blocks_kernel<Form>, in_x(args.rows), in_x(threads),
                  shelf_bytes<Form>(shelf), args, shelf);
  });
}

}  // namespace orrery::kernels::cuda
