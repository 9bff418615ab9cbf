#include "engine/generate/generator.h"

#include <algorithm>

#include "engine/generate/stop_texts.h"

namespace orrery::generate {
namespace {

/// Puts a reply together, token by token; `take` says whether another is wanted.
class Assembly {
 public:
  Assembly(const text::Tokenizer& tokenizer, const Request& request, const Events& events)
      : tokenizer_(tokenizer),
        events_(events),
        ends_(tokenizer.end_ids()),
        decoder_(tokenizer.drops_first_space() && !request.continues_text),
        stops_(request.stops),
        max_tokens_(request.max_tokens) {}

  bool take(const runtime::TokenStep& step) {
    Token token = describe(step);
    const bool ended = std::find(ends_.begin(), ends_.end(), token.id) != ends_.end();
    if (!ended) token.text = stops_.push(decoder_.push(token.piece));
    const auto count = static_cast<int64_t>(reply_.tokens.size()) + 1;
    bool more = false;
    if (stops_.found())
      reply_.reason = StopReason::stop;
    else if (ended)
      reply_.reason = StopReason::end;
    else if (max_tokens_ > 0 && count >= max_tokens_)
      reply_.reason = StopReason::length;
    else
      more = true;
    if (!more) token.text += rest();
    reply_.text += token.text;
    if (events_.on_token) events_.on_token(token);
    reply_.tokens.push_back(std::move(token));
    return more;
  }

  Reply finish(runtime::DecodeOutcome figures) {
    const auto end = figures.end;
    if (end == runtime::DecodeOutcome::End::cancelled) reply_.reason = StopReason::cancelled;
    if (end == runtime::DecodeOutcome::End::context) reply_.reason = StopReason::context;
    const std::string tail = rest();
    reply_.text += tail;
    if (!reply_.tokens.empty()) reply_.tokens.back().text += tail;
    reply_.figures = std::move(figures);
    return std::move(reply_);
  }

 private:
  std::string rest() {
    std::string tail = stops_.push(decoder_.finish());
    if (!stops_.found()) tail += stops_.finish();
    return tail;
  }

  Token describe(const runtime::TokenStep& step) const {
    const kernels::Sample::Choice& choice = step.choice;
    Token token{choice.id, tokenizer_.piece(choice.id), {}, choice.logprob, {}, step.step_ms, step.position};
    for (int32_t i = 0; i < std::min(choice.top_count, kernels::Sample::kMaxTop); ++i)
      token.top.push_back({choice.top_ids[i], tokenizer_.piece(choice.top_ids[i]), choice.top_logprobs[i]});
    return token;
  }

  const text::Tokenizer& tokenizer_;
  const Events& events_;
  std::vector<text::TokenId> ends_;
  text::StreamingDecoder decoder_;
  StopTexts stops_;
  int64_t max_tokens_;
  Reply reply_;
};

}  // namespace

std::string_view name_of(StopReason reason) {
  switch (reason) {
    case StopReason::end:
      return "end";
    case StopReason::length:
      return "length";
    case StopReason::stop:
      return "stop";
    case StopReason::cancelled:
      return "cancelled";
    case StopReason::context:
      return "context";
  }
  return "end";
}

Result<Reply> write_reply(const Engine& engine, std::shared_ptr<runtime::Sequence> sequence, Request request,
                          const Events& events, std::stop_token stop) {
  Assembly assembly(*engine.tokenizer, request, events);
  runtime::DecodeRequest decode;
  decode.tokens = std::move(request.prompt);
  decode.sampling = request.sampling;
  decode.chain = std::move(request.chain);
  decode.top = std::clamp(request.top, 0, kernels::Sample::kMaxTop);
  decode.on_token = [&assembly](const runtime::TokenStep& step) { return assembly.take(step); };
  decode.on_prefill = events.on_prefill;
  decode.shift = request.shift;
  decode.share_prefix = request.share_prefix;
  decode.stop = std::move(stop);
  ORRERY_ASSIGN(runtime::DecodeOutcome figures,
                engine.scheduler.decode(engine.model, std::move(sequence), std::move(decode)).get());
  return assembly.finish(std::move(figures));
}

}  // namespace orrery::generate
