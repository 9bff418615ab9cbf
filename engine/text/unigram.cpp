#include "engine/text/unigram.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/text/unicode.h"

namespace orrery::text {
namespace {

constexpr double kUnknownPenalty = 10;          // below the lowest score
constexpr size_t kLongestPart = INT32_MAX / 4;  // positions are 32-bit; no word is near that

}  // namespace

Unigram::Unigram(std::shared_ptr<const PieceTable> pieces, Precision precision)
    : pieces_(std::move(pieces)), precision_(precision) {
  double lowest = std::numeric_limits<double>::infinity();
  const Vocabulary& vocabulary = pieces_->vocabulary();
  std::vector<ByteTrie::Entry> entries;
  for (size_t i = 0; i < vocabulary.size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    if (pieces_->type(id) == PieceType::normal) lowest = std::min(lowest, pieces_->score(id));
    if (pieces_->find(vocabulary[id]) == id) entries.push_back({vocabulary[id], id});
  }
  trie_ = ByteTrie(std::move(entries));
  unknown_score_ = (std::isfinite(lowest) ? lowest : 0) - kUnknownPenalty;
}

template <class Score>
void Unigram::find_paths(std::string_view text, std::vector<Scratch::Path>& paths) const {
  paths.assign(text.size() + 1, {0, 0, -1, false, false});
  for (size_t i = 0; i < text.size(); i += code_point_at(text, i).bytes) paths[i].boundary = true;
  paths.back().boundary = true;
  const auto unknown_score = static_cast<Score>(unknown_score_);
  for (size_t begin = 0; begin < text.size();) {
    const auto here = static_cast<Score>(paths[begin].score);
    const auto reach = [&](size_t end, Score score, TokenId id) {
      Scratch::Path& path = paths[end];
      const Score sum = score + here;
      if (!path.reached || sum > static_cast<Score>(path.score)) {
        path.score = static_cast<double>(sum);
        path.begin = static_cast<uint32_t>(begin);
        path.id = id;
        path.reached = true;
      }
    };
    const size_t first = begin + code_point_at(text, begin).bytes;
    bool single = false;  // a piece spells the first character alone
    trie_.walk(text.substr(begin), [&](size_t bytes, TokenId id) {
      const size_t end = begin + bytes;
      if (!paths[end].boundary) return;
      reach(end, static_cast<Score>(pieces_->score(id)), id);
      single = single || end == first;
    });
    if (!single) reach(first, unknown_score, -1);
    begin = first;
  }
}

void Unigram::encode(std::string_view text, Scratch& scratch, std::vector<TokenId>& ids) const {
  for (; text.size() > kLongestPart; text.remove_prefix(kLongestPart))
    encode(text.substr(0, kLongestPart), scratch, ids);
  if (precision_ == Precision::single)
    find_paths<float>(text, scratch.paths);
  else
    find_paths<double>(text, scratch.paths);
  // Back along the best path; its places are kept, last first.
  std::vector<uint32_t>& ends = scratch.ends;
  ends.clear();
  for (size_t end = text.size(); end > 0; end = scratch.paths[end].begin)
    ends.push_back(static_cast<uint32_t>(end));
  bool unknown = false;
  for (size_t i = ends.size(); i-- > 0;) {
    const Scratch::Path& path = scratch.paths[ends[i]];
    if (path.id >= 0) {
      ids.push_back(path.id);
      unknown = false;
    } else {
      unknown = pieces_->spell_unknown(text.substr(path.begin, ends[i] - path.begin), unknown, ids);
    }
  }
}

}  // namespace orrery::text
