#include "engine/text/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <cstring>

namespace orrery::text {
namespace {

struct Lead {
  int length;                       // 0: cannot start a sequence
  uint8_t second_low, second_high;  // range of the second byte
};

Lead lead_of(uint8_t byte) {
  if (byte < 0x80) return {1, 0, 0};
  if (byte >= 0xC2 && byte <= 0xDF) return {2, 0x80, 0xBF};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte >= 0xE1 && byte <= 0xEF) return {3, 0x80, 0xBF};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte >= 0xF1 && byte <= 0xF3) return {4, 0x80, 0xBF};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

utf8proc_category_t category(char32_t value) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(value));
}

template <class Map>
std::string map_code_points(std::string_view text, Map map) {
  std::string result;
  result.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const CodePoint point = code_point_at(text, i);
    if (point.valid) {
      map(result, point.value);
    } else {
      append_utf8(result, kReplacement);
    }
    i += point.bytes;
  }
  return result;
}

/// The place of the first byte from `at` on that is not ASCII, or the end.
size_t first_other(std::string_view text, size_t at) {
  constexpr uint64_t kHighBits = 0x8080808080808080U;
  for (uint64_t eight; at + sizeof eight <= text.size(); at += sizeof eight) {
    std::memcpy(&eight, text.data() + at, sizeof eight);
    if ((eight & kHighBits) != 0) break;
  }
  while (at < text.size() && static_cast<uint8_t>(text[at]) < 0x80) ++at;
  return at;
}

bool composes(NormalForm form) { return form == NormalForm::nfc || form == NormalForm::nfkc; }
bool is_compatible(NormalForm form) { return form == NormalForm::nfkc || form == NormalForm::nfkd; }
utf8proc_option_t options_of(NormalForm form) {
  return static_cast<utf8proc_option_t>(UTF8PROC_STABLE |
                                        (composes(form) ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE) |
                                        (is_compatible(form) ? UTF8PROC_COMPAT : 0));
}

/// The characters below U+10000 that a normal form leaves as they are, whatever stands before them: they
/// decompose to themselves, are no marks, and are never the second of what is composed.
class StableCharacters {
 public:
  explicit StableCharacters(NormalForm form) {
    stable_.set();
    for (utf8proc_int32_t value = 0; value < kEnd; ++value) {
      if (value >= 0xD800 && value < 0xE000) continue;  // surrogates are no characters
      const size_t count = decompose(value, is_compatible(form));
      if (count != 1 || points_[0] != value || utf8proc_get_property(value)->combining_class != 0)
        unset(value);
      if (!composes(form)) continue;
      const size_t parts = decompose(value, false);
      for (size_t i = 1; i < parts; ++i) unset(points_[i]);
    }
  }
  bool has(char32_t value) const { return value < stable_.size() && stable_[value]; }

 private:
  static constexpr utf8proc_int32_t kEnd = 0x30000;  // nothing past it decomposes
  size_t decompose(utf8proc_int32_t value, bool compatible) {
    int boundary = 0;
    const utf8proc_ssize_t count =
        utf8proc_decompose_char(value, points_.data(), static_cast<utf8proc_ssize_t>(points_.size()),
                                options_of(compatible ? NormalForm::nfkd : NormalForm::nfd), &boundary);
    return std::min(static_cast<size_t>(std::max<utf8proc_ssize_t>(count, 0)), points_.size());
  }
  void unset(utf8proc_int32_t value) {
    if (static_cast<size_t>(value) < stable_.size()) stable_.reset(static_cast<size_t>(value));
  }
  std::array<utf8proc_int32_t, 32> points_{};  // the longest decomposition has 18
  std::bitset<0x10000> stable_;
};

template <NormalForm form>
const StableCharacters& made_stable_characters() {
  static const StableCharacters characters(form);
  return characters;
}

/// Made at the first call for a form.
const StableCharacters& stable_characters(NormalForm form) {
  switch (form) {
    case NormalForm::nfc:
      return made_stable_characters<NormalForm::nfc>();
    case NormalForm::nfd:
      return made_stable_characters<NormalForm::nfd>();
    case NormalForm::nfkc:
      return made_stable_characters<NormalForm::nfkc>();
    case NormalForm::nfkd:
      break;
  }
  return made_stable_characters<NormalForm::nfkd>();
}

