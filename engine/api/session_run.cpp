#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/api/guard.h"
#include "engine/api/sampling_request.h"
#include "engine/api/session_impl.h"
#include "engine/api/text_support.h"

namespace orrery::api {
namespace {

std::string_view task_words(Task task) {
  switch (task) {
    case Task::generate:
      return "write text";
    case Task::embed:
      return "make sentence vectors";
    case Task::classify:
      return "classify";
    case Task::tensors:
      return "run on arrays (orrery-cli run)";
  }
  return "";
}

}  // namespace

Result<void> SessionImpl::require(Task task) const {
  if (parts_.info.task != task)
    return Error{ErrorCode::unsupported, fmt::format("This model does not {}", task_words(task)),
                 parts_.info.name, fmt::format("it can {}", task_words(parts_.info.task))};
  ORRERY_TRY(check_vocabulary());
  return parts_.weights->check();  // cut short meanwhile?
}

Error SessionImpl::no_text() const {
  return {ErrorCode::unsupported, "A graph of one's own reads and writes no text", parts_.info.name,
          "run it on arrays"};
}

Result<void> SessionImpl::check_ids(const std::vector<int32_t>& ids) const {
  const int64_t vocabulary = parts_.info.vocabulary;
  for (size_t i = 0; i < ids.size(); ++i)
    if (ids[i] < 0 || (vocabulary > 0 && ids[i] >= vocabulary))
      return Error{ErrorCode::corrupt_file,
                   fmt::format("The tokenizer gave id {}, the model has {} tokens", ids[i], vocabulary),
                   fmt::format("token {}", i), "the tokenizer does not belong to this model"};
  return {};
}

Result<void> SessionImpl::check_vocabulary() const {
  if (parts_.info.task == Task::tensors) return no_text();
  return api::check_vocabulary(*parts_.tokenizer, parts_.info.name);
}

Result<std::vector<int32_t>> SessionImpl::tokenize(std::string_view text, bool special) const {
  return guarded([&]() -> Result<std::vector<int32_t>> {
    ORRERY_TRY(check_vocabulary());
    return parts_.tokenizer->encode(text, special);
  });
}

std::string SessionImpl::detokenize(const std::vector<int32_t>& ids) const {
  return guarded_or_empty([&] { return parts_.tokenizer->decode(ids); });
}

std::string SessionImpl::piece(int32_t id) const {
  return guarded_or_empty([&] { return parts_.tokenizer->piece(id); });
}

Result<std::string> SessionImpl::render(const std::vector<Message>& messages,
                                        const TemplateOptions& options) const {
  return guarded([&]() -> Result<std::string> {
    ORRERY_TRY(check_vocabulary());
    if (!parts_.chat_template->ok()) return parts_.chat_template->error();
    return render_with(parts_.chat_template->value(), *parts_.tokenizer, messages, options);
  });
}

Result<ScoreResult> SessionImpl::score(std::string_view text, int top, std::stop_token stop) {
  return guarded([&]() -> Result<ScoreResult> {
    ORRERY_TRY(require(Task::generate));
    runtime::DecodeRequest request;
    request.tokens = parts_.tokenizer->encode(text, true);
    ORRERY_TRY(check_ids(request.tokens));
    if (request.tokens.empty())
      return Error{ErrorCode::invalid_argument, "There is no text to score", "score",
                   "give at least one token"};
    request.score = true;
    request.top = std::clamp(top, 0, kernels::Sample::kMaxTop);
    request.stop = std::move(stop);
    ScoreResult result;
    result.tokens = static_cast<int64_t>(request.tokens.size());
    auto sequence = runtime::DeviceScheduler::new_sequence(parts_.model);
    ORRERY_ASSIGN(
        const runtime::DecodeOutcome outcome,
        with_offers(parts_.scheduler->decode(parts_.model, std::move(sequence), std::move(request)).get()));
    if (outcome.end == runtime::DecodeOutcome::End::cancelled || !outcome.last) return cancelled_error();
    double sum = 0;
    for (const float logprob : outcome.logprobs) sum -= logprob;
    if (!outcome.logprobs.empty()) result.nll_per_token = sum / static_cast<double>(outcome.logprobs.size());
    result.perplexity = std::exp(result.nll_per_token);
    for (int32_t i = 0; i < outcome.last->top_count; ++i)
      result.last_top.push_back({outcome.last->top_ids[i], parts_.tokenizer->piece(outcome.last->top_ids[i]),
                                 outcome.last->top_logprobs[i]});
    return result;
  });
}

}  // namespace orrery::api
