#include "kernels/lab/recurrence_case.h"

#include "kernels/lab/stored.h"

namespace orrery::kernels::lab {

RecurrenceCase::RecurrenceCase(DType dtype, int64_t outer, int64_t count, int64_t inner, bool reverse,
                               uint32_t seed)
    : problem{dtype},
      outer_(outer),
      count_(count),
      inner_(inner),
      reverse_(reverse),
      factor_(
          random_elements(dtype, static_cast<size_t>(outer * count * inner), seed, Distribution::uniform)),
      src_(random_elements(dtype, static_cast<size_t>(outer * count * inner), seed + 1)) {}

Call<Recurrence> RecurrenceCase::place(const Row<Recurrence>&, Place& place) const {
  const int64_t elements = outer_ * count_ * inner_;
  Call<Recurrence> call;
  call.args = {.dtype = problem.dtype,
               .reverse = reverse_,
               .outer = outer_,
               .count = count_,
               .inner = inner_,
               .factor = place.put(factor_, problem.dtype),
               .src = place.put(src_, problem.dtype),
               .dst = put_result(problem.dtype, elements, place)};
  call.read = [args = call.args, elements](Place& from) {
    return std::vector<Output>{
        read_result("dst", args.dtype, args.dst, elements, args.count * args.inner, from)};
  };
  return call;
}

/// Each step is rounded to float32; one step of the type for 16 bits.
std::vector<Expected> RecurrenceCase::expected(const Roundings&) const {
  const double tolerance = problem.dtype == DType::f32 ? 5e-6 : problem.dtype == DType::f16 ? 1e-3 : 8e-3;
  return {{.output = run_reference<RecurrenceCase>(*this, recurrence_rows())[0], .tolerance = tolerance}};
}

/// A product and a sum an element.
Work RecurrenceCase::work() const {
  return {.bytes = 3.0 * static_cast<double>(src_.size()),
          .flops = 2.0 * static_cast<double>(outer_ * count_ * inner_)};
}

}  // namespace orrery::kernels::lab
