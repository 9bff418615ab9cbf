#include "engine/io/reader.h"

#include <fmt/format.h>

namespace orrery::io {

std::string shown(std::string_view name) {
  constexpr size_t kMost = 80;
  std::string text = "\"";
  for (const char c : name.substr(0, kMost))
    text += static_cast<unsigned char>(c) >= 0x20 && c != 0x7f ? c : '?';
  // A sequence that the cut or the file broke must not reach a terminal: keep ASCII only when in doubt.
  while (text.size() > 1 && name.size() > kMost && (static_cast<unsigned char>(text.back()) & 0x80) != 0)
    text.pop_back();
  text += name.size() > kMost ? "...\"" : "\"";
  return text;
}

std::string at_byte(const std::filesystem::path& path, uint64_t position) {
  return fmt::format("{}, byte {}", path.filename().string(), position);
}

Error corrupt(std::string what, std::string where) {
  return {ErrorCode::corrupt_file, std::move(what), std::move(where),
          "the file is damaged or not complete; get it again"};
}

Error unsupported(std::string what, std::string where, std::string advice) {
  return {ErrorCode::unsupported, std::move(what), std::move(where), std::move(advice)};
}

std::optional<TensorSize> tensor_size(int block_elements, int block_bytes, std::span<const int64_t> shape) {
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < shape.size(); ++i)
    if (shape[i] < 0 || __builtin_mul_overflow(rows, shape[i], &rows)) return std::nullopt;
  const int64_t cols = shape.empty() ? 1 : shape.back();
  if (cols < 0 || cols % block_elements != 0) return std::nullopt;
  int64_t row = 0, elements = 0, bytes = 0;
  if (__builtin_mul_overflow(cols / block_elements, int64_t{block_bytes}, &row) ||
      __builtin_mul_overflow(rows, cols, &elements) || __builtin_mul_overflow(rows, row, &bytes))
    return std::nullopt;
  return TensorSize{static_cast<uint64_t>(elements), static_cast<uint64_t>(bytes)};
}

bool add_tensor(ModelFile& file, Tensor tensor) {
  if (!file.by_name.emplace(tensor.name, file.tensors.size()).second) return false;
  file.tensors.push_back(std::move(tensor));
  return true;
}

}  // namespace orrery::io
