// GPT-2's reversible map between bytes and printable characters: vocabularies of byte-level BPE are written
// in it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace orrery::text {

/// Every byte as its character: "Ġ" for a space.
std::string bytes_to_characters(std::string_view bytes);
/// The way back; nothing when a character is not of the 256.
std::optional<std::string> characters_to_bytes(std::string_view characters);

}  // namespace orrery::text
