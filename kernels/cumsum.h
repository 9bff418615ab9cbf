// Sums of all that comes before, along one dim of (outer, count, inner):
//   dst[j] = src[0] + .. + src[j]; exclusive: without src[j]; reverse: from the end
// Floats in float64, each sum rounded once; whole numbers in 64 bits, of which dst keeps the low ones.
//   layout: src and dst without gaps; dst may be src
#pragma once

#include "kernels/row.h"

namespace orrery::kernels {

struct Cumsum {
  static constexpr std::string_view kName = "cumsum";
  struct Problem {
    DType dtype = DType::f32;
  };
  struct Args {
    DType dtype = DType::f32;
    bool exclusive = false, reverse = false;
    int64_t outer = 0, count = 0, inner = 0;
    const void* src = nullptr;
    void* dst = nullptr;
  };
};

std::span<const Row<Cumsum>> cumsum_rows();
namespace cuda {
std::span<const Row<Cumsum>> cumsum_rows();
}
namespace ref {
void cumsum(const Cumsum::Args& args, const Launch& launch);
std::string legal(const Cumsum::Problem& problem);
}  // namespace ref

}  // namespace orrery::kernels
