#include "engine/generate/generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "engine/generate/inbox.h"
#include "engine/generate/stop_texts.h"

namespace orrery::generate {
namespace {

/// What the scheduler's thread hands on of a token.
struct Said {
  kernels::Sample::Choice choice;
  double step_ms = 0;
  int64_t position = 0, forgotten = 0;
};

/// A reply from its first token to its end. `say` is called on the scheduler's thread, all else on the one
/// where events are called.
class Writing : public std::enable_shared_from_this<Writing> {
 public:
  Writing(const Engine& engine, std::shared_ptr<runtime::Sequence> sequence, const Request& request,
          Events events, std::stop_token stop, Post post)
      : scheduler_(engine.scheduler),
        model_(engine.model),
        tokenizer_(engine.tokenizer),
        sequence_(std::move(sequence)),
        events_(std::move(events)),
        stop_(std::move(stop)),
        post_(std::move(post)),
        ends_(tokenizer_->end_ids()),
        max_tokens_(request.max_tokens),
        decoder_(tokenizer_->drops_first_space() && !request.continues_text),
        stops_(request.stops) {}

  /// Whether another token is wanted, as far as can be told without its text.
  bool say(const runtime::TokenStep& step) {
    const bool more = !over_ && !is_last(step.choice.id, ++said_);
    hand_on([this, said = Said{step.choice, step.step_ms, step.position, step.forgotten}] { take(said); });
    return more;
  }

  void tell_prefill(const runtime::PrefillStep& step) {
    hand_on([this, step] { tell([&] { events_.on_prefill(step); }); });
  }

  Result<Reply> finish(Result<runtime::DecodeOutcome> outcome) {
    if (failure_) return *std::move(failure_);
    if (!outcome.ok() && !ended_) return std::move(outcome).error();
    if (outcome.ok()) {
      const bool full = outcome->end == runtime::DecodeOutcome::End::context;
      if (!ended_) reply_.reason = full && !over_ ? StopReason::context : StopReason::cancelled;
      take_back(*outcome);
      reply_.figures = *std::move(outcome);
    }
    const std::string tail = rest();
    reply_.text += tail;
    if (!reply_.tokens.empty()) reply_.tokens.back().text += tail;
    return std::move(reply_);
  }

  void hand_on(std::function<void()> work) {
    post_([self = shared_from_this(), work = std::move(work)] { work(); });
  }

 private:
  bool is_end(text::TokenId id) const { return std::find(ends_.begin(), ends_.end(), id) != ends_.end(); }
  bool is_last(text::TokenId id, int64_t count) const {
    return is_end(id) || (max_tokens_ > 0 && count >= max_tokens_);
  }

  StopReason reason_of(text::TokenId last) const {
    if (stops_.found()) return StopReason::stop;
    return is_end(last) ? StopReason::end : StopReason::length;
  }

  /// Calls what may throw or stop the reply.
  template <class Event>
  void tell(Event&& event) {
    if (stop_.stop_requested()) over_ = true;
    if (over_) return;
    try {
      event();
    } catch (const std::exception& exception) {
      failure_ = Error{ErrorCode::internal,
                       fmt::format("A reply could not be passed on: {}", exception.what()), "", "try again"};
      over_ = true;
    }
  }

  void take(const Said& said) {
    tell([&] {
      Token token = describe(said);
      if (!is_end(token.id)) token.text = stops_.push(decoder_.push(token.piece));
      ended_ = stops_.found() || is_last(token.id, static_cast<int64_t>(reply_.tokens.size()) + 1);
      if (ended_) reply_.reason = reason_of(token.id);
      if (ended_) token.text += rest();
      reply_.text += token.text;
      forgotten_ = said.forgotten;
      reply_.tokens.push_back(std::move(token));
      over_ = ended_;
      if (events_.on_token) events_.on_token(reply_.tokens.back());
    });
  }

