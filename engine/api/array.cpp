#include "engine/api/array.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/api/guard.h"
#include "engine/io/npy.h"
#include "engine/ops/elements.h"
#include "engine/weights/weight_store.h"

namespace orrery::api {
namespace {

/// Whether a file's bools are bools: kernels take them as 0 and 1.
Result<void> check_bools(const io::Tensor& tensor, const std::string& path) {
  if (tensor.dtype != DType::boolean) return {};
  const auto other = std::ranges::find_if(tensor.data, [](std::byte byte) { return byte > std::byte{1}; });
  if (other == tensor.data.end()) return {};
  return Error{
      ErrorCode::corrupt_file,
      fmt::format("Element {} of the bools is {}", other - tensor.data.begin(), static_cast<int>(*other)),
      path, "save it as bool again"};
}

/// Mean and sum of squared differences, kept up to date by each number (Welford 1962).
struct Moments {
  int64_t count = 0;
  double mean = 0, squares = 0;

  void add(double number) {
    const double from = number - mean;
    mean += from / static_cast<double>(++count);
    squares += from * (number - mean);
  }
};

}  // namespace

graph::ValueType Array::type() const { return {dtype, Shape(shape.begin(), shape.end())}; }

Result<Array> make_array(DType dtype, std::vector<int64_t> shape) {
  return guarded([&]() -> Result<Array> {
    const auto elements = element_count(Shape(shape.begin(), shape.end()), {});
    if (!is_element(dtype) || !elements || *elements > (int64_t{1} << 56))
      return Error{ErrorCode::invalid_argument,
                   fmt::format("There is no array {}[{}]", name_of(dtype), fmt::join(shape, ", ")), "", ""};
    Array array{dtype, std::move(shape), nullptr, row_bytes(dtype, *elements).value_or(0)};
    ORRERY_ASSIGN(weights::Buffer buffer, weights::Buffer::allocate(array.bytes, {}, "an array"));
    const auto held = std::make_shared<weights::Buffer>(std::move(buffer));
    array.data = std::shared_ptr<std::byte>(held, held->data());
    return array;
  });
}

Result<Array> read_array(const std::string& path) {
  return guarded([&]() -> Result<Array> {
    ORRERY_ASSIGN(const auto mapped, io::MappedFile::open(path));
    ORRERY_ASSIGN(const io::Tensor tensor, io::npy_array(*mapped));
    if (!tensor.foreign_type.empty())
      return Error{
          ErrorCode::unsupported, fmt::format("The array is of {}, which no op takes", tensor.foreign_type),
          path,
          "save it as one of f32, f16, bf16, i8, i16, i32, i64, u8, bool: array.astype('float32'), or "
          "array.astype('int64') for whole numbers"};
    ORRERY_TRY(check_bools(tensor, path));
    ORRERY_ASSIGN(Array array, make_array(tensor.dtype, tensor.shape));
    if (array.bytes > 0) std::memcpy(array.data.get(), tensor.data.data(), array.bytes);
    return array;
  });
}

Result<void> write_array(const std::string& path, const Array& array) {
  return guarded([&] { return io::write_npy(path, {"", array.dtype, array.shape, array.view()}); });
}

Statistics statistics_of(const Array& array) {
  Statistics statistics;
  Moments moments;
  ops::for_each_number(array.dtype, array.view(), [&](double number) {
    ++statistics.elements;
    statistics.nan += std::isnan(number) ? 1 : 0;
    statistics.infinite += std::isinf(number) ? 1 : 0;
    statistics.zeros += number == 0 ? 1 : 0;
    if (!std::isfinite(number)) return;
    statistics.least = moments.count == 0 ? number : std::min(statistics.least, number);
    statistics.most = moments.count == 0 ? number : std::max(statistics.most, number);
    moments.add(number);
  });
  statistics.mean = moments.mean;
  if (moments.count > 0)
    statistics.deviation = std::sqrt(moments.squares / static_cast<double>(moments.count));
  return statistics;
}

}  // namespace orrery::api
