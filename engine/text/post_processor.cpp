#include "engine/text/post_processor.h"

#include <algorithm>

namespace orrery::text {
namespace {

using Item = PostProcessor::Item;

Encoding fill(const std::vector<Item>& items, const std::vector<TokenId>& first,
              const std::vector<TokenId>& second) {
  Encoding result;
  for (const Item& item : items) {
    if (item.kind == Item::Kind::token) {
      result.ids.push_back(item.id);
    } else {
      const std::vector<TokenId>& text = item.kind == Item::Kind::first_text ? first : second;
      result.ids.insert(result.ids.end(), text.begin(), text.end());
    }
    result.types.resize(result.ids.size(), item.type);
  }
  return result;
}

/// The reference's "longest first": the longer text gives, then both alike.
void truncate(std::vector<TokenId>& first, std::vector<TokenId>& second, size_t room) {
  if (first.size() + second.size() <= room) return;
  std::vector<TokenId>& shorter = first.size() <= second.size() ? first : second;
  std::vector<TokenId>& longer = first.size() <= second.size() ? second : first;
  size_t short_length = shorter.size();
  size_t long_length = short_length > room ? short_length : std::max(short_length, room - short_length);
  if (short_length + long_length > room) {
    short_length = room / 2;
    long_length = short_length + room % 2;
  }
  shorter.resize(std::min(shorter.size(), short_length));
  longer.resize(std::min(longer.size(), long_length));
}

}  // namespace

PostProcessor PostProcessor::around(const std::vector<TokenId>& before, const std::vector<TokenId>& between,
                                    const std::vector<TokenId>& after, int32_t second_type) {
  PostProcessor result;
  result.single.clear();
  result.pair.clear();
  const auto put = [](std::vector<Item>& items, const std::vector<TokenId>& ids, int32_t type) {
    for (const TokenId id : ids) items.push_back({Item::Kind::token, id, type});
  };
  put(result.single, before, 0);
  result.single.push_back({Item::Kind::first_text});
  put(result.single, after, 0);
  put(result.pair, before, 0);
  result.pair.push_back({Item::Kind::first_text});
  put(result.pair, between, 0);
  result.pair.push_back({Item::Kind::second_text, -1, second_type});
  put(result.pair, after, second_type);
  return result;
}

Encoding PostProcessor::frame_single(std::vector<TokenId> ids) const { return fill(single, ids, {}); }

Encoding PostProcessor::frame_pair(std::vector<TokenId> first, std::vector<TokenId> second,
                                   size_t limit) const {
  const auto special = static_cast<size_t>(
      std::count_if(pair.begin(), pair.end(), [](const Item& i) { return i.kind == Item::Kind::token; }));
  if (limit > 0) truncate(first, second, limit > special ? limit - special : 0);
  return fill(pair, first, second);
}

}  // namespace orrery::text
