#include "engine/text/charsmap.h"

#include <optional>

#include "engine/base/base64.h"
#include "engine/text/unicode.h"

namespace orrery::text {
namespace {

Error damaged_charsmap(std::string what) {
  return {ErrorCode::corrupt_file, std::move(what), "precompiled_charsmap",
          "The tokenizer of this model is damaged; get the file again"};
}

uint32_t read_unit(std::string_view bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i)
    value |= static_cast<uint32_t>(static_cast<uint8_t>(bytes[at + i])) << (8 * i);
  return value;
}

// The fields of a unit of the double array.
bool has_leaf(uint32_t unit) { return (unit >> 8 & 1U) != 0; }
uint32_t value_of(uint32_t unit) { return unit & 0x7FFFFFFFU; }
uint32_t label_of(uint32_t unit) { return unit & 0x800000FFU; }
size_t offset_of(uint32_t unit) { return static_cast<size_t>(unit >> 10) << ((unit & 0x200U) >> 6); }

class Precompiled final : public Normalizer {
 public:
  explicit Precompiled(Charsmap charsmap) : charsmap_(std::move(charsmap)) {}
  void apply(std::string& text) const override {
    std::string result;
    result.reserve(text.size());
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = next_grapheme(text, begin);
      append(result, std::string_view(text).substr(begin, end - begin));
      begin = end;
    }
    text = std::move(result);
  }

 private:
  void append(std::string& result, std::string_view grapheme) const {
    if (grapheme.size() < 6) {
      // The first match counts, even where it is shorter than the cluster: the reference does so.
      if (const Charsmap::Match match = charsmap_.shortest(grapheme); match.bytes > 0) {
        result += match.replacement;
        return;
      }
    }
    for (size_t i = 0; i < grapheme.size();) {
      const std::string_view character = grapheme.substr(i, code_point_at(grapheme, i).bytes);
      const Charsmap::Match match = charsmap_.shortest(character);
      result += match.bytes > 0 ? match.replacement : character;
      i += character.size();
    }
  }
  Charsmap charsmap_;
};

class SentencePiece final : public Normalizer {
 public:
  explicit SentencePiece(SentencePieceNormalization options) : options_(std::move(options)) {}
  void apply(std::string& text) const override {
    std::string result;
    result.reserve(text.size() + 1);
    // With extra spaces going, a text of spaces only is empty and gets no prefix either.
    bool space_due = options_.add_prefix, after_space = options_.remove_extra_spaces;
    for (size_t i = 0; i < text.size();) {
      const auto [bytes, part] = next(std::string_view(text).substr(i));
      i += bytes;
      std::string_view rest = part;
      while (after_space && rest.starts_with(' ')) rest.remove_prefix(1);
      if (rest.empty() && options_.remove_extra_spaces) continue;
      if (space_due) result += ' ';
      space_due = false;
      result += rest;
      after_space = options_.remove_extra_spaces && rest.ends_with(' ');
    }
    // The reference cuts its own marks too, which spaces are by then.
    while (options_.remove_extra_spaces && (result.ends_with(' ') || result.ends_with(kSpaceMark)))
      result.resize(result.size() - (result.ends_with(' ') ? 1 : kSpaceMark.size()));
    text = std::move(result);
  }

 private:
  /// The longest match of the table, else one character as it is.
  Charsmap::Match next(std::string_view text) const {
    if (options_.charsmap)
      if (const Charsmap::Match match = options_.charsmap->longest(text); match.bytes > 0) return match;
    const size_t bytes = code_point_at(text, 0).bytes;
    return {bytes, text.substr(0, bytes)};
  }
  SentencePieceNormalization options_;
};

}  // namespace

Result<Charsmap> Charsmap::parse(std::string_view bytes) {
  if (bytes.size() < 4) return damaged_charsmap("The character map is cut off");
  const size_t size = read_unit(bytes, 0);
  if (size % 4 != 0 || size > bytes.size() - 4)
    return damaged_charsmap("The character map's trie is cut off");
  Charsmap charsmap;
  charsmap.units_.reserve(size / 4);
  for (size_t i = 0; i < size; i += 4) charsmap.units_.push_back(read_unit(bytes, 4 + i));
  charsmap.replacements_ = bytes.substr(4 + size);
  return charsmap;
}

Result<Charsmap> Charsmap::parse_base64(std::string_view text) {
  const std::optional<std::string> bytes = from_base64(text);
  if (!bytes) return damaged_charsmap("The character map is not base64");
  return parse(*bytes);
}

std::optional<uint32_t> Charsmap::unit(size_t position) const {
  return position < units_.size() ? std::optional(units_[position]) : std::nullopt;
}

Charsmap::Match Charsmap::find(std::string_view text, bool longest) const {
  Match match;
  auto current = unit(0);
  size_t node = current ? offset_of(*current) : 0;
  for (size_t i = 0; i < text.size() && current; ++i) {
    const auto label = static_cast<uint8_t>(text[i]);
    if (label == 0) break;
    node ^= label;
    current = unit(node);
    if (!current || label_of(*current) != label) break;
    node ^= offset_of(*current);
    if (!has_leaf(*current)) continue;
    const auto leaf = unit(node);
    if (!leaf || value_of(*leaf) >= replacements_.size()) break;
    const std::string_view rest = std::string_view(replacements_).substr(value_of(*leaf));
    match = {i + 1, rest.substr(0, rest.find('\0'))};
    if (!longest) break;
  }
  return match;
}

NormalizerPtr precompiled_normalizer(Charsmap charsmap) {
  return std::make_shared<Precompiled>(std::move(charsmap));
}
NormalizerPtr sentencepiece_normalizer(SentencePieceNormalization options) {
  return std::make_shared<SentencePiece>(std::move(options));
}

}  // namespace orrery::text
