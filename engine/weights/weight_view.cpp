#include "engine/weights/weight_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

namespace orrery::weights {
namespace {

constexpr int64_t kTile = 32;  // rows and columns that are transposed at a time

Error refuse(const io::Tensor& tensor, std::string what) {
  return {ErrorCode::shape_mismatch, std::move(what), tensor.name, "The file does not fit its architecture"};
}

size_t bytes_per_row(const io::Tensor& tensor) {
  const auto rows = static_cast<size_t>(std::max<int64_t>(tensor.shape.front(), 1));
  return tensor.data.size() / rows;
}

template <class Element>
void transpose_as(const io::Tensor& tensor, std::byte* dst) {
  const int64_t rows = tensor.shape[0], cols = tensor.shape[1];
  const std::byte* src = tensor.data.data();
  for (int64_t row_tile = 0; row_tile < rows; row_tile += kTile)
    for (int64_t col = 0; col < cols; ++col)
      for (int64_t row = row_tile; row < std::min(row_tile + kTile, rows); ++row)
        std::memcpy(dst + static_cast<size_t>(col * rows + row) * sizeof(Element),
                    src + static_cast<size_t>(row * cols + col) * sizeof(Element), sizeof(Element));
}

}  // namespace

std::string WeightView::member(int64_t number) const {
  const size_t star = tensor.find('*');
  return star == std::string::npos
             ? tensor
             : tensor.substr(0, star) + std::to_string(number) + tensor.substr(star + 1);
}

WeightView WeightView::whole() const {
  WeightView all(tensor, transposed, {});
  all.stacked = stacked;
  all.file = file;
  all.merged = merged;
  return all;
}

std::string WeightView::name() const {
  std::string text = tensor;
  if (!file.path.empty()) text += fmt::format(" of {}", file.path);
  for (const MergedAdapter& adapter : merged)
    text += fmt::format(" + {} * B A of {}", adapter.factor, adapter.file.path);
  if (stacked > 0) text += fmt::format(", {} stacked", stacked);
  if (transposed) text += ", transposed";
  if (rows.size() == 2) text += fmt::format(", {} rows from {}", rows[1], rows[0]);
  if (rows.size() == 4)
    text += fmt::format(", {} times {} rows from {}, every {}", rows[3], rows[1], rows[0], rows[2]);
  if (!columns.empty()) text += fmt::format(", {} columns from {}", columns[1], columns[0]);
  if (dtype) text += fmt::format(", as {}", name_of(*dtype));
  return text;
}

std::string WeightView::identity() const {
  std::string text = name();
  if (!file.path.empty()) text += "\n" + file.stamp;
  for (const MergedAdapter& adapter : merged) text += "\n" + adapter.file.stamp;
  return text;
}

std::optional<int64_t> row_count(const std::vector<int64_t>& rows) {
  if (rows.size() != 2 && rows.size() != 4) return std::nullopt;
  if (rows[0] < 0 || rows[1] < 1) return std::nullopt;
  int64_t count = rows[1], end = 0;
  if (rows.size() == 4) {
    if (rows[2] < rows[1] || rows[3] < 1) return std::nullopt;
    if (__builtin_mul_overflow(rows[1], rows[3], &count)) return std::nullopt;
    if (__builtin_mul_overflow(rows[2], rows[3] - 1, &end)) return std::nullopt;
  }
  if (__builtin_add_overflow(end, rows[0], &end) || __builtin_add_overflow(end, rows[1], &end))
    return std::nullopt;
  return count;
}

Result<void> check_view(const io::Tensor& tensor, const WeightView& view) {
  if (tensor.shape.empty()) return refuse(tensor, "The tensor is a single number and has no rows");
  if (view.transposed && (tensor.shape.size() != 2 || dtype_info(tensor.dtype).block_elements != 1))
    return refuse(tensor, "Only a matrix of whole elements can be transposed");
  if (view.rows.empty()) return {};
  const int64_t all = view.transposed ? tensor.shape.back() : tensor.shape.front();
  const auto count = row_count(view.rows);
  const int64_t runs = view.rows.size() == 4 ? view.rows[3] : 1, stride = runs > 1 ? view.rows[2] : 0;
  if (!count || view.rows[0] + (runs - 1) * stride + view.rows[1] > all)
    return refuse(tensor, fmt::format("The rows [{}] are asked of {}", fmt::join(view.rows, ", "), all));
  if (tensor.shape.size() == 1 && dtype_info(tensor.dtype).block_elements != 1)
    return refuse(tensor, "A vector that is stored in blocks cannot be taken apart");
  return {};
}

Result<void> check_columns(const io::Tensor& tensor, const std::vector<int64_t>& columns) {
  if (tensor.shape.size() != 2) return refuse(tensor, "Only a matrix has columns");
  const int64_t block = dtype_info(tensor.dtype).block_elements, all = tensor.shape.back();
  if (columns.size() != 2 || columns[0] < 0 || columns[1] < 1 || columns[0] > all - columns[1])
    return refuse(tensor, fmt::format("The columns [{}] are asked of {}", fmt::join(columns, ", "), all));
  if (columns[0] % block != 0 || columns[1] % block != 0)
    return refuse(tensor, fmt::format("Columns [{}] cut a block of {}, which holds {}",
                                      fmt::join(columns, ", "), name_of(tensor.dtype), block));
  return {};
}

void copy_columns(const io::Tensor& tensor, const std::vector<int64_t>& columns, std::byte* dst) {
  const size_t row = bytes_per_row(tensor), begin = row_bytes(tensor.dtype, columns[0]).value_or(0),
               each = row_bytes(tensor.dtype, columns[1]).value_or(0);
  for (int64_t r = 0; r < tensor.shape.front(); ++r)
    std::memcpy(dst + static_cast<size_t>(r) * each,
                tensor.data.data() + static_cast<size_t>(r) * row + begin, each);
}

Result<void> check_stack(const io::Tensor& first, const io::Tensor& next) {
  if (next.dtype == first.dtype && next.shape == first.shape) return {};
  return refuse(next, fmt::format("It is {} [{}], but {} is {} [{}]: they are read as one",
                                  name_of(next.dtype), fmt::join(next.shape, ", "), first.name,
                                  name_of(first.dtype), fmt::join(first.shape, ", ")));
}

std::vector<int64_t> view_shape(const io::Tensor& tensor, const std::vector<int64_t>& rows) {
  std::vector<int64_t> shape = tensor.shape;
  shape.front() = row_count(rows).value_or(0);
  return shape;
}

void copy_rows(const io::Tensor& tensor, const std::vector<int64_t>& rows, std::byte* dst) {
  const size_t row = bytes_per_row(tensor), run = row * static_cast<size_t>(rows[1]);
  const int64_t runs = rows.size() == 4 ? rows[3] : 1, stride = runs > 1 ? rows[2] : 0;
  for (int64_t i = 0; i < runs; ++i)
    std::memcpy(dst + static_cast<size_t>(i) * run,
                tensor.data.data() + static_cast<size_t>(rows[0] + i * stride) * row, run);
}

void transpose(const io::Tensor& tensor, std::byte* dst) {
  switch (dtype_info(tensor.dtype).block_bytes) {
    case 1:
      return transpose_as<uint8_t>(tensor, dst);
    case 2:
      return transpose_as<uint16_t>(tensor, dst);
    case 4:
      return transpose_as<uint32_t>(tensor, dst);
    default:
      return transpose_as<uint64_t>(tensor, dst);
  }
}

}  // namespace orrery::weights
