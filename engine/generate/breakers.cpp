#include "engine/generate/breakers.h"

#include <algorithm>
#include <string_view>

namespace orrery::generate {
namespace {

constexpr size_t kMostBytes = 40;  // of a text: each of its ends is looked for in every token

/// The tokens of the rest of a text that begins in the last bytes of a piece, for each place where it can.
void add_begun(std::string_view text, std::string_view piece, text::TokenId id,
               const text::Tokenizer& tokenizer, std::vector<std::vector<text::TokenId>>& sequences) {
  for (size_t shared = 1; shared < text.size() && shared <= piece.size(); ++shared) {
    if (!piece.ends_with(text.substr(0, shared))) continue;
    std::vector<text::TokenId> sequence = tokenizer.encode(text.substr(shared), false, false);
    sequence.insert(sequence.begin(), id);
    sequences.push_back(std::move(sequence));
  }
}

}  // namespace

std::vector<std::vector<text::TokenId>> breaker_sequences(std::span<const std::string> texts,
                                                          const text::Tokenizer& tokenizer) {
  std::vector<std::vector<text::TokenId>> sequences;
  for (text::TokenId id = 0; id < tokenizer.vocabulary(); ++id) {
    const std::string piece = tokenizer.piece(id);
    if (piece.empty()) continue;
    for (const std::string& whole : texts) {
      const std::string_view text = std::string_view(whole).substr(0, kMostBytes);
      if (text.empty()) continue;
      if (piece.find(text) != std::string::npos)
        sequences.push_back({id});
      else
        add_begun(text, piece, id, tokenizer, sequences);
    }
  }
  std::sort(sequences.begin(), sequences.end());
  sequences.erase(std::unique(sequences.begin(), sequences.end()), sequences.end());
  return sequences;
}

}  // namespace orrery::generate
