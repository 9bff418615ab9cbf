#include "engine/text/tokenizer.h"
#include "engine/text/unicode.h"

namespace orrery::text {

std::string StreamingDecoder::push(std::string_view piece) {
  if (drop_space_ && !piece.empty()) {
    if (piece.front() == ' ') piece.remove_prefix(1);
    drop_space_ = false;
  }
  pending_ += piece;
  const size_t whole = pending_.size() - incomplete_tail(pending_);
  std::string text = replace_invalid(std::string_view(pending_).substr(0, whole));
  pending_.erase(0, whole);
  return text;
}

std::string StreamingDecoder::finish() {
  std::string text = replace_invalid(pending_);
  pending_.clear();
  return text;
}

}  // namespace orrery::text
