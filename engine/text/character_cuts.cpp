#include "engine/text/character_cuts.h"

#include <array>
#include <vector>

#include "engine/text/hash.h"
#include "engine/text/unicode.h"

namespace orrery::text {
namespace {

constexpr char32_t kSmall = 128;  // characters below have tables of their own

struct Character {
  char32_t value;
  uint32_t bytes;
};

[[gnu::noinline]] Character wide_at(std::string_view text, size_t position) {
  const CodePoint point = code_point_at(text, position);
  return {point.value, point.bytes};
}

/// The commonest character of a normalised text shares the place of the space, which is seldom left there: a
/// place may be left whole for that, none is cut.
inline Character character_at(std::string_view text, size_t position) {
  const auto first = static_cast<uint8_t>(text[position]);
  if (first < kSmall) return {first, 1};
  if (text.substr(position, kSpaceMark.size()) == kSpaceMark) return {U' ', 3};
  return wide_at(text, position);
}

/// An open-addressed set of numbers that are not all ones.
class NumberSet {
 public:
  void insert(uint64_t number) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    uint64_t& slot = slots_[place_of(number)];
    if (slot == number) return;
    slot = number;
    ++count_;
  }
  bool has(uint64_t number) const { return slots_[place_of(number)] == number; }

 private:
  static constexpr uint64_t kFree = ~uint64_t{0};
  size_t place_of(uint64_t number) const {
    const size_t mask = slots_.size() - 1;
    size_t at = mix(number) & mask;
    while (slots_[at] != kFree && slots_[at] != number) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    std::vector<uint64_t> before(slots_.size() * 2, kFree);
    before.swap(slots_);
    for (const uint64_t number : before)
      if (number != kFree) slots_[place_of(number)] = number;
  }
  std::vector<uint64_t> slots_ = std::vector<uint64_t>(256, kFree);
  size_t count_ = 0;
};

}  // namespace

struct CharacterCuts::Pairs {
  std::array<std::array<bool, kSmall>, kSmall> small{};  // [left][right]: some token has them so
  std::array<bool, kSmall> spelt_small{};                // a token by itself
  NumberSet wide, spelt_wide;                            // with a character that is not small

  static uint64_t key(char32_t left, char32_t right) { return static_cast<uint64_t>(left) << 32 | right; }
  void join(char32_t left, char32_t right) {
    if (left < kSmall && right < kSmall)
      small[left][right] = true;
    else
      wide.insert(key(left, right));
  }
  bool joined(char32_t left, char32_t right) const {
    return left < kSmall && right < kSmall ? small[left][right] : wide.has(key(left, right));
  }
  void spell(char32_t value) {
    if (value < kSmall)
      spelt_small[value] = true;
    else
      spelt_wide.insert(value);
  }
  bool spelt(char32_t value) const { return value < kSmall ? spelt_small[value] : spelt_wide.has(value); }
};

CharacterCuts::CharacterCuts() : pairs_(std::make_unique<Pairs>()) {}
CharacterCuts::~CharacterCuts() = default;

void CharacterCuts::add(std::string_view token) {
  if (token.empty()) return;
  Character last = character_at(token, 0);
  if (last.bytes == token.size()) return pairs_->spell(last.value);
  for (size_t at = last.bytes; at < token.size();) {
    const Character next = character_at(token, at);
    pairs_->join(last.value, next.value);
    at += next.bytes;
    last = next;
  }
}

/// A character without a token of its own stays with its neighbours: it may become one unknown token with the
/// next, or be left out so that its neighbours meet.
void CharacterCuts::split(const Segment& segment, SegmentSink& out) const {
  const std::string_view text = segment.text;
  size_t begin = 0;
  const auto emit = [&](size_t end) {
    out.take({text.substr(begin, end - begin), segment.first && begin == 0});
    begin = end;
  };
  Character last = character_at(text, 0);
  for (size_t at = last.bytes; at < text.size();) {
    const Character next = character_at(text, at);
    if (!pairs_->joined(last.value, next.value) && pairs_->spelt(last.value) && pairs_->spelt(next.value))
      emit(at);
    at += next.bytes;
    last = next;
  }
  emit(text.size());
}

}  // namespace orrery::text
