#include "engine/io/gguf_value.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

#include "engine/io/json.h"
#include "engine/io/reader.h"

namespace orrery::io {
namespace {

// By their numbers.
constexpr std::array<std::string_view, 13> kNames = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                                     "bool", "string", "array", "u64", "i64", "f64"};

void append_text(std::string& bytes, std::string_view text) {
  append(bytes, static_cast<uint64_t>(text.size()));
  bytes += text;
}

/// Calls `use` with a value of the C++ type; not for texts, bools and arrays.
template <class Use>
bool with_number_type(GgufValueType type, Use&& use) {
  switch (type) {
    case GgufValueType::u8:
      return use(uint8_t{});
    case GgufValueType::i8:
      return use(int8_t{});
    case GgufValueType::u16:
      return use(uint16_t{});
    case GgufValueType::i16:
      return use(int16_t{});
    case GgufValueType::u32:
      return use(uint32_t{});
    case GgufValueType::i32:
      return use(int32_t{});
    case GgufValueType::u64:
      return use(uint64_t{});
    case GgufValueType::i64:
      return use(int64_t{});
    case GgufValueType::f32:
      return use(float{});
    case GgufValueType::f64:
      return use(double{});
    default:
      return false;
  }
}

/// One value that is no array; false when the text is none of this type.
bool encode_scalar(GgufValueType type, std::string_view text, std::string& bytes) {
  if (type == GgufValueType::string) {
    append_text(bytes, text);
    return true;
  }
  if (type == GgufValueType::boolean) {
    append(bytes, static_cast<uint8_t>(text == "true"));
    return text == "true" || text == "false";
  }
  return with_number_type(type, [&]<class T>(T value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    append(bytes, value);
    return error == std::errc() && end == text.data() + text.size();
  });
}

/// The elements of a JSON array as texts that encode_scalar takes.
std::optional<std::vector<std::string>> array_items(const std::string& text, bool booleans) {
  const auto json = flatten_json(fmt::format("{{\"v\":{}}}", text), "value");
  if (!json.ok() || json->all().size() != 1) return std::nullopt;
  if (const auto* texts = json->texts("v")) return *texts;
  std::vector<std::string> items;
  if (const auto* integers = json->integers("v"))
    for (const int64_t value : *integers)
      items.push_back(!booleans ? fmt::format("{}", value) : value == 1 ? "true" : value == 0 ? "false" : "");
  else if (const auto* reals = json->numbers("v"))
    for (const double value : *reals) items.push_back(fmt::format("{}", value));
  else
    return std::nullopt;
  return items;
}

}  // namespace

std::string name_of(GgufKeyType type) {
  if (type.type == GgufValueType::array)
    return fmt::format("{}[]", kNames[static_cast<size_t>(type.element)]);
  return std::string(kNames[static_cast<size_t>(type.type)]);
}

std::optional<GgufKeyType> parse_key_type(std::string_view name) {
  const bool array = name.ends_with("[]");
  if (array) name.remove_suffix(2);
  for (size_t i = 0; i < kNames.size(); ++i) {
    const auto type = static_cast<GgufValueType>(i);
    if (kNames[i] != name || type == GgufValueType::array) continue;
    return array ? GgufKeyType{GgufValueType::array, type} : GgufKeyType{type, type};
  }
  return std::nullopt;
}

Result<std::string> encode_value(GgufKeyType type, const std::string& text, std::string_view key) {
  const auto refuse = [&] {
    return Error{
        ErrorCode::invalid_argument,
        fmt::format("{} is not a value of the type {}", shown(text), name_of(type)), std::string(key),
        type.type == GgufValueType::array ? "write an array as JSON, [1, 2]" : "write a value of this type"};
  };
  std::string bytes;
  if (type.type != GgufValueType::array) {
    if (!encode_scalar(type.type, text, bytes)) return refuse();
    return bytes;
  }
  const auto items = array_items(text, type.element == GgufValueType::boolean);
  if (!items) return refuse();
  append(bytes, static_cast<uint32_t>(type.element));
  append(bytes, static_cast<uint64_t>(items->size()));
  for (const std::string& item : *items)
    if (!encode_scalar(type.element, item, bytes)) return refuse();
  return bytes;
}

}  // namespace orrery::io
