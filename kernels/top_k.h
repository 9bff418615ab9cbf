// The first k elements along one axis of a tensor without gaps, in order, and where they stood. Seen as
// (outer, count, inner), a row being the `count` elements of one outer and one inner index:
//   values[o, j, i] = src[o, indices[o, j, i], i],   j < k
// With `largest` they fall with j, else they rise; equal ones stand in the order of their indices, so that
// all of a row are a stable sort. NaN is greater than every number: the first of the largest, the last of the
// smallest. NaNs are equal, and so are -0 and 0. Values are copied bit by bit.
#pragma once

#include "kernels/row.h"

namespace orrery::kernels {

struct TopK {
  static constexpr std::string_view kName = "top_k";
  static constexpr int64_t kAll = -1;
  struct Problem {
    DType dtype = DType::f32;    // of src and values, any that values may have
    DType indices = DType::i64;  // or i32
    int64_t k = 1;               // of each row; kAll: as many as it has
    bool largest = true;
    int64_t rows = 1, count = 1;  // at most, in a call: outer * inner, and elements of a row
  };
  struct Args {
    Problem problem;
    int64_t outer = 0, count = 0, inner = 1;  // count is at least k
    const void* src = nullptr;
    void* values = nullptr;  // (outer, k, inner), no source; null: not wanted
    void* indices = nullptr;
  };
};
/// Of each row of a call.
constexpr int64_t taken(const TopK::Problem& problem, int64_t count) {
  return problem.k == TopK::kAll ? count : problem.k;
}

std::span<const Row<TopK>> top_k_rows();
namespace cuda {
std::span<const Row<TopK>> top_k_rows();
}
namespace ref {
void top_k(const TopK::Args& args, const Launch& launch);
std::string legal(const TopK::Problem& problem);
}  // namespace ref

}  // namespace orrery::kernels
