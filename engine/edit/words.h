// Texts of edits: cut, joined and compared.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orrery::edit {

std::vector<std::string_view> split(std::string_view text, char separator);
/// Insertions, deletions, replacements and swaps of neighbours that make one text of the other, as far as
/// there are no more than `most`; else most + 1.
size_t edit_distance(std::string_view a, std::string_view b, size_t most);

}  // namespace orrery::edit
