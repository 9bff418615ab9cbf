#include "engine/generate/encode_texts.h"

#include <algorithm>
#include <cmath>

namespace orrery::generate {

std::vector<text::TokenId> encode_within(const text::Tokenizer& tokenizer, std::string_view text,
                                         int64_t limit) {
  std::vector<text::TokenId> ids = tokenizer.encode(text, true);
  if (limit <= 0 || static_cast<int64_t>(ids.size()) <= limit) return ids;
  const text::TokenId last = ids.back();
  ids.resize(static_cast<size_t>(limit));
  if (limit > 1 && tokenizer.is_special(last)) ids.back() = last;
  return ids;
}

std::vector<float> softmax(std::span<const float> logits) {
  std::vector<float> result(logits.begin(), logits.end());
  if (result.empty()) return result;
  const float largest = *std::max_element(result.begin(), result.end());
  double sum = 0;
  for (float& value : result) {
    value = std::exp(value - largest);
    sum += value;
  }
  for (float& value : result) value = static_cast<float>(value / sum);
  return result;
}

Result<size_t> encode_texts(const Engine& engine, const std::vector<std::string>& texts, int64_t limit,
                            runtime::EncodeCallback on_row, std::stop_token stop) {
  runtime::EncodeRequest request;
  for (const std::string& text : texts)
    request.texts.push_back(encode_within(*engine.tokenizer, text, limit));
  request.on_result = std::move(on_row);
  request.stop = std::move(stop);
  return engine.scheduler.encode(engine.model, std::move(request)).get();
}

}  // namespace orrery::generate
