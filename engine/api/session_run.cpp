#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "engine/api/guard.h"
#include "engine/api/sampling_request.h"
#include "engine/api/session_impl.h"
#include "engine/api/text_support.h"

namespace orrery::api {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

double rate(int64_t count, double milliseconds) {
  return count > 0 && milliseconds > 0 ? static_cast<double>(count) / milliseconds * 1e3 : 0;
}

TokenAlternative to_api(const generate::Alternative& alternative) {
  return {alternative.id, alternative.piece, alternative.logprob};
}

TokenEvent to_api(const generate::Token& token) {
  TokenEvent event{token.id, token.piece, token.text, token.logprob, {}, token.step_ms, token.position};
  for (const generate::Alternative& alternative : token.top) event.top.push_back(to_api(alternative));
  return event;
}

ChatResult to_api(const generate::Reply& reply) {
  const runtime::DecodeOutcome& figures = reply.figures;
  ChatResult result;
  result.text = reply.text;
  for (const generate::Token& token : reply.tokens) result.tokens.push_back(to_api(token));
  result.stop_reason = generate::name_of(reply.reason);
  result.prompt_tokens = figures.prompt_tokens;
  result.reused_tokens = figures.reused_tokens;
  result.forgotten_tokens = figures.forgotten;
  result.prefill_ms = figures.prefill_ms;
  result.decode_ms = figures.decode_ms;
  result.prefill_tokens_per_second = rate(figures.prompt_tokens - figures.reused_tokens, figures.prefill_ms);
  result.decode_tokens_per_second = rate(figures.generated - 1, figures.decode_ms);
  return result;
}

std::string_view task_words(Task task) {
  switch (task) {
    case Task::generate:
      return "write text";
    case Task::embed:
      return "make sentence vectors";
    case Task::classify:
      return "classify";
  }
  return "";
}

}  // namespace

Result<void> SessionImpl::require(Task task) const {
  if (parts_.info.task != task)
    return Error{ErrorCode::unsupported, fmt::format("This model does not {}", task_words(task)),
                 parts_.info.name, fmt::format("it can {}", task_words(parts_.info.task))};
  ORRERY_TRY(check_vocabulary());
  for (const auto& file : parts_.weights->file().files) ORRERY_TRY(file->check());  // cut short meanwhile?
  return {};
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

std::shared_ptr<runtime::Sequence> SessionImpl::chat_sequence() const {
  const std::scoped_lock lock(sequence_mutex_);
  return sequence_;
}

int64_t SessionImpl::context_used() const { return chat_sequence()->length.load(); }

void SessionImpl::forget_context() {
  static_cast<void>(guarded([&]() -> Result<void> {
    auto fresh = runtime::DeviceScheduler::new_sequence(parts_.model);
    const std::scoped_lock lock(sequence_mutex_);
    sequence_.swap(fresh);
    return {};
  }));
}

Result<ChatResult> SessionImpl::chat(const ChatRequest& request, const ChatEvents& events,
                                     std::stop_token stop) {
  return guarded([&]() -> Result<ChatResult> {
    const std::scoped_lock lock(chat_mutex_);
    return with_offers(reply(chat_sequence(), {}, request, events, std::move(stop)));
  });
}

/// A card draws in the plain order only.
Result<void> SessionImpl::check_place_of_draw(const SamplingRequest& sampling) const {
  if (!sampling.chain) return {};
  const graph::GraphVersion fused = fused_graph();
  for (const NodeId id : fused->order()) {
    const graph::Node& node = fused->node(id);
    if (node.op->name != "sample") continue;
    const auto placed = node.attributes.find(graph::kDeviceAttribute);
    const std::string* device =
        placed == node.attributes.end() ? nullptr : std::get_if<std::string>(&placed->second);
    const std::string& where = device ? *device : parts_.options.device;
    if (where != graph::kCpu)
      return Error{
          ErrorCode::unsupported,
          fmt::format("The node \"{}\" runs on {}, which draws by temperature, top-k, top-p, min-p and the "
                      "repeat penalty only",
                      node.path(), where),
          "sampling",
          fmt::format("run it on the CPU (place scope={} device=cpu), or leave out the other samplers",
                      node.path())};
  }
  return {};
}

Result<ChatResult> SessionImpl::reply(const std::shared_ptr<runtime::Sequence>& sequence,
                                      std::vector<int32_t> prompt, const ChatRequest& request,
                                      const ChatEvents& events, std::stop_token stop) const {
  const Clock::time_point start = Clock::now();
  ORRERY_TRY(require(Task::generate));
  generate::Request wanted;
  ORRERY_ASSIGN(SamplingRequest sampling,
                sampling_request(*model_graph(), request.sampling, *parts_.tokenizer));
  ORRERY_TRY(check_place_of_draw(sampling));
  wanted.sampling = sampling.params;
  wanted.chain = std::move(sampling.chain);
  int64_t left_out_messages = 0;
  if (prompt.empty()) {
    ORRERY_ASSIGN(FittedPrompt fitted, fitted_prompt(request));
    wanted.prompt = std::move(fitted.ids);
    wanted.shift = fitted.shift;
    wanted.share_prefix = true;
    left_out_messages = fitted.left_out_messages;
  } else {
    wanted.prompt = std::move(prompt);
  }
  wanted.max_tokens = request.max_tokens;
  wanted.top = request.logprobs;
  wanted.stops = request.stop;
  wanted.continues_text = request.messages.empty();
  double first_token_ms = 0;
  generate::Events told;
  if (events.on_prefill)
    told.on_prefill = [&](const runtime::PrefillStep& step) {
      events.on_prefill({step.tokens, step.done, step.ms});
    };
  told.on_token = [&](const generate::Token& token) {
    if (first_token_ms == 0) first_token_ms = milliseconds_since(start);
    if (events.on_token) events.on_token(to_api(token));
  };
  ORRERY_ASSIGN(const generate::Reply written,
                generate::write_reply(engine(), sequence, std::move(wanted), told, std::move(stop)));
  ChatResult result = to_api(written);
  result.left_out_messages = left_out_messages;
  result.time_to_first_token_ms = first_token_ms;
  result.context_used = sequence->length.load();
  return result;
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
