#include "engine/edit/ranges.h"

#include <algorithm>

#include "engine/edit/number_in.h"

namespace orrery::edit {

std::optional<std::vector<Range>> ranges_in(std::string_view text) {
  std::vector<Range> ranges;
  while (true) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, comma);
    const size_t dash = std::min(part.find('-'), part.size());
    const auto first = number_in<uint32_t>(part.substr(0, dash));
    const auto last = dash == part.size() ? first : number_in<uint32_t>(part.substr(dash + 1));
    if (!first || !last || *last < *first) return std::nullopt;
    ranges.push_back({*first, *last});
    if (comma == text.size()) return ranges;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace orrery::edit
