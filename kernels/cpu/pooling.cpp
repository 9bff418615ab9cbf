// Rows of Pooling (pooling.h). An item is a row of dst: tap by tap, the elements that a run of its windows
// read are brought, converted, and taken into the run's values, which stay in L1. oneDNN's pools would lose
// NaNs, which have to win here.
//   traffic  src once a tap, from L1 and L2 where windows overlap; dst once
#include "kernels/pooling.h"

#include <xmmintrin.h>

#include <algorithm>
#include <limits>

#include "kernels/cpu/element_runs.h"

namespace orrery::kernels {
namespace {

using PoolFunction = Pooling::Function;

/// Each the larger of both, NaN if one is: maxps gives its second operand where it cannot tell, so a NaN that
/// was there before is put back. Without branches, which random numbers would mispredict.
void take_larger(const float* elements, int64_t n, float* values) {
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const __m128 value = _mm_loadu_ps(values + i), nan = _mm_cmpunord_ps(value, value);
    const __m128 larger = _mm_max_ps(value, _mm_loadu_ps(elements + i));
    _mm_storeu_ps(values + i, _mm_or_ps(_mm_and_ps(nan, value), _mm_andnot_ps(nan, larger)));
  }
  for (; i < n; ++i)
    if (elements[i] > values[i] || elements[i] != elements[i]) values[i] = elements[i];
}

/// A row of dst.
struct PoolRow {
  int64_t plane, z, y;
};

class Pool {
 public:
  explicit Pool(const Pooling::Args& args) : args_(args), p_(args.problem) {}

  template <PoolFunction function>
  void row(const PoolRow& row) const {
    float values[kRun], counts[kRun];
    const int64_t width = p_.dst_size[2];
    for (int64_t first = 0; first < width; first += kRun) {
      const int64_t n = std::min(kRun, width - first);
      std::fill_n(values, n, function == PoolFunction::max ? -std::numeric_limits<float>::infinity() : 0.0F);
      std::fill_n(counts, n, 0.0F);
      run<function>(row, first, n, values, counts);
      if (function == PoolFunction::average) divide(row, first, n, values, counts);
      const int64_t to = ((row.plane * p_.dst_size[0] + row.z) * p_.dst_size[1] + row.y) * width + first;
      store_run(p_.dtype, values, n, at(p_.dtype, args_.dst, to), 1);
    }
  }

 private:
  template <PoolFunction function>
  void run(const PoolRow& row, int64_t first, int64_t n, float* values, float* counts) const {
    const Window& window = p_.window;
    for (int64_t kz = 0; kz < window.kernel[0]; ++kz)
      for (int64_t ky = 0; ky < window.kernel[1]; ++ky) {
        const int64_t z = window.reads(0, row.z, kz, p_.src_size[0]);
        const int64_t y = window.reads(1, row.y, ky, p_.src_size[1]);
        if (z < 0 || y < 0) continue;
        const int64_t from = ((row.plane * p_.src_size[0] + z) * p_.src_size[1] + y) * p_.src_size[2];
        for (int64_t kx = 0; kx < window.kernel[2]; ++kx) tap<function>(from, kx, first, n, values, counts);
      }
  }

  /// One tap of n windows: of those it reads an element for, which are neighbours.
  template <PoolFunction function>
  void tap(int64_t from, int64_t kx, int64_t first, int64_t n, float* values, float* counts) const {
    const int64_t stride = p_.window.stride[2];
    const int64_t start = kx * p_.window.dilation[2] - p_.window.padding[2];  // of window 0
    const int64_t before = start < 0 ? (-start + stride - 1) / stride : 0;
    const int64_t begin = std::max(before, first);
    const int64_t after = p_.src_size[2] <= start ? 0 : (p_.src_size[2] - 1 - start) / stride + 1;
    const int64_t count = std::min(after, first + n) - begin;
    if (count <= 0) return;
    float elements[kRun];
    load_run(p_.dtype, at(p_.dtype, args_.src, from + begin * stride + start), stride, count, elements);
    float* value = values + (begin - first);
    if constexpr (function == PoolFunction::max) {
      take_larger(elements, count, value);
    } else {
      float* counted = counts + (begin - first);
      for (int64_t i = 0; i < count; ++i) value[i] += elements[i];
      for (int64_t i = 0; i < count; ++i) counted[i] += 1.0F;
    }
  }

  void divide(const PoolRow& row, int64_t first, int64_t n, float* values, const float* counts) const {
    const int64_t rows = p_.counts_padding ? taps_inside(p_, 0, row.z) * taps_inside(p_, 1, row.y) : 0;
    for (int64_t i = 0; i < n; ++i)
      values[i] /= p_.counts_padding ? static_cast<float>(rows * taps_inside(p_, 2, first + i)) : counts[i];
  }

  const Pooling::Args& args_;
  const Pooling::Problem& p_;
};

template <PoolFunction function>
void pool_rows(const Pooling::Args& args, const Launch& launch) {
  const Pool pool(args);
  const Pooling::Problem& p = args.problem;
  split(launch, p.planes * p.dst_size[0] * p.dst_size[1], p.dst_size[2] * p.window.taps(),
        [&](int64_t begin, int64_t end, int) {
          for (int64_t item = begin; item < end; ++item)
            pool.row<function>({item / (p.dst_size[0] * p.dst_size[1]), item / p.dst_size[1] % p.dst_size[0],
                                item % p.dst_size[1]});
        });
}

void run_pools(const Pooling::Args& args, const Launch& launch) {
  args.problem.function == PoolFunction::max ? pool_rows<PoolFunction::max>(args, launch)
                                             : pool_rows<PoolFunction::average>(args, launch);
}

}  // namespace

std::span<const Row<Pooling>> pooling_rows() {
  static const Row<Pooling> rows[] = {
      {.name = "cpu.runs", .supports = on_any_machine<Pooling, ref::legal>, .run = run_pools},
      {.name = "cpu.reference", .supports = on_any_machine<Pooling, ref::legal>, .run = ref::pooling},
  };
  return rows;
}

}  // namespace orrery::kernels
