// Elementwise functions of one operand, reference: floats in float64, integers in 64 bits. One thread.
#include "kernels/map.h"

#include "kernels/ref/element.h"

namespace orrery::kernels::ref {

std::string legal(const Map::Problem& problem) {
  for (const DType dtype : {problem.src, problem.dst})
    if (!is_element(dtype)) return std::string(name_of(dtype)) + " is how weights are stored, not elements";
  const std::string src(name_of(problem.src));
  const bool whole = !is_float(problem.src) && problem.src != DType::boolean;
  switch (info_of(problem.function).kind) {
    case Map::Kind::real:
    case Map::Kind::test:
      if (!is_float(problem.src)) return src + "; it takes floats";
      break;
    case Map::Kind::number:
      if (problem.src == DType::boolean) return "bools are no numbers";
      break;
    case Map::Kind::bits:
      if (!whole) return src + "; it takes whole numbers";
      break;
    case Map::Kind::logical:
      if (problem.src != DType::boolean) return src + "; it takes bools";
  }
  const DType written = info_of(problem.function).kind == Map::Kind::test ? DType::boolean : problem.src;
  return problem.dst == written ? "" : "its result is " + std::string(name_of(written));
}

void map(const Map::Args& args, const Launch&) {
  const auto [function, src, dst] = args.problem;
  with_map_function(function, [&](auto constant) {
    constexpr Map::Function kFunction = decltype(constant)::value;
    for (int64_t i = 0; i < args.count; ++i) {
      if (is_float(src))
        put_real(dst, mapped<kFunction>(real_at(src, args.src, i)), args.dst, i);
      else
        put_integer(dst, mapped<kFunction>(integer_at(src, args.src, i)), args.dst, i);
    }
  });
}

}  // namespace orrery::kernels::ref
