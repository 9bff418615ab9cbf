// Elements from one place to another, each converted to another type where the types differ:
//   dst[i] = src[i] for every i of a walk: transposes, slices, parts that are put together, casts
// Conversions:
//   float to float     to nearest even
//   float to integer   towards zero, held to the range, NaN gives 0
//   integer to integer the low bits (two's complement); to a float to nearest even, to 16 bits by way of f32
//   to bool            whether it is not 0, NaN included
// Operands do not overlap.
#pragma once

#include "kernels/row.h"
#include "kernels/strided.h"

namespace orrery::kernels {

struct Copy {
  static constexpr std::string_view kName = "copy";
  struct Problem {
    DType from = DType::f32, to = DType::f32;
    int rank = 0;
  };
  struct Args {
    DType from = DType::f32, to = DType::f32;
    Walk<2> walk;  // strides of src, of dst
    const void* src = nullptr;
    void* dst = nullptr;
  };
};

std::span<const Row<Copy>> copy_rows();
namespace cuda {
std::span<const Row<Copy>> copy_rows();
}
namespace ref {
void copy(const Copy::Args& args, const Launch& launch);
std::string legal(const Copy::Problem& problem);
}  // namespace ref

}  // namespace orrery::kernels
