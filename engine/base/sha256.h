// SHA-256 (FIPS 180-4), for names by content: hex of the 32 bytes.
#pragma once

#include <string>
#include <string_view>

namespace orrery {

std::string sha256(std::string_view bytes);

}  // namespace orrery
