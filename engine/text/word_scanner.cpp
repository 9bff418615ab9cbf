#include "engine/text/word_scanner.h"

#include <utility>

#include "engine/text/character_kinds.h"
#include "engine/text/unicode.h"

namespace orrery::text {
namespace {

struct ScannedCharacter {
  uint8_t kind = 0;
  uint8_t bytes = 0;  // 0: the end of the text, or not UTF-8
  bool is(int kinds) const { return (kind & kinds) != 0; }
  /// Neither space nor letter nor number, and there.
  bool is_other() const { return bytes > 0 && !is(kLetter | kNumber | kSpace); }
};

[[gnu::noinline]] ScannedCharacter wide_character(std::string_view text, size_t position) {
  const CodePoint point = code_point_at(text, position);
  if (!point.valid) return {};
  return {character_kinds(point.value), static_cast<uint8_t>(point.bytes)};
}

inline ScannedCharacter at(std::string_view text, size_t position) {
  if (position >= text.size()) return {};
  const auto byte = static_cast<uint8_t>(text[position]);
  return byte < 0x80 ? ScannedCharacter{kAsciiKinds[byte], 1} : wide_character(text, position);
}

/// The end of a run of `kinds`.
size_t run(std::string_view text, size_t position, int kinds) {
  for (ScannedCharacter c = at(text, position); c.is(kinds); c = at(text, position)) position += c.bytes;
  return position;
}
size_t run_of_others(std::string_view text, size_t position) {
  for (ScannedCharacter c = at(text, position); c.is_other(); c = at(text, position)) position += c.bytes;
  return position;
}

/// Bytes up to the next well-formed character.
size_t invalid_run(std::string_view text, size_t position) {
  do position += code_point_at(text, position).bytes;
  while (position < text.size() && at(text, position).bytes == 0);
  return position;
}

/// 's 't 'm 'd 're 've 'll after the apostrophe at `position`: the end, or `position` when there is none.
size_t contraction(std::string_view text, size_t position, bool any_case) {
  const auto letter = [&](size_t i) -> char {
    if (i >= text.size()) return 0;
    return any_case && text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] | 0x20) : text[i];
  };
  if (position >= text.size() || text[position] != '\'') return position;
  const char first = letter(position + 1), second = letter(position + 2);
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return position + 2;
  if ((first == 'r' && second == 'e') || (first == 'v' && second == 'e') || (first == 'l' && second == 'l'))
    return position + 3;
  // The long s is an s of another case.
  if (any_case && text.substr(position + 1).starts_with("\xC5\xBF")) return position + 3;
  return position;
}

/// \s+(?!\S)|\s+ from a space on: all of a run at the end of the text, else all but its last.
size_t spaces(std::string_view text, size_t position) {
  size_t last = position, end = position;
  for (ScannedCharacter c = at(text, end); c.is(kSpace); c = at(text, end)) {
    last = end;
    end += c.bytes;
  }
  return at(text, end).bytes == 0 || last == position ? end : last;
}

/// \s*[\r\n]+|\s+(?!\S)|\s+ from a space on.
size_t spaces_and_lines(std::string_view text, size_t position) {
  size_t line_end = position;
  for (size_t i = position;;) {
    const ScannedCharacter c = at(text, i);
    if (!c.is(kSpace)) break;
    i += c.bytes;
    if (c.is(kNewLine)) line_end = i;
  }
  return line_end > position ? line_end : spaces(text, position);
}

size_t digits(std::string_view text, size_t position, int most) {
  for (ScannedCharacter c = at(text, position); most-- > 0 && c.is(kNumber); c = at(text, position))
    position += c.bytes;
  return position;
}

bool is_one_of(std::string_view text, size_t position, std::string_view characters) {
  return position < text.size() && characters.find(text[position]) != std::string_view::npos;
}

/// ` ?[^\s\p{L}\p{N}]+` and the `tail` characters that follow; `position` when there is none.
size_t punctuation(std::string_view text, size_t position, std::string_view tail) {
  const size_t begin = position + (text[position] == ' ');
  size_t end = run_of_others(text, begin);
  if (end == begin) return position;
  while (is_one_of(text, end, tail)) ++end;
  return end;
}

/// A character that may stand before a word: neither a line's end nor letter nor number.
bool may_lead(const ScannedCharacter& c) { return c.bytes > 0 && !c.is(kLetter | kNumber | kNewLine); }

size_t scan_words(std::string_view text, size_t position, int most_digits) {
  const ScannedCharacter c = at(text, position);
  if (c.bytes == 0) return invalid_run(text, position);
  if (const size_t end = contraction(text, position, true); end > position) return end;
  if (c.is(kLetter)) return run(text, position, kLetter);
  if (may_lead(c) && at(text, position + c.bytes).is(kLetter)) return run(text, position + c.bytes, kLetter);
  if (c.is(kNumber)) return digits(text, position, most_digits);
  if (const size_t end = punctuation(text, position, "\r\n"); end > position) return end;
  return spaces_and_lines(text, position);
}

