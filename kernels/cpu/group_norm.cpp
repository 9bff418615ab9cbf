// Rows of GroupNorm. An item is a group of one batch index, which lies in one piece: three passes over it, a
// run at a time, in L2 after the first.
#include "kernels/group_norm.h"

#include <cmath>

#include "kernels/cpu/element_runs.h"

namespace orrery::kernels {
namespace {

constexpr int kSums = 8;  // of a run, side by side

template <class Each>
double sum_of(const float* values, int64_t n, Each&& each) {
  double sums[kSums] = {};
  int64_t i = 0;
  for (; i + kSums <= n; i += kSums)
    for (int k = 0; k < kSums; ++k) sums[k] += each(static_cast<double>(values[i + k]));
  for (; i < n; ++i) sums[0] += each(static_cast<double>(values[i]));
  double sum = 0;
  for (const double part : sums) sum += part;
  return sum;
}

void norm_group(const GroupNorm::Args& args, int64_t group) {
  const int64_t each = args.channels / args.groups, count = each * args.inner, first = group * count;
  float values[kRun];
  const auto load = [&](int64_t i) {
    const int64_t n = std::min(kRun, count - i);
    load_run(args.dtype, at(args.dtype, args.src, first + i), 1, n, values);
    return n;
  };
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < count; i += kRun) sum += sum_of(values, load(i), [](double x) { return x; });
  const double mean = sum / static_cast<double>(count);
  for (int64_t i = 0; i < count; i += kRun)
    squares += sum_of(values, load(i), [mean](double x) { return (x - mean) * (x - mean); });
  const double scale = 1 / std::sqrt(squares / static_cast<double>(count) + static_cast<double>(args.eps));
  const int64_t channel = group % args.groups * each;
  for (int64_t c = 0; c < each; ++c) {
    const double factor = scale * (args.weight != nullptr ? args.weight[channel + c] : 1.0F);
    const auto slope = static_cast<float>(factor);
    const double bias = args.bias != nullptr ? args.bias[channel + c] : 0.0;
    const auto offset = static_cast<float>(bias), center = static_cast<float>(mean);
    for (int64_t i = 0; i < args.inner; i += kRun) {
      const int64_t n = std::min(kRun, args.inner - i), place = first + c * args.inner + i;
      load_run(args.dtype, at(args.dtype, args.src, place), 1, n, values);
      for (int64_t k = 0; k < n; ++k) values[k] = (values[k] - center) * slope + offset;
      store_run(args.dtype, values, n, at(args.dtype, args.dst, place), 1);
    }
  }
}

void run_groups(const GroupNorm::Args& args, const Launch& launch) {
  const int64_t count = args.channels / args.groups * args.inner;
  if (count == 0) return;
  split(launch, args.batch * args.groups, count, [&](int64_t begin, int64_t end, int) {
    for (int64_t group = begin; group < end; ++group) norm_group(args, group);
  });
}

}  // namespace

std::span<const Row<GroupNorm>> group_norm_rows() {
  static const Row<GroupNorm> rows[] = {
      {.name = "cpu.groups", .supports = on_any_machine<GroupNorm, ref::legal>, .run = run_groups},
      {.name = "cpu.reference", .supports = on_any_machine<GroupNorm, ref::legal>, .run = ref::group_norm},
  };
  return rows;
}

}  // namespace orrery::kernels
