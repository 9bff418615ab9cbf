// Elements that stay or become 0 by their place alone; src is (rows, cols):
//   band     matrices one under another, `height` rows each: element (r, c), i = r % height, stays where
//            i - c <= lower and c - i <= upper, of which one below 0 holds always; exclude: where not both
//            hold. Any type.
//   dropout  dst = keep(r, c) ? src / (1 - p) : 0, keep being Dropout::keeps of dropout.h: the mask of
//            DropoutNorm for the same p and seed. Floats, computed in float32 and rounded once.
//   layout: src and dst without gaps; dst may be src
#pragma once

#include "kernels/dropout.h"
#include "kernels/row.h"

namespace orrery::kernels {

struct Mask {
  static constexpr std::string_view kName = "mask";
  enum class Function : uint8_t { band, dropout };
  struct Problem {
    Function function = Function::band;
    DType dtype = DType::f32;
  };
  struct Args {
    Problem problem;
    int64_t rows = 0, cols = 0;
    int64_t height = 1, lower = -1, upper = -1;  // of band
    bool exclude = false;
    Dropout dropout = {};
    const void* src = nullptr;
    void* dst = nullptr;
  };
};
inline constexpr std::string_view kMaskNames[] = {"band", "dropout"};

/// Whether column `col` of row `row` of a matrix stays.
ORRERY_HOST_DEVICE_INLINE bool in_band(const Mask::Args& args, int64_t row, int64_t col) {
  const bool inside =
      (args.lower < 0 || row - col <= args.lower) && (args.upper < 0 || col - row <= args.upper);
  return inside != args.exclude;
}

std::span<const Row<Mask>> mask_rows();
namespace cuda {
std::span<const Row<Mask>> mask_rows();
}
namespace ref {
void mask(const Mask::Args& args, const Launch& launch);
std::string legal(const Mask::Problem& problem);
}  // namespace ref

}  // namespace orrery::kernels
