#include "engine/generate/breakers.h"

#include <gmock/gmock.h>

namespace orrery::generate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A few pieces; every byte of a text is its own token.
class Pieces final : public text::Tokenizer {
 public:
  explicit Pieces(std::vector<std::string> pieces) : pieces_(std::move(pieces)) {}
  std::string_view kind() const override { return "pieces"; }
  int32_t vocabulary() const override { return static_cast<int32_t>(pieces_.size()); }
  std::vector<text::TokenId> encode(std::string_view text, bool add_special, bool) const override {
    EXPECT_FALSE(add_special);
    std::vector<text::TokenId> ids;
    for (const char c : text) ids.push_back(100 + c - 'a');
    return ids;
  }
  text::Encoding encode_pair(std::string_view, std::string_view, int64_t, bool) const override { return {}; }
  std::string piece(text::TokenId id) const override { return pieces_[static_cast<size_t>(id)]; }
  std::string decode(const std::vector<text::TokenId>&, bool) const override { return {}; }
  bool is_special(text::TokenId) const override { return false; }
  text::TokenId find(std::string_view) const override { return -1; }
  text::TokenId bos() const override { return -1; }
  text::TokenId eos() const override { return -1; }
  std::vector<text::TokenId> end_ids() const override { return {}; }

 private:
  std::vector<std::string> pieces_;
};

std::vector<std::vector<text::TokenId>> of(const std::vector<std::string>& texts,
                                           const std::vector<std::string>& pieces) {
  return breaker_sequences(texts, Pieces(pieces));
}

TEST(Breakers, TokensThatHoldTheText) {
  EXPECT_THAT(of({"\n", ":"}, {"a", "\n", "so:\n", "", "b:"}),
              ElementsAre(ElementsAre(1), ElementsAre(2), ElementsAre(4)));
}

TEST(Breakers, ATextMayBeginInOneTokenAndGoOnInOthers) {
  EXPECT_THAT(
      of({"abc"}, {"xa", "ab", "c", "xabcx", "ba"}),
      ElementsAre(ElementsAre(0, 101, 102), ElementsAre(1, 102), ElementsAre(3), ElementsAre(4, 101, 102)));
  EXPECT_THAT(of({"aab"}, {"aa"}), ElementsAre(ElementsAre(0, 100, 101), ElementsAre(0, 101)))
      << "each place where it may begin";
}

TEST(Breakers, NothingOfNothing) {
  EXPECT_THAT(of({}, {"a"}), IsEmpty());
  EXPECT_THAT(of({""}, {"a", ""}), IsEmpty());
}

}  // namespace
}  // namespace orrery::generate
