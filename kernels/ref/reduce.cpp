// Reductions, reference: floats in float64, integers in 64 bits. One thread.
#include "kernels/reduce.h"

#include "kernels/ref/element.h"

namespace orrery::kernels::ref {

std::string legal(const Reduce::Problem& problem) {
  for (const DType dtype : {problem.src, problem.dst})
    if (!is_element(dtype)) return std::string(name_of(dtype)) + " is how weights are stored, not elements";
  if (problem.src == DType::boolean) return "bools are no numbers";
  if (problem.function == Reduce::Function::mean && !is_float(problem.src))
    return std::string(name_of(problem.src)) + "; a mean takes floats";
  const DType written = gives_place(problem.function) ? DType::i64 : problem.src;
  return problem.dst == written ? "" : "its result is " + std::string(name_of(written));
}

void reduce(const Reduce::Args& args, const Launch&) {
  const auto [function, src, dst] = args.problem;
  const auto each = [&]<class T>(auto constant, const auto& load, const auto& put, T) {
    for (int64_t o = 0; o < args.outer; ++o)
      for (int64_t i = 0; i < args.inner; ++i) {
        Reduced<decltype(constant)::value, T> all;
        for (int64_t j = 0; j < args.count; ++j) all.take(load((o * args.count + j) * args.inner + i), j);
        put(all.result(args.count), o * args.inner + i);
      }
  };
  const auto put = [&](auto value, int64_t at) {
    if constexpr (std::is_integral_v<decltype(value)>)
      put_integer(dst, value, args.dst, at);
    else
      put_real(dst, value, args.dst, at);
  };
  with_reduce_function(function, [&](auto constant) {
    if (is_float(src))
      each(
          constant, [&](int64_t at) { return real_at(src, args.src, at); }, put, double{});
    else if constexpr (decltype(constant)::value != Reduce::Function::mean)
      each(
          constant, [&](int64_t at) { return integer_at(src, args.src, at); }, put, int64_t{});
  });
}

}  // namespace orrery::kernels::ref
