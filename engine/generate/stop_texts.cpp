#include "engine/generate/stop_texts.h"

#include <algorithm>
#include <utility>

namespace orrery::generate {
namespace {

/// How many bytes at the end of `text` begin `stop` without completing it.
size_t open_end(std::string_view text, std::string_view stop) {
  for (size_t length = std::min(text.size(), stop.size() - 1); length > 0; --length)
    if (text.substr(text.size() - length) == stop.substr(0, length)) return length;
  return 0;
}

}  // namespace

StopTexts::StopTexts(std::vector<std::string> texts) : texts_(std::move(texts)) {
  std::erase_if(texts_, [](const std::string& text) { return text.empty(); });
}

std::string StopTexts::push(std::string_view text) {
  if (found_) return {};
  held_ += text;
  size_t first = std::string::npos, keep = 0;
  for (const std::string& stop : texts_) {
    first = std::min(first, held_.find(stop));
    keep = std::max(keep, open_end(held_, stop));
  }
  if (first != std::string::npos) {
    found_ = true;
    std::string before = held_.substr(0, first);
    held_.clear();
    return before;
  }
  std::string ready = held_.substr(0, held_.size() - keep);
  held_.erase(0, ready.size());
  return ready;
}

std::string StopTexts::finish() { return std::exchange(held_, {}); }

}  // namespace orrery::generate
