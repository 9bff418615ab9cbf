#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <span>

#include "engine/graph/hash.h"
#include "engine/graph/op_schema.h"
#include "kernels/device_id.h"
#include "kernels/precision.h"

namespace orrery::graph {
namespace {

std::string text_of(bool value) { return value ? "true" : "false"; }
std::string text_of(int64_t value) { return std::to_string(value); }
std::string text_of(double value) { return fmt::format("{}", value); }
std::string text_of(const std::string& value) { return value; }
std::string text_of(const std::vector<int64_t>& values) {
  std::string text = "[";
  for (const int64_t value : values) text += (text.size() > 1 ? ", " : "") + std::to_string(value);
  return text + "]";
}

constexpr size_t kShown = 8;

/// Lists of numbers are tensors, of any size.
std::string text_of(const std::vector<double>& values) {
  const std::span<const double> first(values.data(), std::min(values.size(), kShown));
  if (values.size() <= kShown) return fmt::format("[{}]", fmt::join(first, ", "));
  uint64_t hash = 0;
  for (const double value : values) hash = mix(hash, std::bit_cast<uint64_t>(value));
  return fmt::format("[{}, ... {} numbers, #{:08x}]", fmt::join(first, ", "), values.size(),
                     hash & 0xFFFFFFFFU);
}

AttributeType type_of(const Attribute& attribute) { return static_cast<AttributeType>(attribute.index()); }

AttributeType type_of(const AttributeSpec& spec) {
  return spec.fallback ? type_of(*spec.fallback) : spec.type;
}

const AttributeSpec* find_spec(const OpSchema& schema, std::string_view name) {
  for (const AttributeSpec& spec : schema.attributes)
    if (spec.name == name) return &spec;
  return nullptr;
}

std::string known_names(const OpSchema& schema) {
  std::string names;
  for (const AttributeSpec& spec : schema.attributes) (names += names.empty() ? "" : ", ") += spec.name;
  return names.empty() ? fmt::format("{} takes no attributes", schema.name)
                       : fmt::format("{} takes {}", schema.name, names);
}

/// Makes a whole number real, or a list of one, where the spec wants that; refuses any other difference.
Result<void> fit(const OpSchema& schema, const AttributeSpec& spec, Attribute& value) {
  const AttributeType wanted = type_of(spec);
  if (wanted == AttributeType::any || type_of(value) == wanted) return {};
  if (const auto* whole = std::get_if<int64_t>(&value); whole && wanted == AttributeType::real) {
    value = static_cast<double>(*whole);
    return {};
  }
  if (const auto* whole = std::get_if<int64_t>(&value); whole && wanted == AttributeType::list) {
    value = std::vector<int64_t>{*whole};
    return {};
  }
  if (const auto* whole = std::get_if<std::vector<int64_t>>(&value);
      whole && wanted == AttributeType::numbers) {
    value = std::vector<double>(whole->begin(), whole->end());
    return {};
  }
  return Error{
      ErrorCode::invalid_argument,
      fmt::format("{} of {} is {}, not {}", spec.name, schema.name, name_of(wanted), to_string(value)), "",
      ""};
}

Result<void> check_device(const Attribute& value) {
  const auto* text = std::get_if<std::string>(&value);
  if (text && is_device_name(*text)) return {};
  return Error{ErrorCode::invalid_argument,
               fmt::format("{} is \"{}\", which names no device", kDeviceAttribute, to_string(value)), "",
               "Use cpu, or cuda:0 for the first CUDA device"};
}

Result<void> check_precision(const Attribute& value) {
  const auto* text = std::get_if<std::string>(&value);
  if (text && kernels::parse_precision(*text)) return {};
  std::string names;
  for (const kernels::Precision precision : kernels::kPrecisions)
    (names += names.empty() ? "" : ", ") += name_of(precision);
  return Error{ErrorCode::invalid_argument,
               fmt::format("{} is \"{}\", which is none", kPrecisionAttribute, to_string(value)), "",
               fmt::format("Use one of {}", names)};
}

Result<void> check_stored(const Attribute& value) {
  const auto* text = std::get_if<std::string>(&value);
  if (text && (*text == name_of(DType::bf16) || *text == name_of(DType::f16))) return {};
  return Error{
      ErrorCode::invalid_argument,
      fmt::format("{} is \"{}\", which no activation is stored in", kStoredAttribute, to_string(value)), "",
      "Use bf16 or f16, or remove it for f32"};
}

Result<void> check_drawing(std::string_view name, const Attribute& value) {
  const auto* text = std::get_if<std::string>(&value);
  const size_t longest = name == kFrameAttribute ? kLongestTitle : kLongestNote;
  if (text && !text->empty() && text->size() <= longest) return {};
  return Error{ErrorCode::invalid_argument,
               text && !text->empty() ? fmt::format("The {} has {} bytes", name, text->size())
                                      : fmt::format("The {} is no text", name),
               "", fmt::format("Write up to {} bytes, or remove it", longest)};
}

Result<void> check_common(std::string_view name, const Attribute& value) {
  if (name == kDeviceAttribute) return check_device(value);
  if (is_drawing_attribute(name)) return check_drawing(name, value);
  return name == kPrecisionAttribute ? check_precision(value) : check_stored(value);
}

}  // namespace

bool is_drawing_attribute(std::string_view name) { return name == kFrameAttribute || name == kNoteAttribute; }

bool is_common_attribute(std::string_view name) {
  return name == kDeviceAttribute || name == kPrecisionAttribute || name == kStoredAttribute ||
         is_drawing_attribute(name);
}

bool is_device_name(std::string_view text) { return kernels::parse_device_id(text).has_value(); }

std::string to_string(const Attribute& attribute) {
  return std::visit([](const auto& value) { return text_of(value); }, attribute);
}

std::string_view name_of(OpFamily family) {
  switch (family) {
    case OpFamily::attention:
      return "attention";
    case OpFamily::linear:
      return "linear";
    case OpFamily::norm:
      return "norm";
    case OpFamily::activation:
      return "activation";
    case OpFamily::elementwise:
      return "elementwise";
    case OpFamily::embedding:
      return "embedding";
    case OpFamily::sampling:
      return "sampling";
    case OpFamily::data_movement:
      return "data_movement";
    case OpFamily::source:
      return "source";
    case OpFamily::custom:
      return "custom";
  }
  return "?";
}

std::string_view name_of(AttributeType type) {
  switch (type) {
    case AttributeType::flag:
      return "true or false";
    case AttributeType::integer:
      return "a whole number";
    case AttributeType::real:
      return "a number";
    case AttributeType::text:
      return "a text";
    case AttributeType::list:
      return "a list of whole numbers";
    case AttributeType::numbers:
      return "a list of numbers";
    case AttributeType::any:
      return "anything";
  }
  return "?";
}

Result<Attributes> complete_attributes(const OpSchema& schema, Attributes attributes) {
  for (auto& [name, value] : attributes) {
    if (schema.family != OpFamily::source && is_common_attribute(name)) {
      ORRERY_TRY(check_common(name, value));
      continue;
    }
    const AttributeSpec* spec = find_spec(schema, name);
    if (!spec)
      return Error{ErrorCode::invalid_argument, fmt::format("{} has no attribute {}", schema.name, name), "",
                   known_names(schema)};
    ORRERY_TRY(fit(schema, *spec, value));
  }
  for (const AttributeSpec& spec : schema.attributes) {
    if (attributes.contains(spec.name)) continue;
    if (!spec.fallback)
      return Error{ErrorCode::invalid_argument,
                   fmt::format("{} needs the attribute {}", schema.name, spec.name), "",
                   std::string(spec.doc)};
    attributes.emplace(spec.name, *spec.fallback);
  }
  return attributes;
}

}  // namespace orrery::graph
