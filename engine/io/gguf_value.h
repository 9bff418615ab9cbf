// Values of GGUF metadata as a person writes them, and as a file holds them.
#pragma once

#include <string>
#include <string_view>

#include "engine/io/gguf.h"

namespace orrery::io {

struct GgufKeyType {
  GgufValueType type = GgufValueType::string;
  GgufValueType element = GgufValueType::string;  // of an array
};
std::string name_of(GgufKeyType type);  // "u32", "string[]"
/// Nothing for a name that no type has.
std::optional<GgufKeyType> parse_key_type(std::string_view name);

/// A number as a file holds it, at the end of `bytes`.
template <class T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

/// The bytes of a value: numbers in their range, "true" or "false", a text as it is, an array as JSON of one
/// kind. Errors name the key.
Result<std::string> encode_value(GgufKeyType type, const std::string& text, std::string_view key);

}  // namespace orrery::io
