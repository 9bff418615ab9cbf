// oneDNN matmuls of one fixed shape family: (tokens <= kTokens, cols) x packed panels of 64 weight rows ->
// dense f32 tile. Each is created once, kept in a bounded cache, and run on the calling thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/cpu/onednn_thread.h"

namespace orrery::kernels::onednn {

constexpr int64_t kPanelRows = 64;  // weight rows of a packed panel: oneDNN's own choice for these shapes
constexpr int64_t kTokens = 256;    // most tokens of one call

/// Tokens of the next call when so many are left: whole groups of 64 before the rest, so that texts of any
/// length ask for few shapes.
constexpr int64_t tokens_of_call(int64_t left) {
  constexpr int64_t kGroup = 64;
  return left >= kTokens ? kTokens : left >= kGroup ? left / kGroup * kGroup : left;
}

constexpr size_t kScratchBytes = 65536;  // of one call, most

struct Shape {
  int64_t tokens, rows, cols;  // rows: a multiple of kPanelRows
  auto operator<=>(const Shape&) const = default;
};

class Matmul;

/// Null when oneDNN offers no fast implementation here, or not within kScratchBytes.
std::shared_ptr<const Matmul> matmul(const Shape& shape) noexcept;

/// tile (tokens, rows) = src (tokens, cols, dense) * weight^T. False when oneDNN failed; the tile is then
/// undefined.
bool run(const Matmul& matmul, const float* src, const float* weight, float* tile,
         std::byte* scratch) noexcept;

}  // namespace orrery::kernels::onednn
