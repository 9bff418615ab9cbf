// A recurrence along one dim of (outer, count, inner), each line by itself:
//   dst[j] = factor[j] dst[j - 1] + src[j], dst[-1] = 0;  reverse: dst[j] = factor[j] dst[j + 1] + src[j]
//   from the end
// in float32, each product and sum rounded by itself, so that every device and any number of threads give the
// same bits; what dst stores is rounded to its type, what goes on is not. A factor of 0 begins anew. The
// first factor of a line counts for nothing.
//   layout: factor, src and dst without gaps, floats of one type
#pragma once

#include "kernels/row.h"

namespace orrery::kernels {

struct Recurrence {
  static constexpr std::string_view kName = "recurrence";
  struct Problem {
    DType dtype = DType::f32;
  };
  struct Args {
    DType dtype = DType::f32;
    bool reverse = false;
    int64_t outer = 0, count = 0, inner = 0;
    const void* factor = nullptr;
    const void* src = nullptr;
    void* dst = nullptr;
  };
};

std::span<const Row<Recurrence>> recurrence_rows();
namespace cuda {
std::span<const Row<Recurrence>> recurrence_rows();
}
namespace ref {
/// In float64.
void recurrence(const Recurrence::Args& args, const Launch& launch);
std::string legal(const Recurrence::Problem& problem);
}  // namespace ref

}  // namespace orrery::kernels
