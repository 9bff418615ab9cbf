// The first k elements along an axis, reference: a stable sort of each row. One thread.
#include "kernels/top_k.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "kernels/ref/element.h"

namespace orrery::kernels::ref {
namespace {

bool greater(double a, double b) { return a > b || (std::isnan(a) && !std::isnan(b)); }
bool greater(int64_t a, int64_t b) { return a > b; }

/// The indices of a row in order.
template <class T>
std::vector<size_t> order_of(const std::vector<T>& row, bool largest) {
  std::vector<size_t> order(row.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return largest ? greater(row[a], row[b]) : greater(row[b], row[a]);
  });
  return order;
}

}  // namespace

std::string legal(const TopK::Problem& problem) {
  if (!is_element(problem.dtype)) return std::string(name_of(problem.dtype)) + " has no elements";
  if (problem.indices != DType::i64 && problem.indices != DType::i32)
    return "indices of " + std::string(name_of(problem.indices)) + "; they are i64 or i32";
  if (problem.k != TopK::kAll && (problem.k < 1 || problem.k > problem.count))
    return "the first " + std::to_string(problem.k) + " of " + std::to_string(problem.count) + " elements";
  if (problem.indices == DType::i32 && problem.count - 1 > std::numeric_limits<int32_t>::max())
    return std::to_string(problem.count) + " elements have more indices than i32";
  return {};
}

void top_k(const TopK::Args& args, const Launch&) {
  const DType dtype = args.problem.dtype;
  const auto size = static_cast<size_t>(dtype_info(dtype).block_bytes);
  const int64_t k = taken(args.problem, args.count);
  std::vector<double> reals(static_cast<size_t>(args.count));
  std::vector<int64_t> integers(static_cast<size_t>(args.count));
  for (int64_t o = 0; o < args.outer; ++o)
    for (int64_t i = 0; i < args.inner; ++i) {
      const auto place = [&](size_t j) {
        return (o * args.count + static_cast<int64_t>(j)) * args.inner + i;
      };
      for (size_t j = 0; j < reals.size(); ++j)
        if (is_float(dtype))
          reals[j] = real_at(dtype, args.src, place(j));
        else
          integers[j] = integer_at(dtype, args.src, place(j));
      const std::vector<size_t> order =
          is_float(dtype) ? order_of(reals, args.problem.largest) : order_of(integers, args.problem.largest);
      for (int64_t j = 0; j < k; ++j) {
        const size_t from = order[static_cast<size_t>(j)];
        const int64_t to = (o * k + j) * args.inner + i;
        put_integer(args.problem.indices, static_cast<int64_t>(from), args.indices, to);
        if (args.values == nullptr) continue;
        std::memcpy(static_cast<std::byte*>(args.values) + static_cast<size_t>(to) * size,
                    static_cast<const std::byte*>(args.src) + static_cast<size_t>(place(from)) * size, size);
      }
    }
}

}  // namespace orrery::kernels::ref
