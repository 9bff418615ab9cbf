#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace orrery::edit {

/// Whole numbers from first to last.
struct Range {
  int64_t first = 0, last = 0;
};

/// "2-3,7", as written; nothing where it is no such list.
std::optional<std::vector<Range>> ranges_in(std::string_view text);

}  // namespace orrery::edit
