// Elementwise functions of broadcast operands, reference: floats in float64, integers in 64 bits. One thread.
#include "kernels/combine.h"

#include "kernels/ref/element.h"

namespace orrery::kernels::ref {
namespace {

using Function = Combine::Function;

}  // namespace

std::string legal(const Combine::Problem& problem) {
  for (const DType dtype : {problem.a, problem.b, problem.common, problem.dst})
    if (!is_element(dtype)) return std::string(name_of(dtype)) + " is how weights are stored, not elements";
  const DType written = compares(problem.function) ? DType::boolean : problem.common;
  if (problem.dst != written) return "its result is " + std::string(name_of(written));
  if (!is_float(problem.common) && (is_float(problem.a) || is_float(problem.b)))
    return "floats are not computed in whole numbers";
  if (problem.function == Function::div && !is_float(problem.common)) return "whole numbers do not divide";
  if (is_bitwise(problem.function) && is_float(problem.common)) return "floats have no bits to combine";
  if (is_logical(problem.function) && problem.common != DType::boolean)
    return "its operands are " + std::string(name_of(problem.common)) + "; it takes bools";
  return wrong_rank(problem.rank);
}

void combine(const Combine::Args& args, const Launch&) {
  const Combine::Problem& problem = args.problem;
  for (int64_t i = 0; i < args.walk.elements(); ++i) {
    const auto place = [&](int operand) { return args.walk.offset(operand, i, args.walk.rank); };
    const bool first = problem.function == Function::where && args.condition[place(2)] != 0;
    if (is_float(problem.common)) {
      const double a = real_at(problem.a, args.a, place(0)), b = real_at(problem.b, args.b, place(1));
      const bool where = problem.function == Function::where;
      put_real(problem.dst, where ? (first ? a : b) : combined(problem.function, a, b), args.dst, place(3));
    } else {
      const int64_t a = integer_at(problem.a, args.a, place(0)), b = integer_at(problem.b, args.b, place(1));
      const bool where = problem.function == Function::where;
      put_integer(problem.dst, where ? (first ? a : b) : combined(problem.function, a, b), args.dst,
                  place(3));
    }
  }
}

}  // namespace orrery::kernels::ref
