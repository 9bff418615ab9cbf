// Writes a reply: submits the prompt, turns tokens into text as they come, and knows when the reply ends. The
// scheduler's thread only hands tokens on; text is made, stop texts are looked for and events are called on a
// thread of whoever asked, so that no step waits for a listener. The model may be some tokens ahead by then:
// what it wrote past the end of the reply is taken back.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/runtime/device_scheduler.h"
#include "engine/text/tokenizer.h"

namespace orrery::generate {

struct Request {
  std::vector<text::TokenId> prompt;
  int64_t max_tokens = 0;  // 0: until the model or the context ends
  kernels::SamplingParams sampling;
  std::optional<runtime::ChainRequest> chain;
  int top = 0;                        // alternatives of each token
  bool continues_text = false;        // the reply's first word may begin with the space before it
  std::vector<std::string> stops;     // texts that end the reply; not part of it
  std::optional<int64_t> shift = {};  // this and the next as in runtime::DecodeRequest
  bool share_prefix = false;
};

struct Alternative {
  text::TokenId id = 0;
  std::string piece;
  float logprob = 0;
};

/// `text` is what became whole with this token; the texts of a reply's tokens join to the reply. The token
/// that ended the reply (end of turn) is told as well, with an empty text.
struct Token {
  text::TokenId id = 0;
  std::string piece, text;
  float logprob = 0;
  std::vector<Alternative> top;
  double step_ms = 0;
  int64_t position = 0;
};

struct Events {
  std::function<void(const runtime::PrefillStep&)> on_prefill;
  std::function<void(const Token&)> on_token;
};

enum class StopReason : uint8_t { end, length, stop, cancelled, context };
std::string_view name_of(StopReason reason);

struct Reply {
  std::string text;
  std::vector<Token> tokens;
  StopReason reason = StopReason::end;
  runtime::DecodeOutcome figures;
};

/// What the generator runs on.
struct Engine {
  runtime::DeviceScheduler& scheduler;
  std::shared_ptr<runtime::Model> model;
  std::shared_ptr<const text::Tokenizer> tokenizer;
};

/// Hands a piece of work to the thread on which events are called; what it is given runs in order. Called on
/// the scheduler's thread.
using Post = std::function<void(std::function<void()>)>;

/// Returns at once; `on_done` is called after all events, once, as work of `post` like them. A stop request
/// is no error: the reply as far as it was told comes back. Events are not called after one.
void submit_reply(const Engine& engine, std::shared_ptr<runtime::Sequence> sequence, Request request,
                  Events events, std::stop_token stop, Post post, std::function<void(Result<Reply>)> on_done);

/// Blocks until the reply ends. Events are called on the calling thread.
Result<Reply> write_reply(const Engine& engine, std::shared_ptr<runtime::Sequence> sequence, Request request,
                          const Events& events, std::stop_token stop);

}  // namespace orrery::generate
