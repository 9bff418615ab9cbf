#include "engine/text/normalizer.h"

#include <algorithm>

#include "engine/text/byte_level.h"

namespace orrery::text {
namespace {

/// A normalizer from a function on the whole text.
template <class Function>
class Applied final : public Normalizer {
 public:
  explicit Applied(Function function) : function_(std::move(function)) {}
  void apply(std::string& text) const override { function_(text); }

 private:
  Function function_;
};

template <class Function>
NormalizerPtr applied(Function function) {
  return std::make_shared<Applied<Function>>(std::move(function));
}

/// Each valid code point by itself; bytes that are not UTF-8 stay.
template <class Map>
std::string map_valid(std::string_view text, Map map) {
  std::string result;
  result.reserve(text.size() + text.size() / 8);
  for (size_t i = 0; i < text.size();) {
    const CodePoint point = code_point_at(text, i);
    if (point.valid)
      map(result, point.value);
    else
      result += text.substr(i, point.bytes);
    i += point.bytes;
  }
  return result;
}

bool is_nmt_control(char32_t value) {
  return (value >= 0x1 && value <= 0x8) || value == 0xB || (value >= 0xE && value <= 0x1F) || value == 0x7F ||
         value == 0x8F || value == 0x9F;
}
bool is_nmt_space(char32_t value) {
  return value == 0x9 || value == 0xA || value == 0xC || value == 0xD || value == 0x1680 ||
         (value >= 0x200B && value <= 0x200F) || value == 0x2028 || value == 0x2029 || value == 0x2581 ||
         value == 0xFEFF || value == 0xFFFD;
}

void strip_white_space(std::string& text, bool left, bool right) {
  size_t begin = 0, end = text.size(), last_word = 0;
  bool leading = left;
  for (size_t i = 0; i < text.size();) {
    const CodePoint point = code_point_at(text, i);
    i += point.bytes;
    if (point.valid && is_white_space(point.value)) {
      if (leading) begin = i;
    } else {
      leading = false;
      last_word = i;
    }
  }
  if (right) end = std::max(last_word, begin);
  text = text.substr(begin, end - begin);
}

}  // namespace

NormalizerPtr normalizer_sequence(std::vector<NormalizerPtr> steps) {
  return applied([steps = std::move(steps)](std::string& text) {
    for (const NormalizerPtr& step : steps) step->apply(text);
  });
}

NormalizerPtr prepend_normalizer(std::string prefix) {
  return applied([prefix = std::move(prefix)](std::string& text) {
    if (!text.empty()) text.insert(0, prefix);
  });
}

NormalizerPtr replace_normalizer(std::string from, std::string to) {
  return applied([from = std::move(from), to = std::move(to)](std::string& text) {
    text = replace_all(text, from, to);
  });
}

NormalizerPtr replace_normalizer(Regex pattern, std::string to) {
  return applied([pattern = std::move(pattern), to = std::move(to)](std::string& text) {
    text = pattern.replace_all(text, to);
  });
}

NormalizerPtr form_normalizer(NormalForm form) {
  return applied([form](std::string& text) {
    if (is_ascii(text)) return;
    if (auto normal = normalize_valid(text, form)) text = *std::move(normal);
  });
}

NormalizerPtr lowercase_normalizer() {
  return applied([](std::string& text) { text = lowercase(text); });
}

NormalizerPtr strip_normalizer(bool left, bool right) {
  return applied([left, right](std::string& text) { strip_white_space(text, left, right); });
}

NormalizerPtr strip_accents_normalizer() {
  return applied([](std::string& text) {
    text = map_valid(text, [](std::string& out, char32_t value) {
      if (general_category(value) != GeneralCategory::mark) append_utf8(out, value);
    });
  });
}

NormalizerPtr nmt_normalizer() {
  return applied([](std::string& text) {
    text = map_valid(text, [](std::string& out, char32_t value) {
      if (!is_nmt_control(value)) append_utf8(out, is_nmt_space(value) ? U' ' : value);
    });
  });
}

NormalizerPtr byte_characters_normalizer() {
  return applied([](std::string& text) { text = bytes_to_characters(text); });
}

}  // namespace orrery::text
