// What the binding kKvBytes counts.
#pragma once

#include <cstdint>

namespace orrery::ops {

/// The binding holds the bytes of so many elements of the KV cache: a block of every type that it is kept as.
inline constexpr int64_t kKvElements = 32;

}  // namespace orrery::ops
