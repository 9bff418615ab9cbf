#include "engine/custom/sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <span>

#include "kernels/half.h"

namespace orrery::custom {
namespace {

template <class T>
void put_element(std::vector<std::byte>& bytes, size_t i, T value) {
  std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
}

}  // namespace

Result<std::vector<SizePlan>> plans_of(std::string_view trial, const SizePlan& otherwise) {
  std::vector<SizePlan> plans;
  while (!trial.empty()) {
    const size_t end = std::min(trial.find(';'), trial.size());
    SizePlan plan = otherwise;
    std::string_view part = trial.substr(0, end);
    while (!part.empty()) {
      const size_t comma = std::min(part.find(','), part.size());
      std::string_view one = part.substr(0, comma);
      while (one.starts_with(' ')) one.remove_prefix(1);
      const size_t equals = std::min(one.find('='), one.size());
      int64_t size = 0;
      const std::string_view digits = one.substr(std::min(equals + 1, one.size()));
      if (std::from_chars(digits.data(), digits.data() + digits.size(), size).ec != std::errc())
        return Error{
            ErrorCode::invalid_argument,
            fmt::format("What its .trial says is not of the form NAME=SIZE, NAME=SIZE; ..: \"{}\"", one),
            "trial", "fix the op"};
      plan.named.emplace(std::string(one.substr(0, equals)), size);
      part.remove_prefix(std::min(comma + 1, part.size()));
    }
    plans.push_back(std::move(plan));
    trial.remove_prefix(std::min(end + 1, trial.size()));
  }
  return plans;
}

orrery_tensor planned_tensor(const InputPort& port, const SizePlan& plan, SizeNames& names, size_t variant) {
  static constexpr std::array kAny = {DType::f32, DType::i32, DType::u8};
  const std::span<const DType> types =
      port.types.empty() ? std::span<const DType>(kAny) : std::span<const DType>(port.types);
  orrery_tensor tensor{};
  tensor.dtype = number_of(types[std::min(variant, types.size() - 1)]);
  std::vector<int64_t> sizes;
  if (!port.sizes.given) sizes = {plan.sizes[0], plan.sizes[1]};
  if (port.sizes.leading) sizes = plan.leading;
  for (const Size& size : port.sizes.dims)
    sizes.push_back(
        size.name.empty()
            ? size.number
            : names.emplace(size.name, plan.sizes[names.size() % plan.sizes.size()]).first->second);
  sizes.resize(std::min<size_t>(sizes.size(), ORRERY_MAX_RANK));
  tensor.rank = static_cast<int32_t>(sizes.size());
  std::copy(sizes.begin(), sizes.end(), tensor.sizes);
  return tensor;
}

graph::Attributes planned_attributes(const Signature& signature, const SizeNames& names) {
  graph::Attributes attributes;
  for (const graph::AttributeSpec& spec : signature.attributes)
    if (const auto given = names.find(spec.name);
        given != names.end() && std::holds_alternative<int64_t>(*spec.fallback))
      attributes[spec.name] = given->second;
  return attributes;
}

std::vector<std::byte> random_elements(const orrery_tensor& tensor, std::mt19937& random) {
  std::vector<std::byte> bytes(bytes_of(tensor));
  for (size_t i = 0; i < static_cast<size_t>(elements_of(tensor)); ++i) {
    const uint32_t word = random();
    const float real = static_cast<float>(word) * 0x1p-30f - 2;
    const uint32_t whole = word % 10;
    switch (tensor.dtype) {
      case ORRERY_F32:
        put_element(bytes, i, real);
        break;
      case ORRERY_F16:
        put_element(bytes, i, kernels::f16_from_float(real));
        break;
      case ORRERY_BF16:
        put_element(bytes, i, kernels::bf16_from_float(real));
        break;
      case ORRERY_I16:
        put_element(bytes, i, static_cast<int16_t>(whole));
        break;
      case ORRERY_I32:
        put_element(bytes, i, static_cast<int32_t>(whole));
        break;
      case ORRERY_I64:
        put_element(bytes, i, static_cast<int64_t>(whole));
        break;
      case ORRERY_U8:
        put_element(bytes, i, static_cast<uint8_t>(word >> 13));
        break;
      case ORRERY_BOOL:
        put_element(bytes, i, static_cast<uint8_t>(word >> 13 & 1));
        break;
      default:
        put_element(bytes, i, static_cast<int8_t>(whole));
    }
  }
  return bytes;
}

double element_at(const std::byte* data, int32_t dtype, size_t i) {
  const auto get = [&]<class T>(T value) {
    std::memcpy(&value, data + i * sizeof(T), sizeof(T));
    return value;
  };
  switch (dtype) {
    case ORRERY_F32:
      return get(float{});
    case ORRERY_F16:
      return kernels::float_from_f16(get(uint16_t{}));
    case ORRERY_BF16:
      return kernels::float_from_bf16(get(uint16_t{}));
    case ORRERY_I8:
      return get(int8_t{});
    case ORRERY_I16:
      return get(int16_t{});
    case ORRERY_I32:
      return get(int32_t{});
    case ORRERY_I64:
      return static_cast<double>(get(int64_t{}));
    default:
      return get(uint8_t{});
  }
}

double tolerance_of(double declared, int32_t dtype) {
  if (declared > 0) return declared;
  return dtype == ORRERY_F32 ? 1e-5 : dtype == ORRERY_F16 || dtype == ORRERY_BF16 ? 1e-2 : 0;
}

}  // namespace orrery::custom
