// Bytes as text (RFC 4648).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace orrery {

std::string to_base64(std::span<const std::byte> bytes);
/// Padding may be left out. Nothing where a character is no digit of it.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace orrery
