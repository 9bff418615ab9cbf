#include "engine/text/jinja_text.h"

#include <utf8proc.h>

#include <algorithm>

#include "engine/text/unicode.h"

namespace orrery::text::jinja {
namespace {

utf8proc_category_t category(std::string_view point) {
  const CodePoint decoded = code_point_at(point, 0);
  return decoded.valid ? utf8proc_category(static_cast<utf8proc_int32_t>(decoded.value))
                       : UTF8PROC_CATEGORY_CN;
}

bool is_line_break(char32_t value) {
  return (value >= '\n' && value <= '\r') || (value >= 0x1C && value <= 0x1E) || value == 0x85 ||
         value == 0x2028 || value == 0x2029;
}

}  // namespace

std::vector<std::string_view> code_points(std::string_view text) {
  std::vector<std::string_view> points;
  for (size_t i = 0; i < text.size();) {
    const size_t bytes = code_point_at(text, i).bytes;
    points.push_back(text.substr(i, bytes));
    i += bytes;
  }
  return points;
}

bool is_space(std::string_view point) {
  const CodePoint decoded = code_point_at(point, 0);
  return decoded.valid && (is_white_space(decoded.value) || (decoded.value >= 0x1C && decoded.value <= 0x1F));
}

bool is_letter(std::string_view point) {
  const auto kind = category(point);
  return kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_LO;
}

bool is_decimal(std::string_view point) { return category(point) == UTF8PROC_CATEGORY_ND; }

bool is_printable(std::string_view point) {
  if (point == " ") return true;
  const auto kind = category(point);
  return kind != UTF8PROC_CATEGORY_CN && kind < UTF8PROC_CATEGORY_ZS;
}

std::string_view strip(std::string_view text, const std::string* set, bool left, bool right) {
  const std::vector<std::string_view> wanted = set ? code_points(*set) : std::vector<std::string_view>();
  const auto goes = [&](std::string_view point) {
    return set ? std::find(wanted.begin(), wanted.end(), point) != wanted.end() : is_space(point);
  };
  while (left && !text.empty()) {
    const size_t bytes = code_point_at(text, 0).bytes;
    if (!goes(text.substr(0, bytes))) break;
    text.remove_prefix(bytes);
  }
  while (right && !text.empty()) {
    size_t begin = text.size() - 1;
    while (begin > 0 && text.size() - begin < 4 && (static_cast<uint8_t>(text[begin]) & 0xC0U) == 0x80U)
      --begin;
    if (code_point_at(text, begin).bytes != text.size() - begin) begin = text.size() - 1;
    if (!goes(text.substr(begin))) break;
    text.remove_suffix(text.size() - begin);
  }
  return text;
}

std::vector<std::string_view> split_lines(std::string_view text, bool keep) {
  std::vector<std::string_view> lines;
  size_t begin = 0;
  for (size_t i = 0; i < text.size();) {
    const CodePoint point = code_point_at(text, i);
    const size_t end = i;
    i += point.bytes;
    if (!point.valid || !is_line_break(point.value)) continue;
    if (point.value == '\r' && i < text.size() && text[i] == '\n') ++i;
    lines.push_back(text.substr(begin, (keep ? i : end) - begin));
    begin = i;
  }
  if (begin < text.size()) lines.push_back(text.substr(begin));
  return lines;
}

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size();) {
    const size_t bytes = i < text.size() ? code_point_at(text, i).bytes : 1;
    if (i == text.size() || is_space(text.substr(i, bytes))) {
      if (i > begin) words.push_back(text.substr(begin, i - begin));
      begin = i + bytes;
    }
    i += bytes;
  }
  return words;
}

std::string title(std::string_view text) {
  std::string result;
  bool in_word = false;
  for (const std::string_view point : code_points(text)) {
    result += in_word ? lowercase(point) : uppercase(point);
    in_word = lowercase(point) != uppercase(point);
  }
  return result;
}

std::string capitalize(std::string_view text) {
  if (text.empty()) return {};
  const size_t first = code_point_at(text, 0).bytes;
  return uppercase(text.substr(0, first)) + lowercase(text.substr(first));
}

std::string swap_case(std::string_view text) {
  std::string result;
  for (const std::string_view point : code_points(text)) {
    const std::string lower = lowercase(point);
    result += lower == point ? uppercase(point) : lower;
  }
  return result;
}

bool is_case(std::string_view text, Case wanted) {
  bool any = false;
  for (const std::string_view point : code_points(text)) {
    const std::string lower = lowercase(point), upper = uppercase(point);
    if (lower == upper) continue;
    if (point != (wanted == Case::lower ? lower : upper)) return false;
    any = true;
  }
  return any;
}

std::string padded(std::string_view text, size_t width, char align, std::string_view fill) {
  const size_t length = count_code_points(text);
  const size_t missing = width > length ? width - length : 0;
  size_t left = align == '>' ? missing : align == '^' ? missing / 2 : 0;
  if (align == 'c') left = missing / 2 + (missing & width & 1U);
  std::string result;
  for (size_t i = 0; i < left; ++i) result += fill;
  result += text;
  for (size_t i = left; i < missing; ++i) result += fill;
  return result;
}

}  // namespace orrery::text::jinja
