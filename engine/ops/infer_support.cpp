#include "engine/ops/infer_support.h"

#include <cmath>

#include "engine/ops/kv_cost.h"

namespace orrery::ops {
namespace {

template <class T>
T attribute_or_zero(const Attributes& attributes, std::string_view name) {
  const auto found = attributes.find(name);
  const T* value = found == attributes.end() ? nullptr : std::get_if<T>(&found->second);
  return value ? *value : T{};
}

bool is_matrix(const Shape& shape) {
  return shape.size() == 2 && shape[1].is_constant() && shape[1].constant() > 0;
}

}  // namespace

int64_t integer(const Attributes& attributes, std::string_view name) {
  return attribute_or_zero<int64_t>(attributes, name);
}
double real(const Attributes& attributes, std::string_view name) {
  return attribute_or_zero<double>(attributes, name);
}
bool flag(const Attributes& attributes, std::string_view name) {
  return attribute_or_zero<bool>(attributes, name);
}
std::vector<int64_t> list(const Attributes& attributes, std::string_view name) {
  return attribute_or_zero<std::vector<int64_t>>(attributes, name);
}

std::string_view text(const Attributes& attributes, std::string_view name) {
  const auto found = attributes.find(name);
  const auto* value = found == attributes.end() ? nullptr : std::get_if<std::string>(&found->second);
  return value ? std::string_view(*value) : std::string_view();
}

std::optional<DType> parse_dtype(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(kLastDType); ++i)
    if (name_of(static_cast<DType>(i)) == name) return static_cast<DType>(i);
  return std::nullopt;
}

Error mismatch(std::string_view input, std::string what) {
  return {ErrorCode::shape_mismatch, std::move(what), std::string(input), ""};
}

Error bad_attribute(std::string what) { return {ErrorCode::invalid_argument, std::move(what), "", ""}; }

std::optional<int64_t> product(int64_t a, int64_t b) {
  int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}

Result<ValueType> fixed_type(DType dtype, const std::vector<int64_t>& sizes) {
  int64_t elements = 1;
  Shape shape;
  for (const int64_t size : sizes) {
    if (size <= 0) return bad_attribute(fmt::format("shape has the size {}; sizes begin at 1", size));
    if (__builtin_mul_overflow(elements, size, &elements) || elements > kMostElements)
      return bad_attribute("shape has more elements than memory can hold");
    shape.emplace_back(size);
  }
  if (!sizes.empty() && !row_bytes(dtype, sizes.back()))
    return bad_attribute(fmt::format("rows of {} elements cannot be stored as {}: its blocks hold {}",
                                     sizes.back(), name_of(dtype), dtype_info(dtype).block_elements));
  return ValueType{dtype, std::move(shape)};
}

Result<void> expect_positive(const Attributes& attributes, std::string_view name) {
  if (const int64_t value = integer(attributes, name); value <= 0)
    return bad_attribute(fmt::format("{} is {}; it must be at least 1", name, value));
  return {};
}

Result<void> expect_not_negative(const Attributes& attributes, std::string_view name) {
  if (const double value = real(attributes, name); !std::isfinite(value) || value < 0)
    return bad_attribute(fmt::format("{} is {}; it must be a finite number of at least 0", name, value));
  return {};
}

Result<void> expect_choice(const Attributes& attributes, std::string_view name,
                           std::span<const std::string_view> choices) {
  const std::string_view value = text(attributes, name);
  std::string known;
  for (const std::string_view choice : choices) {
    if (value == choice) return {};
    (known += known.empty() ? "" : ", ") += choice;
  }
  Error error = bad_attribute(fmt::format("{} is \"{}\"", name, value));
  error.advice = "Choose one of " + known;
  return error;
}

Result<Matrix> activation(const NodeView& view, size_t input, std::string_view name) {
  const ValueType& type = *view.inputs[input];
  if (type.dtype != DType::f32 || !is_matrix(type.shape))
    return mismatch(name, fmt::format("{} is {}; it must be f32[rows, cols]", name, to_string(type)));
  return Matrix{type.shape[0], type.shape[1].constant()};
}

Result<Matrix> rounded_activation(const NodeView& view, size_t input, std::string_view name) {
  const ValueType& type = *view.inputs[input];
  if (!is_float(type.dtype) || !is_matrix(type.shape))
    return mismatch(
        name, fmt::format("{} is {}; it must be [rows, cols] of f32, f16 or bf16", name, to_string(type)));
  return Matrix{type.shape[0], type.shape[1].constant()};
}

Result<void> expect_same(const NodeView& view, size_t input, std::string_view name, size_t other,
                         std::string_view other_name) {
  if (*view.inputs[input] != *view.inputs[other])
    return mismatch(
        name, fmt::format("{} is {}, but {} is {}; they must be equal", name, to_string(*view.inputs[input]),
                          other_name, to_string(*view.inputs[other])));
  return {};
}

Result<void> expect_vector(const NodeView& view, size_t input, std::string_view name, int64_t size,
                           std::string_view reader) {
  if (input >= view.inputs.size() || !view.inputs[input]) return {};
  const ValueType& type = *view.inputs[input];
  if (!is_float(type.dtype) || type.shape != Shape{size})
    return mismatch(name, fmt::format("{} is {}, but {} needs [{}] of f32, f16 or bf16", name,
                                      to_string(type), reader, size));
  return {};
}

Result<Stored> stored_matrix(const NodeView& view, size_t input, std::string_view name) {
  const ValueType& type = *view.inputs[input];
  const bool whole = type.shape.size() == 2 && type.shape[0].is_constant() && type.shape[1].is_constant();
  if (!whole || is_integer(type.dtype) || type.dtype == DType::boolean)
    return mismatch(
        name, fmt::format("{} is {}; it must be a matrix of weights [rows, cols]", name, to_string(type)));
  return Stored{type.shape[0].constant(), type.shape[1].constant()};
}

Result<Dim> indices(const NodeView& view, size_t input, std::string_view name) {
  const ValueType& type = *view.inputs[input];
  if (type.dtype != DType::i32 || type.shape.size() != 1)
    return mismatch(name, fmt::format("{} is {}; it must be i32[n]", name, to_string(type)));
  return type.shape[0];
}

double count(const Shape& shape, const Bindings& bindings) {
  return static_cast<double>(element_count(shape, bindings).value_or(0));
}

double bytes(const ValueType& type, const Bindings& bindings) {
  const DTypeInfo info = dtype_info(type.dtype);
  return count(type.shape, bindings) / info.block_elements * info.block_bytes;
}

double bytes(const ValueType* type, const Bindings& bindings) { return type ? bytes(*type, bindings) : 0; }

double kept_bytes(const ValueType& state, const Bindings& bindings) {
  const auto element = bindings.find(kKvBytes);
  return 2 * (element == bindings.end()
                  ? bytes(state, bindings)
                  : count(state.shape, bindings) * static_cast<double>(element->second) / kKvElements);
}

double rows_of(const ValueType& type, const Bindings& bindings) {
  return type.shape.empty() ? 1 : static_cast<double>(type.shape[0].evaluate(bindings).value_or(0));
}

}  // namespace orrery::ops
