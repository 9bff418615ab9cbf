// What is marked in a tensor, in its order:
//   places  dst (capacity, rank): row k has the place of the k-th element of mask that is not 0, a number for
//           each dim; rows that are left are -1. count (1): how many elements are not 0, those that found no
//           row included. mask is of any type.
//   put     dst[i] = mask[i] ? values[k] : src[i], k being the marked elements before i; src[i] too where
//           values (capacity) has no more. mask of bools; src, values and dst of one type, moved by bytes.
//   layout: all without gaps; dst may be src
// -0 is 0, NaN is not.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/row.h"
#include "kernels/strided.h"

namespace orrery::kernels {

struct Nonzero {
  static constexpr std::string_view kName = "nonzero";
  enum class Function : uint8_t { places, put };
  struct Problem {
    Function function = Function::places;
    DType mask = DType::f32;
    DType dtype = DType::i64;  // of dst
  };
  struct Args {
    Problem problem;
    int rank = 1;
    int64_t sizes[kMaxRank] = {};  // of mask
    int64_t capacity = 0;          // rows of dst, or numbers of values
    const void* mask = nullptr;
    const void* src = nullptr;     // of put
    const void* values = nullptr;  // of put
    void* dst = nullptr;
    int64_t* count = nullptr;  // of places
  };
};
inline constexpr std::string_view kNonzeroNames[] = {"places", "put"};

ORRERY_HOST_DEVICE_INLINE int64_t mask_elements(const Nonzero::Args& args) {
  int64_t count = 1;
  for (int d = 0; d < args.rank; ++d) count *= args.sizes[d];
  return count;
}

/// Whether element i is not 0, by its bits.
ORRERY_HOST_DEVICE_INLINE bool is_marked(DType dtype, const void* mask, int64_t i) {
  switch (dtype) {
    case DType::f32:
      return (static_cast<const uint32_t*>(mask)[i] << 1) != 0;
    case DType::f16:
    case DType::bf16:
      return (static_cast<const uint16_t*>(mask)[i] & 0x7fff) != 0;
    case DType::i16:
      return static_cast<const int16_t*>(mask)[i] != 0;
    case DType::i32:
      return static_cast<const int32_t*>(mask)[i] != 0;
    case DType::i64:
      return static_cast<const int64_t*>(mask)[i] != 0;
    default:  // a byte
      return static_cast<const uint8_t*>(mask)[i] != 0;
  }
}

/// Row k of the places: element i of the mask.
ORRERY_HOST_DEVICE_INLINE void write_place(const Nonzero::Args& args, int64_t i, int64_t k) {
  auto* row = static_cast<int64_t*>(args.dst) + k * args.rank;
  for (int d = args.rank - 1; d >= 0; --d) {
    row[d] = i % args.sizes[d];
    i /= args.sizes[d];
  }
}

/// The mask is counted by so many parts, and each part knows then where it begins.
inline constexpr int kNonzeroParts = 1024;
ORRERY_HOST_DEVICE_INLINE int64_t nonzero_part(int64_t elements, int64_t part) {
  const int64_t each = (elements + kNonzeroParts - 1) / kNonzeroParts, begin = part * each;
  return begin < elements ? begin : elements;
}

std::span<const Row<Nonzero>> nonzero_rows();
namespace cuda {
std::span<const Row<Nonzero>> nonzero_rows();
}
namespace ref {
void nonzero(const Nonzero::Args& args, const Launch& launch);
std::string legal(const Nonzero::Problem& problem);
}  // namespace ref

}  // namespace orrery::kernels