  std::string rest() {
    std::string tail = stops_.push(decoder_.finish());
    if (!stops_.found()) tail += stops_.finish();
    return tail;
  }

  /// The tokens that nobody was told of.
  void take_back(runtime::DecodeOutcome& figures) {
    const auto told = static_cast<int64_t>(reply_.tokens.size());
    const int64_t ahead = figures.generated - told;
    if (ahead <= 0) return;
    scheduler_.take_back(model_, sequence_, figures.length, ahead);
    figures.generated = told;
    figures.forgotten = forgotten_;
    figures.decode_ms = 0;
    for (size_t i = 1; i < reply_.tokens.size(); ++i) figures.decode_ms += reply_.tokens[i].step_ms;
  }

  Token describe(const Said& said) const {
    const kernels::Sample::Choice& choice = said.choice;
    Token token{choice.id, tokenizer_->piece(choice.id), {}, choice.logprob, {}, said.step_ms, said.position};
    for (int32_t i = 0; i < std::min(choice.top_count, kernels::Sample::kMaxTop); ++i)
      token.top.push_back({choice.top_ids[i], tokenizer_->piece(choice.top_ids[i]), choice.top_logprobs[i]});
    return token;
  }

  runtime::DeviceScheduler& scheduler_;
  const std::shared_ptr<runtime::Model> model_;
  const std::shared_ptr<const text::Tokenizer> tokenizer_;
  const std::shared_ptr<runtime::Sequence> sequence_;
  const Events events_;
  const std::stop_token stop_;
  const Post post_;
  const std::vector<text::TokenId> ends_;
  const int64_t max_tokens_;
  int64_t said_ = 0;               // scheduler's thread
  std::atomic<bool> over_{false};  // nothing is told any more
  text::StreamingDecoder decoder_;
  StopTexts stops_;
  bool ended_ = false;  // of itself: a token or a text that ends it, or as many as were wanted
  int64_t forgotten_ = 0;
  Reply reply_;
  std::optional<Error> failure_;
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

void submit_reply(const Engine& engine, std::shared_ptr<runtime::Sequence> sequence, Request request,
                  Events events, std::stop_token stop, Post post,
                  std::function<void(Result<Reply>)> on_done) {
  const bool tells_prefill = events.on_prefill != nullptr;
  const auto writing =
      std::make_shared<Writing>(engine, sequence, request, std::move(events), stop, std::move(post));
  runtime::DecodeRequest decode;
  decode.tokens = std::move(request.prompt);
  decode.sampling = request.sampling;
  decode.chain = std::move(request.chain);
  decode.top = std::clamp(request.top, 0, kernels::Sample::kMaxTop);
  decode.on_token = [writing](const runtime::TokenStep& step) { return writing->say(step); };
  if (tells_prefill)
    decode.on_prefill = [writing](const runtime::PrefillStep& step) { writing->tell_prefill(step); };
  decode.shift = request.shift;
  decode.share_prefix = request.share_prefix;
  decode.stop = std::move(stop);
  engine.scheduler.decode(
      engine.model, std::move(sequence), std::move(decode),
      [writing, on_done = std::move(on_done)](Result<runtime::DecodeOutcome> outcome) {
        writing->hand_on([writing = writing.get(), on_done, outcome = std::move(outcome)]() mutable {
          on_done(writing->finish(std::move(outcome)));
        });
      });
}

Result<Reply> write_reply(const Engine& engine, std::shared_ptr<runtime::Sequence> sequence, Request request,
                          const Events& events, std::stop_token stop) {
  const auto inbox = std::make_shared<Inbox>();
  std::optional<Result<Reply>> reply;
  submit_reply(
      engine, std::move(sequence), std::move(request), events, std::move(stop),
      [inbox](Inbox::Work work) { inbox->post(std::move(work)); },
      [&reply](Result<Reply> written) { reply = std::move(written); });
  inbox->work_until([&reply] { return reply.has_value(); });
  return *std::move(reply);
}

}  // namespace orrery::generate
