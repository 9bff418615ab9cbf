#include "engine/text/unigram.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/text/unicode.h"

namespace orrery::text {
namespace {

constexpr double kUnknownPenalty = 10;  // below the lowest score
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr size_t kLongestText = INT32_MAX / 4;  // positions are 32-bit; no word is near that

}  // namespace

Unigram::Unigram(std::shared_ptr<const PieceTable> pieces, Precision precision)
    : pieces_(std::move(pieces)), precision_(precision) {
  double lowest = kInfinity;
  const Vocabulary& vocabulary = pieces_->vocabulary();
  std::vector<ByteTrie::Entry> entries;
  scores_.reserve(vocabulary.size() + 1);
  scores_.push_back(-kInfinity);
  for (size_t i = 0; i < vocabulary.size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    scores_.push_back(pieces_->score(id));
    if (pieces_->type(id) == PieceType::normal) lowest = std::min(lowest, pieces_->score(id));
    if (pieces_->find(vocabulary[id]) == id) entries.push_back({vocabulary[id], id});
  }
  trie_ = ByteTrie(std::move(entries));
  unknown_score_ = (std::isfinite(lowest) ? lowest : 0) - kUnknownPenalty;
}

/// Every step of a walk reaches a place, most with a score that changes nothing: whether a piece ends there,
/// and whether it is the best, cannot be foretold, and a wrong guess of the processor costs more.
template <class Score>
void Unigram::find_paths(std::string_view text, std::vector<Scratch::Path>& paths) const {
  // Any sum is above that of a place not yet reached, none is above that of a place within a character.
  paths.assign(text.size() + 1, {-kInfinity, 0, -1});
  for (size_t i = 0; i < text.size();) {
    const uint32_t bytes = code_point_at(text, i).bytes;
    for (uint32_t inside = 1; inside < bytes; ++inside) paths[i + inside].score = kInfinity;
    i += bytes;
  }
  paths[0].score = 0;
  for (size_t begin = 0; begin < text.size();) {
    Scratch::Path* const here = paths.data() + begin;
    const auto score_here = static_cast<Score>(here->score);
    const auto reach = [&](size_t bytes, double score, TokenId id) {
      Scratch::Path& path = here[bytes];
      const auto sum = static_cast<double>(static_cast<Score>(score) + score_here);
      const uint32_t worse = static_cast<uint32_t>(sum > path.score) - 1;  // all ones, or zero
      path.score = std::max(path.score, sum);
      path.begin = (path.begin & worse) | (static_cast<uint32_t>(begin) & ~worse);
      path.id = static_cast<TokenId>((static_cast<uint32_t>(path.id) & worse) |
                                     (static_cast<uint32_t>(id) & ~worse));
    };
    trie_.walk_all(text.substr(begin),
                   [&](size_t bytes, TokenId id) { reach(bytes, scores_[static_cast<size_t>(id + 1)], id); });
    const CodePoint first = code_point_at(text, begin);
    if (pieces_->find_character(text.substr(begin, first.bytes), first) < 0)
      reach(first.bytes, unknown_score_, -1);
    begin += first.bytes;
  }
}

void Unigram::encode(std::string_view text, Scratch& scratch, std::vector<TokenId>& ids) const {
  for (; text.size() > kLongestText; text.remove_prefix(kLongestText))
    encode(text.substr(0, kLongestText), scratch, ids);
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
