#include "engine/text/no_vocabulary.h"

namespace orrery::text {
namespace {

class NoVocabulary final : public Tokenizer {
 public:
  std::string_view kind() const override { return "none"; }
  int32_t vocabulary() const override { return 0; }
  std::vector<TokenId> encode(std::string_view, bool, bool) const override { return {}; }
  Encoding encode_pair(std::string_view, std::string_view, int64_t, bool) const override { return {}; }
  std::string piece(TokenId) const override { return {}; }
  std::string decode(const std::vector<TokenId>&, bool) const override { return {}; }
  bool is_special(TokenId) const override { return false; }
  TokenId find(std::string_view) const override { return -1; }
  TokenId bos() const override { return -1; }
  TokenId eos() const override { return -1; }
  std::vector<TokenId> end_ids() const override { return {}; }
};

}  // namespace

std::shared_ptr<const Tokenizer> no_vocabulary() { return std::make_shared<const NoVocabulary>(); }

}  // namespace orrery::text