/// A normal form of parts of a text, one after the other.
class Normalization {
 public:
  explicit Normalization(NormalForm form) : options_(options_of(form)) {}
  void append(std::string_view part, std::string& result) {
    if (points_.empty()) points_.resize(256);  // most texts have no such part
    utf8proc_ssize_t count = decompose(part);
    if (count > static_cast<utf8proc_ssize_t>(points_.size())) {
      points_.resize(static_cast<size_t>(count));
      count = decompose(part);
    }
    if (count >= 0) count = utf8proc_normalize_utf32(points_.data(), count, options_);
    if (count < 0) {  // no valid text is refused; as it is it stays usable
      result += part;
      return;
    }
    for (utf8proc_ssize_t i = 0; i < count; ++i)
      append_utf8(result, static_cast<char32_t>(points_[static_cast<size_t>(i)]));
  }

 private:
  utf8proc_ssize_t decompose(std::string_view part) {
    return utf8proc_decompose(reinterpret_cast<const utf8proc_uint8_t*>(part.data()),
                              static_cast<utf8proc_ssize_t>(part.size()), points_.data(),
                              static_cast<utf8proc_ssize_t>(points_.size()), options_);
  }
  utf8proc_option_t options_;
  std::vector<utf8proc_int32_t> points_;
};

}  // namespace

CodePoint long_code_point_at(std::string_view text, size_t position) {
  const auto at = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const auto follows = [&](size_t i) { return (at(position + i) & 0xC0U) == 0x80; };
  const uint8_t first = at(position);
  const size_t left = text.size() - position;
  // Most are of two or three bytes and well-formed.
  if (first >= 0xC2 && first < 0xE0 && left > 1 && follows(1))
    return {(first & 0x1FU) << 6 | (at(position + 1) & 0x3FU), 2, true};
  if (first >= 0xE1 && first < 0xED && left > 2 && follows(1) && follows(2))
    return {(first & 0xFU) << 12 | (at(position + 1) & 0x3FU) << 6 | (at(position + 2) & 0x3FU), 3, true};
  const Lead lead = lead_of(first);
  if (lead.length == 1) return {first, 1, true};
  if (lead.length == 0) return {};
  char32_t value = first & (0x7FU >> lead.length);
  for (uint32_t k = 1; k < static_cast<uint32_t>(lead.length); ++k) {
    const uint8_t low = k == 1 ? lead.second_low : 0x80, high = k == 1 ? lead.second_high : 0xBF;
    if (position + k >= text.size() || at(position + k) < low || at(position + k) > high)
      return {kReplacement, k, false};
    value = (value << 6) | (at(position + k) & 0x3FU);
  }
  return {value, static_cast<uint32_t>(lead.length), true};
}

size_t incomplete_tail(std::string_view text) {
  for (size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const size_t position = text.size() - back;
    const Lead lead = lead_of(static_cast<uint8_t>(text[position]));
    if (lead.length == 0) continue;  // a continuation byte, or never valid
    const CodePoint point = code_point_at(text, position);
    return !point.valid && point.bytes == back && static_cast<size_t>(lead.length) > back ? back : 0;
  }
  return 0;
}

bool is_valid_utf8(std::string_view text) {
  for (size_t i = first_other(text, 0); i < text.size(); i = first_other(text, i)) {
    const CodePoint point = code_point_at(text, i);
    if (!point.valid) return false;
    i += point.bytes;
  }
  return true;
}

bool is_ascii(std::string_view text) { return first_other(text, 0) == text.size(); }

std::string replace_invalid(std::string_view text) {
  return map_code_points(text, [](std::string& out, char32_t value) { append_utf8(out, value); });
}

