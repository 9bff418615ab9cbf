// Numbers put where others say: for every line and step of it
//   dst[line, place] = update, or dst + update, max, min, dst * update,      place = indices[line, step]
// A line is a run of updates that may meet one another in dst; they are taken in the order of the steps, so
// that of several that are put at one place the last one stays, on every device. Lines never meet.
//   indices: `depth` numbers for each step, of the dims that they find; negative: from the end. A place that
//   is outside is left out.
// Floats are computed in float32 and rounded to dst each time; whole numbers wrap.
//   dst holds what is there before, without gaps
#pragma once

#include "kernels/combine.h"
#include "kernels/take.h"

namespace orrery::kernels {

struct Scatter {
  static constexpr std::string_view kName = "scatter";
  enum class Function : uint8_t { set, add, max, min, mul };
  struct Problem {
    Function function = Function::set;
    DType dtype = DType::f32;
    DType index = DType::i64;  // or i32
  };
  struct Args {
    Problem problem;
    Walk<3> lines;  // where a line begins in dst, updates and indices, in elements
    int64_t steps = 0, update_step = 0, index_step = 0;
    int depth = 1;
    int64_t sizes[kMaxRank] = {}, strides[kMaxRank] = {};  // of dst, in the dims that indices find
    const void* updates = nullptr;
    const void* indices = nullptr;
    void* dst = nullptr;
  };
};
inline constexpr std::string_view kScatterNames[] = {"set", "add", "max", "min", "mul"};

/// T: float or int64_t; double for the reference.
template <class T>
ORRERY_HOST_DEVICE_INLINE T scattered(Scatter::Function function, T before, T update) {
  switch (function) {
    case Scatter::Function::add:
      return combined(Combine::Function::add, before, update);
    case Scatter::Function::max:
      return combined(Combine::Function::maximum, before, update);
    case Scatter::Function::min:
      return combined(Combine::Function::minimum, before, update);
    case Scatter::Function::mul:
      return combined(Combine::Function::mul, before, update);
    default:
      return update;
  }
}

std::span<const Row<Scatter>> scatter_rows();
namespace cuda {
std::span<const Row<Scatter>> scatter_rows();
}
namespace ref {
void scatter(const Scatter::Args& args, const Launch& launch);
std::string legal(const Scatter::Problem& problem);
}  // namespace ref

}  // namespace orrery::kernels
