// Texts of edits: cut, compared, refused.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace orrery::edit {

/// Types that the elements of a tensor may have.
inline constexpr std::string_view kElementTypes[] = {"f32", "f16", "bf16", "i8",  "i16",
                                                     "i32", "i64", "u8",   "bool"};

std::vector<std::string_view> split(std::string_view text, char separator);
/// Insertions, deletions, replacements and swaps of neighbours that make one text of the other, as far as
/// there are no more than `most`; else most + 1.
size_t edit_distance(std::string_view a, std::string_view b, size_t most);
/// That an edit cannot be made as it is worded.
Error refusal(std::string what, std::string where, std::string advice);

}  // namespace orrery::edit
