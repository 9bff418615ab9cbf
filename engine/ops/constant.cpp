#include "engine/ops/constant.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/ops/elements.h"

namespace orrery::ops {
namespace {

constexpr int64_t kMostConstants = int64_t{1} << 28;  // elements of one
constexpr double kMostExact = 9007199254740992.0;     // 2^53

std::vector<double> numbers(const Attributes& attributes) {
  const auto found = attributes.find("data");
  const auto* data = found == attributes.end() ? nullptr : std::get_if<std::vector<double>>(&found->second);
  return data ? *data : std::vector<double>();
}

bool fits(double number, DType dtype) {
  if (is_float(dtype)) return true;
  if (std::trunc(number) != number) return false;  // NaN too
  bool inside = dtype == DType::boolean && (number == 0 || number == 1);
  with_element(dtype, [&](auto type) {
    using T = Element<decltype(type)::value>;
    if constexpr (decltype(type)::value != DType::boolean && !is_float(decltype(type)::value))
      inside = std::abs(number) <= kMostExact &&
               number >= static_cast<double>(std::numeric_limits<T>::min()) &&
               number <= static_cast<double>(std::numeric_limits<T>::max());
  });
  return inside;
}

}  // namespace

Result<void> check_constant(const Attributes& attributes, const ValueType& type) {
  std::vector<double> data = numbers(attributes);
  if (data.size() > kMostData)
    return bad_attribute(
        fmt::format("data has {} numbers; a constant holds {} at most, a file more", data.size(), kMostData));
  const auto elements = element_count(type.shape, {});
  if (!data.empty() && elements != static_cast<int64_t>(data.size()))
    return bad_attribute(fmt::format("data has {} numbers, but the shape {} has {} elements", data.size(),
                                     orrery::to_string(type.shape), elements.value_or(0)));
  const bool one = data.empty();
  if (one) data = {real(attributes, "value")};
  for (size_t i = 0; i < data.size(); ++i)
    if (!fits(data[i], type.dtype))
      return bad_attribute(fmt::format("{} is {}, which is no {}",
                                       one ? std::string("value") : fmt::format("data[{}]", i), data[i],
                                       name_of(type.dtype)));
  return {};
}

Result<std::vector<std::byte>> constant_bytes(const graph::Node& node, const ValueType& type) {
  const auto elements = element_count(type.shape, {});
  if (!elements || *elements < 0 || *elements > kMostConstants || !is_element(type.dtype))
    return Error{ErrorCode::unsupported, "The constant is no tensor of a fixed shape", node.path(),
                 "set its shape"};
  const std::vector<double> data = numbers(node.attributes);
  const auto count = static_cast<size_t>(*elements);
  if (!data.empty() && data.size() != count)
    return Error{ErrorCode::unsupported,
                 fmt::format("The constant has {} numbers for the type {}", data.size(), to_string(type)),
                 node.path(), "set its shape, or its data"};
  const double value = real(node.attributes, "value");
  std::vector<std::byte> bytes;
  with_element(type.dtype, [&](auto constant) {
    using T = Element<decltype(constant)::value>;
    bytes.resize(std::max<size_t>(count, 1) * sizeof(T));
    for (size_t i = 0; i < count; ++i) {
      const T element = element_of<decltype(constant)::value>(data.empty() ? value : data[i]);
      std::memcpy(bytes.data() + i * sizeof(T), &element, sizeof(T));
    }
  });
  return bytes;
}

std::optional<Attributes> constant_attributes(const ValueType& type, const std::byte* bytes) {
  std::vector<int64_t> shape;
  for (const Dim& dim : type.shape) shape.push_back(dim.constant());
  const auto elements = static_cast<size_t>(element_count(type.shape, {}).value_or(0));
  std::vector<double> data;
  data.reserve(elements);
  for_each_number(type.dtype, {bytes, elements * static_cast<size_t>(dtype_info(type.dtype).block_bytes)},
                  [&](double number) { data.push_back(number); });
  const bool written = std::all_of(data.begin(), data.end(), [&](double number) {
    return std::isfinite(number) && fits(number, type.dtype);
  });
  if (data.empty() || !written) return std::nullopt;
  Attributes attributes{{"shape", std::move(shape)}, {"dtype", std::string(name_of(type.dtype))}};
  if (std::adjacent_find(data.begin(), data.end(), std::not_equal_to<>()) == data.end())
    attributes.emplace("value", data.front());
  else
    attributes.emplace("data", std::move(data));
  return attributes;
}

}  // namespace orrery::ops
