#include "engine/text/character_kinds.h"

#include <memory>

#include "engine/text/unicode.h"

namespace orrery::text {
namespace {

uint8_t category_kinds(char32_t value) {
  switch (general_category(value)) {
    case GeneralCategory::uppercase_letter:
    case GeneralCategory::titlecase_letter:
      return kLetter | kUpper;
    case GeneralCategory::lowercase_letter:
      return kLetter | kLower;
    case GeneralCategory::modifier_letter:
    case GeneralCategory::other_letter:
      return kLetter | kUpper | kLower;
    case GeneralCategory::mark:
      return kUpper | kLower;
    case GeneralCategory::number:
      return kNumber;
    case GeneralCategory::other:
      return is_white_space(value) ? kSpace : 0;
  }
  return 0;
}

std::unique_ptr<const std::array<uint8_t, 0x10000>> make_table() {
  auto table = std::make_unique<std::array<uint8_t, 0x10000>>();
  for (char32_t value = 0; value < table->size(); ++value) (*table)[value] = make_character_kinds(value);
  return table;
}

}  // namespace

uint8_t make_character_kinds(char32_t value) {
  uint8_t kinds = category_kinds(value);
  if (value == '\r' || value == '\n') kinds |= kNewLine;
  if (is_reference_punctuation(value)) kinds |= kPunctuation;
  return kinds;
}

const std::array<uint8_t, 0x10000>& character_kind_table() {
  static const auto table = make_table();
  return *table;
}

}  // namespace orrery::text
