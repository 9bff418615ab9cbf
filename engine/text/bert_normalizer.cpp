// BERT's normalizer. What it makes of a character hangs on that character alone, but for marks that normal
// form D puts in another order and that stay: so most of it is a table, and texts with such marks go the long
// way.
#include <utf8proc.h>

#include <array>
#include <cstring>

#include "engine/text/normalizer.h"

namespace orrery::text {
namespace {

constexpr char32_t kTabled = 0x10000;  // characters below

bool is_control(char32_t value) { return value != '\t' && value != '\n' && value != '\r' && is_other(value); }

/// Control characters and U+FFFD go, every white space becomes a space, CJK ideographs get spaces around.
std::string clean(std::string_view text, const BertNormalization& options) {
  std::string result;
  result.reserve(text.size() + text.size() / 8);
  for (size_t i = 0; i < text.size();) {
    const CodePoint point = code_point_at(text, i);
    i += point.bytes;
    const char32_t value = point.value;
    if (options.clean_text && (value == 0 || value == kReplacement || is_control(value))) continue;
    if (options.clean_text && is_white_space(value)) {
      result += ' ';
    } else if (options.space_cjk && is_cjk_ideograph(value)) {
      result += ' ';
      append_utf8(result, value);
      result += ' ';
    } else {
      append_utf8(result, value);
    }
  }
  return result;
}

std::string normalise(std::string_view text, const BertNormalization& options) {
  std::string result = clean(text, options);
  if (options.strip_accents) result = strip_nonspacing_marks(result);
  return options.lowercase ? lowercase(result) : result;
}

/// A mark that is not stripped and may trade places with its neighbours.
bool may_move(char32_t value) {
  return !is_nonspacing_mark(value) &&
         utf8proc_get_property(static_cast<utf8proc_int32_t>(value))->combining_class != 0;
}

class BertNormalizer final : public Normalizer {
 public:
  explicit BertNormalizer(const BertNormalization& options) : options_(options), table_(kTabled) {
    for (char32_t value = 0; value < kTabled; ++value) table_[value] = entry_of(value);
  }

  void apply(std::string& text) const override {
    std::string result;
    result.reserve(text.size() + text.size() / 8);
    for (size_t i = 0; i < text.size();) {
      const CodePoint point = code_point_at(text, i);
      i += point.bytes;
      if (point.value < kTabled) {
        const Entry& entry = table_[point.value];
        if (entry.bytes == kLong) return take_long_way(text);
        result.append(entry.text, entry.bytes);
      } else {
        std::string alone;
        append_utf8(alone, point.value);
        if (is_mark(point.value)) return take_long_way(text);
        result += normalise(alone, options_);
      }
    }
    text = std::move(result);
  }

 private:
  static constexpr uint8_t kLong = 0xFF;
  struct Entry {
    uint8_t bytes;
    char text[15];
  };

  void take_long_way(std::string& text) const { text = normalise(text, options_); }

  bool is_mark(char32_t value) const {
    return options_.strip_accents && general_category(value) == GeneralCategory::mark;
  }

  Entry entry_of(char32_t value) const {
    Entry entry{kLong, {}};
    if (value >= 0xD800 && value <= 0xDFFF) return entry;  // no character
    std::string text;
    append_utf8(text, value);
    if (options_.strip_accents && value >= 0x80) {
      const std::string parts = normalize(text, NormalForm::nfd);
      for (size_t i = 0; i < parts.size();) {
        const CodePoint part = code_point_at(parts, i);
        if (may_move(part.value)) return entry;
        i += part.bytes;
      }
    }
    text = normalise(text, options_);
    if (text.size() > sizeof entry.text) return entry;
    entry.bytes = static_cast<uint8_t>(text.size());
    std::memcpy(entry.text, text.data(), text.size());
    return entry;
  }

  BertNormalization options_;
  std::vector<Entry> table_;
};

}  // namespace

NormalizerPtr bert_normalizer(const BertNormalization& options) {
  return std::make_shared<BertNormalizer>(options);
}

}  // namespace orrery::text