void append_utf8(std::string& text, char32_t value) {
  if (value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) value = kReplacement;
  const auto put = [&](uint32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (value < 0x80) {
    put(value);
  } else if (value < 0x800) {
    put(0xC0 | (value >> 6)), put(0x80 | (value & 0x3F));
  } else if (value < 0x10000) {
    put(0xE0 | (value >> 12)), put(0x80 | ((value >> 6) & 0x3F)), put(0x80 | (value & 0x3F));
  } else {
    put(0xF0 | (value >> 18)), put(0x80 | ((value >> 12) & 0x3F));
    put(0x80 | ((value >> 6) & 0x3F)), put(0x80 | (value & 0x3F));
  }
}

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  result.reserve(text.size());
  while (!from.empty()) {
    const size_t at = text.find(from);
    if (at == std::string_view::npos) break;
    result.append(text.substr(0, at)).append(to);
    text.remove_prefix(at + from.size());
  }
  return result.append(text);
}

size_t count_code_points(std::string_view text) {
  size_t count = 0;
  for (size_t i = 0; i < text.size(); ++count) i += code_point_at(text, i).bytes;
  return count;
}

bool is_white_space(char32_t value) {
  return (value >= 9 && value <= 13) || value == 0x20 || value == 0x85 || value == 0xA0 || value == 0x1680 ||
         (value >= 0x2000 && value <= 0x200A) || value == 0x2028 || value == 0x2029 || value == 0x202F ||
         value == 0x205F || value == 0x3000;
}

bool is_other(char32_t value) {
  const auto kind = category(value);
  return kind == UTF8PROC_CATEGORY_CC || kind == UTF8PROC_CATEGORY_CF || kind == UTF8PROC_CATEGORY_CO ||
         kind == UTF8PROC_CATEGORY_CS;
}

bool is_punctuation(char32_t value) {
  if (value < 0x80)
    return (value >= 33 && value <= 47) || (value >= 58 && value <= 64) || (value >= 91 && value <= 96) ||
           (value >= 123 && value <= 126);
  const auto kind = category(value);
  return kind >= UTF8PROC_CATEGORY_PC && kind <= UTF8PROC_CATEGORY_PO;
}

bool is_nonspacing_mark(char32_t value) { return category(value) == UTF8PROC_CATEGORY_MN; }

bool is_word_character(char32_t value) {
  const auto kind = category(value);
  return value == '_' || (kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_ND);
}

bool is_number(char32_t value) { return general_category(value) == GeneralCategory::number; }

bool is_reference_punctuation(char32_t value) {
  // What came later is none, and two characters that have changed their kind since still are.
  static constexpr std::pair<char32_t, char32_t> kLater[] = {
      {0x61D, 0x61D},     {0x9FD, 0x9FD},     {0xA76, 0xA76},     {0xC77, 0xC77},     {0xC84, 0xC84},
      {0x1B7D, 0x1B7E},   {0x2E43, 0x2E4F},   {0x2E52, 0x2E5D},   {0x10EAD, 0x10EAD}, {0x10F55, 0x10F59},
      {0x10F86, 0x10F89}, {0x1144B, 0x1144F}, {0x1145A, 0x1145B}, {0x1145D, 0x1145D}, {0x11660, 0x1166C},
      {0x116B9, 0x116B9}, {0x1183B, 0x1183B}, {0x11944, 0x11946}, {0x119E2, 0x119E2}, {0x11A3F, 0x11A46},
      {0x11A9A, 0x11A9C}, {0x11A9E, 0x11AA2}, {0x11C41, 0x11C45}, {0x11C70, 0x11C71}, {0x11EF7, 0x11EF8},
      {0x11FFF, 0x11FFF}, {0x12FF1, 0x12FF2}, {0x16E97, 0x16E9A}, {0x16FE2, 0x16FE2}, {0x1E95E, 0x1E95F}};
  if (value == 0x166D || value == 0x111C9) return true;
  const auto later = [&](const auto& range) { return value >= range.first && value <= range.second; };
  return is_punctuation(value) &&
         (value < kLater[0].first || std::none_of(std::begin(kLater), std::end(kLater), later));
}

