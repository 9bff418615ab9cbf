// Strings as Python's methods see them: by code points, with Unicode's white space.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orrery::text::jinja {

std::vector<std::string_view> code_points(std::string_view text);
/// Without `set`, white space goes; else the code points of `set`.
std::string_view strip(std::string_view text, const std::string* set, bool left, bool right);
/// At every line break that Python knows ("\r\n" is one), which stay at the ends where `keep`.
std::vector<std::string_view> split_lines(std::string_view text, bool keep);
std::vector<std::string_view> split_words(std::string_view text);

/// Each word begins with a capital; a word ends at what is no letter.
std::string title(std::string_view text);
std::string capitalize(std::string_view text);
std::string swap_case(std::string_view text);

enum class Case { lower, upper };
/// Whether it has letters with a case and all are of this one.
bool is_case(std::string_view text, Case wanted);
bool is_space(std::string_view point);
bool is_letter(std::string_view point);
bool is_decimal(std::string_view point);
bool is_printable(std::string_view point);

/// `align` is "<", ">", "^" (the odd fill goes right) or "c" (as str.center puts it).
std::string padded(std::string_view text, size_t width, char align, std::string_view fill = " ");

}  // namespace orrery::text::jinja