/// [upper]*[lower]+ from `begin`, taken back as far as needed; `begin` when there is none.
size_t word_to_lower(std::string_view text, size_t begin) {
  size_t end = begin, last_both = begin;  // after the last character that is of both kinds
  for (ScannedCharacter c = at(text, end); c.is(kUpper); c = at(text, end)) {
    end += c.bytes;
    if (c.is(kLower)) last_both = end;
  }
  const size_t lower_end = run(text, end, kLower);
  return lower_end > end ? lower_end : last_both;
}

/// [upper]+[lower]*
size_t word_from_upper(std::string_view text, size_t begin) {
  const size_t upper_end = run(text, begin, kUpper);
  return upper_end > begin ? run(text, upper_end, kLower) : begin;
}

/// One of the two forms of a word with case, with or without a character before it.
size_t cased_word(std::string_view text, size_t position, const ScannedCharacter& c,
                  size_t (*form)(std::string_view, size_t)) {
  if (may_lead(c)) {
    const size_t begin = position + c.bytes;
    if (const size_t end = form(text, begin); end > begin) return end;
  }
  return form(text, position);
}

size_t scan_cased(std::string_view text, size_t position, int most_digits, bool contractions) {
  const ScannedCharacter c = at(text, position);
  if (c.bytes == 0) return invalid_run(text, position);
  for (const auto form : {word_to_lower, word_from_upper})
    if (const size_t end = cased_word(text, position, c, form); end > position)
      return contractions ? contraction(text, end, true) : end;
  if (c.is(kNumber)) return digits(text, position, most_digits);
  if (const size_t end = punctuation(text, position, "\r\n/"); end > position) return end;
  return spaces_and_lines(text, position);
}

}  // namespace

size_t scan_digits_apart(std::string_view text, size_t position) {
  const ScannedCharacter first = at(text, position);
  if (first.is(kNumber)) return position + first.bytes;
  while (position < text.size()) {
    const ScannedCharacter c = at(text, position);
    if (c.is(kNumber)) break;
    position += c.bytes ? c.bytes : code_point_at(text, position).bytes;
  }
  return position;
}

size_t scan_gpt2(std::string_view text, size_t position) {
  ScannedCharacter c = at(text, position);
  if (c.bytes == 0) return invalid_run(text, position);
  if (const size_t end = contraction(text, position, false); end > position) return end;
  const size_t begin = position + (text[position] == ' ');
  if (begin > position) c = at(text, begin);
  if (c.is(kLetter)) return run(text, begin, kLetter);
  if (c.is(kNumber)) return run(text, begin, kNumber);
  if (c.is_other()) return run_of_others(text, begin);
  return spaces(text, position);
}

size_t scan_llama3(std::string_view text, size_t position) { return scan_words(text, position, 3); }
size_t scan_qwen2(std::string_view text, size_t position) { return scan_words(text, position, 1); }
size_t scan_o200k(std::string_view text, size_t position) { return scan_cased(text, position, 3, true); }
size_t scan_tekken(std::string_view text, size_t position) { return scan_cased(text, position, 1, false); }

// The published spellings; GPT-2's and the digits' are those of the tokenizers library.
#define ORRERY_CONTRACTION "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define ORRERY_WORD "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+"
#define ORRERY_TAIL(MORE) " ?[^\\s\\p{L}\\p{N}]+[\\r\\n" MORE "]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define ORRERY_TO_LOWER \
  "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+"
#define ORRERY_FROM_UPPER \
  "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*"

WordScanner scanner_of(std::string_view pattern) {
  static constexpr std::pair<std::string_view, WordScanner> kPatterns[] = {
      {"'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+", scan_gpt2},
      {"\\p{N}", scan_digits_apart},
      {ORRERY_CONTRACTION "|" ORRERY_WORD "|\\p{N}{1,3}|" ORRERY_TAIL(""), scan_llama3},
      {ORRERY_CONTRACTION "|" ORRERY_WORD "|\\p{N}|" ORRERY_TAIL(""), scan_qwen2},
      {ORRERY_TO_LOWER ORRERY_CONTRACTION "?|" ORRERY_FROM_UPPER ORRERY_CONTRACTION
                                          "?|\\p{N}{1,3}|" ORRERY_TAIL("/"),
       scan_o200k},
      {ORRERY_TO_LOWER "|" ORRERY_FROM_UPPER "|\\p{N}|" ORRERY_TAIL("/"), scan_tekken}};
  for (const auto& [known, scanner] : kPatterns)
    if (pattern == known) return scanner;
  return nullptr;
}

}  // namespace orrery::text
