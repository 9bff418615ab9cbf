// Replies: in the session's own chat, for who waits, and in conversations, for who is told.
#include <fmt/format.h>

#include <chrono>

#include "engine/api/guard.h"
#include "engine/api/sampling_request.h"
#include "engine/api/session_impl.h"

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

/// What is told of a reply, and what comes of it in the end. On the thread of its events.
class Telling {
 public:
  explicit Telling(ChatEvents events) : events_(std::move(events)) {}

  static generate::Events events(const std::shared_ptr<Telling>& self) {
    generate::Events events;
    if (self->events_.on_prefill)
      events.on_prefill = [self](const runtime::PrefillStep& step) {
        self->events_.on_prefill({step.tokens, step.done, step.ms});
      };
    events.on_token = [self](const generate::Token& token) {
      if (self->first_token_ms_ == 0) self->first_token_ms_ = milliseconds_since(self->start_);
      if (self->events_.on_token) self->events_.on_token(to_api(token));
    };
    return events;
  }

  ChatResult result(const generate::Reply& reply, int64_t left_out_messages,
                    const runtime::Sequence& sequence) const {
    ChatResult result = to_api(reply);
    result.left_out_messages = left_out_messages;
    result.time_to_first_token_ms = first_token_ms_;
    result.context_used = sequence.length.load();
    return result;
  }

 private:
  const Clock::time_point start_ = Clock::now();
  const ChatEvents events_;
  double first_token_ms_ = 0;
};

}  // namespace

class Conversation {
 public:
  explicit Conversation(std::shared_ptr<runtime::Sequence> sequence) : sequence_(std::move(sequence)) {}
  const std::shared_ptr<runtime::Sequence>& sequence() const { return sequence_; }

 private:
  std::shared_ptr<runtime::Sequence> sequence_;
};

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

ConversationPtr SessionImpl::new_conversation() {
  return std::make_shared<Conversation>(runtime::DeviceScheduler::new_sequence(parts_.model));
}

std::stop_source SessionImpl::start(const ConversationPtr& conversation, ChatRequest request,
                                    ReplyEvents events) {
  const auto done = [on_done = std::move(events.on_done)](Result<ChatResult> result) {
    if (on_done) on_done(std::move(result));
  };
  const auto telling = std::make_shared<Telling>(static_cast<ChatEvents&&>(events));
  return replies_.begin(
      [this, conversation, telling, done, request = std::move(request)](
          const std::stop_token& stop, const generate::Post& post, const std::function<void()>& end) {
        const auto begun = guarded([&]() -> Result<void> {
          ORRERY_ASSIGN(ReplyRequest wanted, reply_request({}, request));
          const std::shared_ptr<runtime::Sequence>& sequence = conversation->sequence();
          generate::submit_reply(
              engine(), sequence, std::move(wanted.request), Telling::events(telling), stop, post,
              [this, sequence, telling, done, end, left_out = wanted.left_out_messages](auto written) {
                done(guarded([&]() -> Result<ChatResult> {
                  if (!written.ok()) return with_offers(std::move(written).error());
                  return telling->result(*written, left_out, *sequence);
                }));
                end();
              });
          return {};
        });
        if (begun.ok()) return;
        done(begun.error());
        end();
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

Result<SessionImpl::ReplyRequest> SessionImpl::reply_request(std::vector<int32_t> prompt,
                                                             const ChatRequest& request) const {
  ORRERY_TRY(require(Task::generate));
  ReplyRequest wanted;
  ORRERY_ASSIGN(SamplingRequest sampling,
                sampling_request(*model_graph(), request.sampling, *parts_.tokenizer));
  ORRERY_TRY(check_place_of_draw(sampling));
  wanted.request.sampling = sampling.params;
  wanted.request.chain = std::move(sampling.chain);
  if (prompt.empty()) {
    ORRERY_ASSIGN(FittedPrompt fitted, fitted_prompt(request));
    wanted.request.prompt = std::move(fitted.ids);
    wanted.request.shift = fitted.shift;
    wanted.request.share_prefix = true;
    wanted.left_out_messages = fitted.left_out_messages;
  } else {
    wanted.request.prompt = std::move(prompt);
  }
  wanted.request.max_tokens = request.max_tokens;
  wanted.request.top = request.logprobs;
  wanted.request.stops = request.stop;
  wanted.request.continues_text = request.messages.empty();
  return wanted;
}

Result<ChatResult> SessionImpl::reply(const std::shared_ptr<runtime::Sequence>& sequence,
                                      std::vector<int32_t> prompt, const ChatRequest& request,
                                      const ChatEvents& events, std::stop_token stop) const {
  const auto telling = std::make_shared<Telling>(events);
  ORRERY_ASSIGN(ReplyRequest wanted, reply_request(std::move(prompt), request));
  ORRERY_ASSIGN(const generate::Reply written,
                generate::write_reply(engine(), sequence, std::move(wanted.request), Telling::events(telling),
                                      std::move(stop)));
  return telling->result(written, wanted.left_out_messages, *sequence);
}

}  // namespace orrery::api
