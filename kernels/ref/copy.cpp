// Copies and casts, reference: one element after another. One thread.
#include "kernels/copy.h"

#include "kernels/ref/element.h"

namespace orrery::kernels::ref {

std::string legal(const Copy::Problem& problem) {
  for (const DType dtype : {problem.from, problem.to})
    if (!is_element(dtype)) return std::string(name_of(dtype)) + " is how weights are stored, not elements";
  return wrong_rank(problem.rank);
}

void copy(const Copy::Args& args, const Launch&) {
  for (int64_t i = 0; i < args.walk.elements(); ++i) {
    const int64_t from = args.walk.offset(0, i, args.walk.rank);
    const int64_t to = args.walk.offset(1, i, args.walk.rank);
    if (is_float(args.from))
      put_real(args.to, real_at(args.from, args.src, from), args.dst, to);
    else
      put_integer(args.to, integer_at(args.from, args.src, from), args.dst, to);
  }
}

}  // namespace orrery::kernels::ref
