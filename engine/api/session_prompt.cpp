// What a chat request becomes for the model: its tokens, and what gives way when the context is full.
#include <algorithm>

#include "engine/api/session_impl.h"

namespace orrery::api {
namespace {

constexpr int64_t kReplyShare = 4;  // of the context, kept free for the reply when messages are left out

size_t leading_system_messages(const std::vector<Message>& messages) {
  const auto first = std::find_if(messages.begin(), messages.end(),
                                  [](const Message& message) { return message.role != "system"; });
  return static_cast<size_t>(first - messages.begin());
}

/// Takes out the oldest turn after the system's messages: up to the person's next message, because many
/// templates want to begin with one. False when it is the last.
bool drop_oldest_turn(std::vector<Message>& messages) {
  const auto begin = messages.begin() + static_cast<std::ptrdiff_t>(leading_system_messages(messages));
  if (begin == messages.end()) return false;
  const auto next =
      std::find_if(begin + 1, messages.end(), [](const Message& message) { return message.role == "user"; });
  if (next == messages.end()) return false;
  messages.erase(begin, next);
  return true;
}

}  // namespace

/// A template writes the special tokens itself; a raw prompt gets what the model adds around a text, but no
/// closing token: the reply follows it.
Result<std::vector<int32_t>> SessionImpl::prompt_of(const ChatRequest& request) const {
  if (request.messages.empty() && request.raw.empty())
    return Error{ErrorCode::invalid_argument, "There is nothing to say", "",
                 "give a message or a raw prompt"};
  std::vector<int32_t> ids;
  if (request.messages.empty()) {
    ids = parts_.tokenizer->encode(request.raw, true);
    while (ids.size() > 1 && ids.back() == parts_.tokenizer->eos()) ids.pop_back();
  } else {
    ORRERY_ASSIGN(const std::string text, render(request.messages, request.template_options));
    ids = parts_.tokenizer->encode(text, false);
  }
  ORRERY_TRY(check_ids(ids));
  return ids;
}

/// What stays at the start when a context is shifted: the system's messages, or the token that begins a text.
int64_t SessionImpl::opening_tokens(const ChatRequest& request, const std::vector<int32_t>& ids) const {
  const bool begun = !ids.empty() && ids.front() == parts_.tokenizer->bos();
  std::vector<Message> opening(
      request.messages.begin(),
      request.messages.begin() + static_cast<std::ptrdiff_t>(leading_system_messages(request.messages)));
  if (opening.empty()) return begun ? 1 : 0;
  TemplateOptions options = request.template_options;
  options.generation_prompt = false;
  const Result<std::string> text = render(opening, options);  // some templates cannot begin without a person
  if (!text.ok()) return begun ? 1 : 0;
  return runtime::shared_tokens(parts_.tokenizer->encode(text.value(), false), ids);
}

Result<SessionImpl::FittedPrompt> SessionImpl::fitted_prompt(const ChatRequest& request) const {
  FittedPrompt prompt;
  ORRERY_ASSIGN(prompt.ids, prompt_of(request));
  if (!request.context_shift) return prompt;
  const int64_t context = parts_.model->options().context;
  const int64_t reply = std::clamp<int64_t>(std::min(request.max_tokens, context / kReplyShare), 1, context);
  ChatRequest shorter = request;
  while (static_cast<int64_t>(prompt.ids.size()) > context - reply && drop_oldest_turn(shorter.messages)) {
    ORRERY_ASSIGN(prompt.ids, prompt_of(shorter));
  }
  prompt.left_out_messages = static_cast<int64_t>(request.messages.size() - shorter.messages.size());
  prompt.shift = opening_tokens(request, prompt.ids);
  return prompt;
}

}  // namespace orrery::api
