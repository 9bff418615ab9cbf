#include "engine/edit/words.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace orrery::edit {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

size_t edit_distance(std::string_view a, std::string_view b, size_t most) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() > most) return most + 1;
  // Of the last letters of b so far, with the letters of a so far.
  std::vector<size_t> before, last(a.size() + 1), row(a.size() + 1);
  std::iota(last.begin(), last.end(), size_t{0});
  for (size_t j = 0; j < b.size(); ++j) {
    row[0] = j + 1;
    for (size_t i = 0; i < a.size(); ++i) {
      row[i + 1] = std::min({last[i] + (a[i] == b[j] ? 0 : 1), last[i + 1] + 1, row[i] + 1});
      if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j])
        row[i + 1] = std::min(row[i + 1], before[i - 1] + 1);
    }
    if (std::ranges::min(row) > most) return most + 1;
    before = std::exchange(last, row);
  }
  return std::min(last.back(), most + 1);
}

}  // namespace orrery::edit