GeneralCategory general_category(char32_t value) {
  switch (category(value)) {
    case UTF8PROC_CATEGORY_LU:
      return GeneralCategory::uppercase_letter;
    case UTF8PROC_CATEGORY_LL:
      return GeneralCategory::lowercase_letter;
    case UTF8PROC_CATEGORY_LT:
      return GeneralCategory::titlecase_letter;
    case UTF8PROC_CATEGORY_LM:
      return GeneralCategory::modifier_letter;
    case UTF8PROC_CATEGORY_LO:
      return GeneralCategory::other_letter;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
      return GeneralCategory::mark;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return GeneralCategory::number;
    default:
      return GeneralCategory::other;
  }
}

size_t next_grapheme(std::string_view text, size_t position) {
  const auto is_ascii_at = [&](size_t at) {
    return at >= text.size() || static_cast<uint8_t>(text[at]) < 0x80;
  };
  // Of ASCII only CR and LF stay together.
  if (is_ascii_at(position) && is_ascii_at(position + 1) && text[position] != '\r') return position + 1;
  CodePoint before = code_point_at(text, position);
  position += before.bytes;
  utf8proc_int32_t state = 0;
  while (before.valid && position < text.size()) {
    const CodePoint point = code_point_at(text, position);
    if (!point.valid || utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(before.value),
                                                         static_cast<utf8proc_int32_t>(point.value), &state))
      break;
    position += point.bytes;
    before = point;
  }
  return position;
}

bool is_cjk_ideograph(char32_t value) {
  return (value >= 0x4E00 && value <= 0x9FFF) || (value >= 0x3400 && value <= 0x4DBF) ||
         (value >= 0x20000 && value <= 0x2A6DF) || (value >= 0x2A700 && value <= 0x2B73F) ||
         (value >= 0x2B740 && value <= 0x2B81F) || (value >= 0x2B920 && value <= 0x2CEAF) ||
         (value >= 0xF900 && value <= 0xFAFF) || (value >= 0x2F800 && value <= 0x2FA1F);
}

std::optional<std::string> normalize_valid(std::string_view text, NormalForm form) {
  const StableCharacters& stable = stable_characters(form);
  Normalization normalization(form);
  std::string result;
  result.reserve(text.size() + text.size() / 8);
  size_t copied = 0, last_stable = 0;
  for (size_t at = 0; at < text.size();) {
    if (const size_t other = first_other(text, at); other > at) {  // all of ASCII is stable
      last_stable = other - 1;
      at = other;
      continue;
    }
    CodePoint point = code_point_at(text, at);
    if (!point.valid) return std::nullopt;
    if (stable.has(point.value)) {
      last_stable = at;
      at += point.bytes;
      continue;
    }
    // What is not stable may join the character before it, and goes with it up to the next stable one.
    result += text.substr(copied, last_stable - copied);
    while (!stable.has(point.value)) {
      at += point.bytes;
      if (at == text.size()) break;
      point = code_point_at(text, at);
      if (!point.valid) return std::nullopt;
    }
    normalization.append(text.substr(last_stable, at - last_stable), result);
    copied = last_stable = at;
  }
  result += text.substr(copied);
  return result;
}

std::string normalize(std::string_view text, NormalForm form) {
  auto result = normalize_valid(text, form);
  return result ? *std::move(result) : *normalize_valid(replace_invalid(text), form);
}

std::string lowercase(std::string_view text) {
  return map_code_points(text, [](std::string& out, char32_t value) {
    if (value == 0x130) {  // the only code point whose lower case is two
      out += "i\xCC\x87";
    } else {
      append_utf8(out, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(value))));
    }
  });
}

std::string uppercase(std::string_view text) {
  return map_code_points(text, [](std::string& out, char32_t value) {
    if (value == 0xDF) {  // the common one of those whose upper case is two
      out += "SS";
    } else {
      append_utf8(out, static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(value))));
    }
  });
}

std::string strip_nonspacing_marks(std::string_view text) {
  return map_code_points(normalize(text, NormalForm::nfd), [](std::string& out, char32_t value) {
    if (!is_nonspacing_mark(value)) append_utf8(out, value);
  });
}

}  // namespace orrery::text
