// Texts through an encoder: labels of texts or of their tokens, vectors, and how well passages answer a
// query.
#include <fmt/format.h>

#include <algorithm>

#include "engine/api/guard.h"
#include "engine/api/session_impl.h"
#include "engine/generate/encode_texts.h"

namespace orrery::api {
namespace {

std::string likeliest(std::span<const float> logits, const std::vector<std::string>& labels) {
  const auto best = static_cast<size_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
  return best < labels.size() ? labels[best] : fmt::format("LABEL_{}", best);
}

void label_text(Classification& result, std::span<const float> logits,
                const std::vector<std::string>& labels) {
  result.logits.assign(logits.begin(), logits.end());
  result.probabilities = generate::label_probabilities(logits);
  result.label = likeliest(logits, labels);
}

/// `values` has a row of logits for each token.
void label_tokens(Classification& result, std::span<const float> values, const std::vector<int32_t>& ids,
                  const text::Tokenizer& tokenizer, const std::vector<std::string>& labels) {
  const size_t width = ids.empty() ? 0 : values.size() / ids.size();
  for (size_t i = 0; i < ids.size(); ++i) {
    const std::span<const float> logits = values.subspan(i * width, width);
    result.tokens.push_back(
        {ids[i], tokenizer.piece(ids[i]), likeliest(logits, labels), generate::label_probabilities(logits)});
  }
}

}  // namespace

Result<std::vector<Classification>> SessionImpl::classify(const std::vector<std::string>& texts,
                                                          const ClassifyCallback& on_result,
                                                          std::stop_token stop) {
  return guarded([&]() -> Result<std::vector<Classification>> {
    ORRERY_TRY(require(Task::classify));
    return with_offers(run_classify(texts, on_result, std::move(stop)));
  });
}

Result<std::vector<Classification>> SessionImpl::run_classify(const std::vector<std::string>& texts,
                                                              const ClassifyCallback& on_result,
                                                              std::stop_token stop) {
  std::vector<Classification> results;
  if (texts.empty()) return results;
  const generate::EncodedTexts encoded = generate::encode_each(*parts_.tokenizer, texts, parts_.text_limit);
  const auto take = [&](size_t index, std::span<const float> values, double ms) {
    Classification result;
    result.text = texts[index];
    result.ms = ms;
    if (parts_.info.classifies_tokens)
      label_tokens(result, values, encoded.ids[index], *parts_.tokenizer, parts_.info.labels);
    else
      label_text(result, values, parts_.info.labels);
    results.push_back(std::move(result));
    return !on_result || on_result(index, results.back());
  };
  const auto done = generate::run_encoder(engine(), encoded, take, std::move(stop));
  if (!done.ok()) return done.error();
  return results;
}

Result<std::vector<Embedding>> SessionImpl::embed(const std::vector<std::string>& texts,
                                                  std::stop_token stop) {
  return guarded([&]() -> Result<std::vector<Embedding>> {
    ORRERY_TRY(require(Task::embed));
    std::vector<Embedding> results;
    if (texts.empty()) return results;
    const auto take = [&](size_t index, std::span<const float> row, double) {
      results.push_back({texts[index], {row.begin(), row.end()}});
      return true;
    };
    const auto done = generate::run_encoder(
        engine(), generate::encode_each(*parts_.tokenizer, texts, parts_.text_limit), take, std::move(stop));
    if (!done.ok()) return with_offers(done.error());
    return results;
  });
}

Result<std::vector<Relevance>> SessionImpl::rerank(const std::string& query,
                                                   const std::vector<std::string>& passages,
                                                   std::stop_token stop) {
  return guarded([&]() -> Result<std::vector<Relevance>> {
    ORRERY_TRY(require(Task::classify));
    if (parts_.info.classifies_tokens || parts_.info.labels.size() != 1)
      return Error{ErrorCode::unsupported, "This model gives no relevance", parts_.info.name,
                   "choose a reranker: a cross-encoder with one label"};
    std::vector<Relevance> results;
    if (passages.empty()) return results;
    const auto take = [&](size_t, std::span<const float> logits, double ms) {
      results.push_back({logits.front(), generate::label_probabilities(logits).front(), ms});
      return true;
    };
    const auto done = generate::run_encoder(
        engine(), generate::encode_pairs(*parts_.tokenizer, query, passages, parts_.text_limit), take,
        std::move(stop));
    if (!done.ok()) return with_offers(done.error());
    return results;
  });
}

}  // namespace orrery::api
