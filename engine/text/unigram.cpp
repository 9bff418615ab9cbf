#include "engine/text/unigram.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/text/unicode.h"

namespace orrery::text {
namespace {

constexpr double kUnknownPenalty = 10;          // below the lowest score
constexpr size_t kLongestPart = INT32_MAX / 4;  // positions are 32-bit; no word is near that

size_t lead_of(std::string_view text, size_t position) {
  const size_t first = static_cast<uint8_t>(text[position]);
  return first << 8 | (position + 1 < text.size() ? static_cast<uint8_t>(text[position + 1]) : 0);
}

}  // namespace

Unigram::Unigram(std::shared_ptr<const PieceTable> pieces, Precision precision)
    : pieces_(std::move(pieces)), longest_(65536), precision_(precision) {
  double lowest = std::numeric_limits<double>::infinity();
  const Vocabulary& vocabulary = pieces_->vocabulary();
  for (size_t i = 0; i < vocabulary.size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    if (pieces_->type(id) == PieceType::normal) lowest = std::min(lowest, pieces_->score(id));
    const std::string& token = vocabulary[id];
    if (token.empty()) continue;
    // A piece of one byte stands before any second byte.
    const size_t begin = token.size() > 1 ? lead_of(token, 0) : lead_of(token, 0) & 0xFF00;
    const size_t end = token.size() > 1 ? begin : begin | 0xFF;
    for (size_t lead = begin; lead <= end; ++lead)
      longest_[lead] = std::max(longest_[lead], static_cast<uint32_t>(token.size()));
  }
  unknown_score_ = (std::isfinite(lowest) ? lowest : 0) - kUnknownPenalty;
}

size_t Unigram::longest_from(std::string_view text, size_t position) const {
  return std::min<size_t>(longest_[lead_of(text, position)], text.size() - position);
}

template <class Score>
void Unigram::find_paths(std::string_view text, std::vector<Scratch::Path>& paths) const {
  paths.assign(text.size() + 1, {0, 0, -1, false});
  const auto unknown_score = static_cast<Score>(unknown_score_);
  for (size_t begin = 0; begin < text.size();) {
    const auto here = static_cast<Score>(paths[begin].score);
    const auto reach = [&](size_t end, Score score, TokenId id) {
      Scratch::Path& path = paths[end];
      const Score sum = score + here;
      if (!path.reached || sum > static_cast<Score>(path.score))
        path = {static_cast<double>(sum), static_cast<uint32_t>(begin), id, true};
    };
    const size_t first = begin + code_point_at(text, begin).bytes;
    const size_t limit = begin + longest_from(text, begin);
    bool single = false;  // a piece spells the first character alone
    for (size_t end = first; end <= limit; end += end < text.size() ? code_point_at(text, end).bytes : 1) {
      const TokenId id = pieces_->find(text.substr(begin, end - begin));
      if (id < 0) continue;
      reach(end, static_cast<Score>(pieces_->score(id)), id);
      single = single || end == first;
    }
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
