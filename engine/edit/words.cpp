#include "engine/edit/words.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

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
  std::vector<size_t> row(a.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t j = 0; j < b.size(); ++j) {
    size_t diagonal = std::exchange(row[0], j + 1), least = row[0];
    for (size_t i = 0; i < a.size(); ++i) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[i + 1];
      row[i + 1] = std::min({replaced, diagonal + 1, row[i] + 1});
      least = std::min(least, row[i + 1]);
    }
    if (least > most) return most + 1;
  }
  return std::min(row.back(), most + 1);
}

}  // namespace orrery::edit
