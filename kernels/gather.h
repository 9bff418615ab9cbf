// Rows of a packed step to fewer rows:
//   rows:  dst[i] = src[index[i]]                      (output_rows of a step)
//   mean:  dst[s] = mean of sequence s's rows          first: its first row (CLS)      last: its last row
//   src (tokens, cols) f32      index (count) i32, for rows      sequence_starts (count + 1) i32, for the
//   others
// An empty sequence gives zeros.
#pragma once

#include "kernels/row.h"

namespace orrery::kernels {

struct Gather {
  static constexpr std::string_view kName = "gather";
  enum class Kind : uint8_t { rows, mean, first, last };
  struct Problem {
    Kind kind = Kind::rows;
    int64_t cols = 0;
  };
  struct Args {
    Kind kind = Kind::rows;
    const float* src = nullptr;
    const int32_t* index = nullptr;
    const int32_t* sequence_starts = nullptr;
    float* dst = nullptr;
    int64_t count = 0, cols = 0;
  };
};
std::span<const Row<Gather>> gather_rows();
namespace cuda {
std::span<const Row<Gather>> gather_rows();
}
namespace ref {
void gather(const Gather::Args& args, const Launch& launch);
std::string legal(const Gather::Problem& problem);
}  // namespace ref

}  // namespace orrery::kernels
