// What the readers of binary files share: a cursor that cannot leave its bytes, an allowance that keeps the
// memory of a hostile file in proportion to its size, and errors that name their place.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "engine/base/result.h"
#include "engine/io/model_file.h"

namespace orrery::io {

/// A name from a file as it may be shown: quoted, at most 80 bytes, anything but printable ASCII and UTF-8 as
/// '?'.
std::string shown(std::string_view name);
/// "model.gguf, byte 123".
std::string at_byte(const std::filesystem::path& path, uint64_t position);
Error corrupt(std::string what, std::string where);
Error unsupported(std::string what, std::string where, std::string advice);

/// Bytes that a reader may spend on what a file declares: 48 MB and twice the file. Taken before anything is
/// reserved.
class Allowance {
 public:
  explicit Allowance(uint64_t file_bytes) : left_(uint64_t{48} * 1024 * 1024 + 2 * file_bytes) {}
  bool take(uint64_t bytes) {
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }

 private:
  uint64_t left_;
};

/// A little-endian cursor over bytes; every read says whether the bytes were there.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  size_t position() const { return position_; }
  size_t left() const { return bytes_.size() - position_; }

  template <class T>
  bool read(T& value) {
    static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>);
    if (left() < sizeof(T)) return false;
    std::memcpy(&value, bytes_.data() + position_, sizeof(T));
    position_ += sizeof(T);
    return true;
  }
  bool read(std::string_view& text, uint64_t length) {
    if (length > left()) return false;
    text = {reinterpret_cast<const char*>(bytes_.data()) + position_, static_cast<size_t>(length)};
    position_ += static_cast<size_t>(length);
    return true;
  }
  /// Up to and past the next line feed, which is not part of `line`; false when there is none within
  /// `longest` bytes.
  bool read_line(std::string_view& line, size_t longest) {
    const std::string_view rest(reinterpret_cast<const char*>(bytes_.data()) + position_,
                                std::min(left(), longest + 1));
    const size_t end = rest.find('\n');
    if (end == std::string_view::npos) return false;
    line = rest.substr(0, end);
    position_ += end + 1;
    return true;
  }

 private:
  std::span<const std::byte> bytes_;
  size_t position_ = 0;
};

/// Elements and bytes of a tensor stored in such blocks; nothing when a dim is
/// negative, a product does not fit 63 bits, or the innermost dim is no multiple of the block.
struct TensorSize {
  uint64_t elements = 0, bytes = 0;
};
std::optional<TensorSize> tensor_size(int block_elements, int block_bytes, std::span<const int64_t> shape);
inline std::optional<TensorSize> tensor_size(DType dtype, std::span<const int64_t> shape) {
  const DTypeInfo info = dtype_info(dtype);
  return tensor_size(info.block_elements, info.block_bytes, shape);
}

/// Adds to tensors and by_name; false when the name is there already.
bool add_tensor(ModelFile& file, Tensor tensor);

}  // namespace orrery::io
