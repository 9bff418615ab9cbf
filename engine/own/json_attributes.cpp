#include "engine/own/json_attributes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace orrery::own {
namespace {

using graph::Attribute;
using graph::AttributeType;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::optional<int64_t> integer_in(const Json& json) {
  if (json.is_number_unsigned()) {
    const auto number = json.get<uint64_t>();
    return std::in_range<int64_t>(number) ? std::optional(static_cast<int64_t>(number)) : std::nullopt;
  }
  return json.is_number_integer() ? std::optional(json.get<int64_t>()) : std::nullopt;
}

std::optional<double> number_in(const Json& json) {
  if (json.is_number()) return json.get<double>();
  if (!json.is_string()) return std::nullopt;
  const auto& text = json.get_ref<const std::string&>();
  if (text == "inf") return kInfinity;
  if (text == "-inf") return -kInfinity;
  return text == "nan" ? std::optional(std::numeric_limits<double>::quiet_NaN()) : std::nullopt;
}

/// All of them, or nothing.
template <class T>
std::optional<std::vector<T>> all_of(const Json& array, std::optional<T> (*read)(const Json&)) {
  std::vector<T> values;
  values.reserve(array.size());
  for (const Json& item : array) {
    const std::optional<T> value = read(item);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

template <class T>
std::optional<Attribute> maybe(std::optional<T> value) {
  return value ? std::optional<Attribute>(*std::move(value)) : std::nullopt;
}

nlohmann::ordered_json json_of(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  return number;
}
nlohmann::ordered_json json_of(const std::vector<double>& numbers) {
  auto array = nlohmann::ordered_json::array();
  for (const double number : numbers) array.push_back(json_of(number));
  return array;
}
template <class T>
nlohmann::ordered_json json_of(const T& value) {
  return value;
}

}  // namespace

AttributeType type_of(const graph::AttributeSpec& spec) {
  return spec.fallback ? static_cast<AttributeType>(spec.fallback->index()) : spec.type;
}

std::optional<Attribute> attribute_in(const Json& json, AttributeType wanted) {
  if (json.is_boolean()) return Attribute(json.get<bool>());
  if (json.is_string()) {
    if (wanted == AttributeType::real) return maybe(number_in(json));
    return Attribute(json.get_ref<const std::string&>());
  }
  if (json.is_number_integer()) {
    const auto integer = integer_in(json);
    return integer || wanted != AttributeType::real ? maybe(integer) : maybe(number_in(json));
  }
  if (json.is_number()) return Attribute(json.get<double>());
  if (!json.is_array()) return std::nullopt;
  if (wanted != AttributeType::numbers)
    if (auto list = all_of(json, integer_in)) return Attribute(*std::move(list));
  return maybe(all_of(json, number_in));
}

std::optional<Attribute> attribute_in(std::string_view text, AttributeType wanted) {
  if (wanted == AttributeType::text) return Attribute(std::string(text));
  const bool list = wanted == AttributeType::list || wanted == AttributeType::numbers;
  const auto json =
      parse_json(list && !text.starts_with('[') ? "[" + std::string(text) + "]" : std::string(text), "");
  return attribute_in(json.ok() ? *json : Json(std::string(text)), wanted);
}

nlohmann::ordered_json to_json(const Attribute& attribute) {
  return std::visit([](const auto& value) { return json_of(value); }, attribute);
}

}  // namespace orrery::own
