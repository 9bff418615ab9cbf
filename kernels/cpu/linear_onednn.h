// oneDNN matmuls of one fixed shape family: (tokens <= kTokens, cols) x packed panels of 64 weight rows ->
// dense f32 tile. Each is created once, kept in a bounded cache, and run on the calling thread only. AMX is
// left to a row of our own: the library takes it from some size on, so that a token's sums would depend on
// how many are beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

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

enum class Element : uint8_t { f32, bf16 };

struct Shape {
  Element element;
  int64_t tokens, rows, cols;  // rows: a multiple of kPanelRows
  auto operator<=>(const Shape&) const = default;
};

class Matmul;

/// Null when oneDNN offers no fast implementation here, or not within kScratchBytes.
std::shared_ptr<const Matmul> matmul(const Shape& shape) noexcept;

/// tile (tokens, rows) = src (tokens, cols, dense) * weight^T. False when oneDNN failed; the tile is then
/// undefined.
bool run(const Matmul& matmul, const void* src, const void* weight, float* tile, std::byte* scratch) noexcept;

/// Inside a scope of this, oneDNN uses one thread: the caller. The thread's own OpenMP setting comes back
/// after.
class OneThread {
 public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

}  // namespace orrery::kernels::onednn
