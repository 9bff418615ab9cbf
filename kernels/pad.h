// More elements on the sides of a tensor of any type: dst[i] = src[i - before] where that is inside, dim by
// dim, and else
//   constant  one value                       edge  the nearest element: a b c -> a a | a b c | c c
//   reflect   mirrored at the outermost elements, which are not repeated: a b c -> c b | a b c | b a
//   wrap      the elements again from the other side: a b c -> b c | a b c | a b
// However wide the padding is: what is mirrored is mirrored again. A dim without elements gives the value.
//   layout: src and dst without gaps; elements are moved by their bytes
#pragma once

#include <cstdint>

#include "kernels/row.h"
#include "kernels/strided.h"

namespace orrery::kernels {

struct Pad {
  static constexpr std::string_view kName = "pad";
  enum class Mode : uint8_t { constant, reflect, edge, wrap };
  struct Problem {
    Mode mode = Mode::constant;
    DType dtype = DType::f32;
    int rank = 1;
  };
  struct Args {
    Problem problem;
    int64_t sizes[kMaxRank] = {};   // of src
    int64_t before[kMaxRank] = {};  // elements of dst that come before those of src
    int64_t padded[kMaxRank] = {};  // sizes of dst
    uint64_t value = 0;             // the bits of an element
    const void* src = nullptr;
    void* dst = nullptr;
  };
};
inline constexpr std::string_view kPadNames[] = {"constant", "reflect", "edge", "wrap"};

/// Which of `size` elements is found `at` elements after the first; -1: none.
ORRERY_HOST_DEVICE_INLINE int64_t padded_from(Pad::Mode mode, int64_t at, int64_t size) {
  if (at >= 0 && at < size) return at;
  if (mode == Pad::Mode::constant || size <= 0) return -1;
  if (mode == Pad::Mode::edge) return at < 0 ? 0 : size - 1;
  const int64_t period = mode == Pad::Mode::wrap ? size : size > 1 ? 2 * (size - 1) : 1;
  const int64_t there = (at % period + period) % period;
  return there < size ? there : period - there;
}

std::span<const Row<Pad>> pad_rows();
namespace cuda {
std::span<const Row<Pad>> pad_rows();
}
namespace ref {
void pad(const Pad::Args& args, const Launch& launch);
std::string legal(const Pad::Problem& problem);
}  // namespace ref

}  // namespace orrery::kernels
