#include "engine/generate/encode_texts.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>

#include "engine/generate/inbox.h"

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

std::vector<float> label_probabilities(std::span<const float> logits) {
  if (logits.size() != 1) return softmax(logits);
  return {1.0F / (1.0F + std::exp(-logits[0]))};
}

EncodedTexts encode_each(const text::Tokenizer& tokenizer, const std::vector<std::string>& texts,
                         int64_t limit) {
  EncodedTexts encoded;
  for (const std::string& text : texts) encoded.ids.push_back(encode_within(tokenizer, text, limit));
  return encoded;
}

EncodedTexts encode_pairs(const text::Tokenizer& tokenizer, const std::string& first,
                          const std::vector<std::string>& others, int64_t limit) {
  EncodedTexts encoded;
  for (const std::string& other : others) {
    text::Encoding pair = tokenizer.encode_pair(first, other, limit);
    encoded.ids.push_back(std::move(pair.ids));
    encoded.types.push_back(std::move(pair.types));
  }
  return encoded;
}

Result<size_t> run_encoder(const Engine& engine, EncodedTexts texts, runtime::EncodeCallback on_result,
                           std::stop_token stop) {
  const auto inbox = std::make_shared<Inbox>();
  const auto enough = std::make_shared<std::atomic<bool>>(false);
  size_t told = 0;
  std::exception_ptr failure;
  std::optional<Result<size_t>> done;
  runtime::EncodeRequest request;
  request.texts = std::move(texts.ids);
  request.types = std::move(texts.types);
  request.stop = stop;
  request.on_result = [&, inbox, enough](size_t index, std::span<const float> values, double ms) {
    inbox->post([&, enough, index, values = std::vector<float>(values.begin(), values.end()), ms] {
      if (*enough || stop.stop_requested()) return;
      try {
        ++told;
        *enough = !on_result(index, values, ms);
      } catch (...) {
        failure = std::current_exception();
        *enough = true;
      }
    });
    return !*enough;
  };
  engine.scheduler.encode(engine.model, std::move(request), [&done, inbox](Result<size_t> outcome) {
    inbox->post([&done, outcome = std::move(outcome)] { done = outcome; });
  });
  inbox->work_until([&done] { return done.has_value(); });
  if (failure) std::rethrow_exception(failure);
  if (!done->ok()) return *std::move(done);
  return told;
}

}  // namespace orrery::generate
