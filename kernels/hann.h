// Hann's window, a raised cosine that is 0 where it begins (von Hann; Blackman and Tukey, 1958):
//   dst[i] = (1 - cos(2 pi i / m)) / 2,  m = n of a period, n - 1 of a window that ends with 0 as well
// One element is 1. dst has n elements of a float type, rounded once.
#pragma once

#include "kernels/row.h"

namespace orrery::kernels {

struct Hann {
  static constexpr std::string_view kName = "hann";
  struct Problem {
    DType dtype = DType::f32;
  };
  struct Args {
    DType dtype = DType::f32;
    bool periodic = true;
    int64_t count = 0;
    void* dst = nullptr;
  };
};

std::span<const Row<Hann>> hann_rows();
namespace cuda {
std::span<const Row<Hann>> hann_rows();
}
namespace ref {
void hann(const Hann::Args& args, const Launch& launch);
std::string legal(const Hann::Problem& problem);
}  // namespace ref

}  // namespace orrery::kernels
