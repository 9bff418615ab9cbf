#include "engine/text/chat_template.h"

#include "engine/text/jinja_eval.h"
#include "engine/text/jinja_parser.h"

namespace orrery::text {

struct ChatTemplate::Program {
  jinja::Block block;  // empty: the plain form
  bool plain = false;
};

namespace {

using jinja::Value;

constexpr size_t kLongestSource = 4'000'000;  // bytes; published templates stay under 100 kB

std::string render_plain(const std::vector<Message>& messages, bool add_generation_prompt) {
  std::string text;
  for (const Message& message : messages) text += message.role + ": " + message.content + "\n";
  if (add_generation_prompt) text += "assistant: ";
  return text;
}

Value message_value(const Message& message) {
  auto dict = std::make_shared<jinja::Dict>();
  dict->set("role", Value(message.role));
  dict->set("content", Value(message.content));
  return Value(std::move(dict));
}

}  // namespace

ChatTemplate::ChatTemplate(std::shared_ptr<const Program> program) : program_(std::move(program)) {}
ChatTemplate::~ChatTemplate() = default;
ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;
ChatTemplate& ChatTemplate::operator=(ChatTemplate&&) noexcept = default;

Result<ChatTemplate> ChatTemplate::parse(std::string_view source) {
  if (source.size() > kLongestSource)
    return Error{ErrorCode::unsupported, "The chat template is too long", "", "Use one of less than 4 MB"};
  ORRERY_ASSIGN(jinja::Block block, jinja::parse(source));
  return ChatTemplate(std::make_shared<const Program>(Program{std::move(block), false}));
}

ChatTemplate ChatTemplate::plain() {
  return ChatTemplate(std::make_shared<const Program>(Program{{}, true}));
}

Result<std::string> ChatTemplate::render(const std::vector<Message>& messages, bool add_generation_prompt,
                                         std::string_view bos, std::string_view eos) const {
  if (program_->plain) return render_plain(messages, add_generation_prompt);
  std::vector<Value> list;
  list.reserve(messages.size());
  for (const Message& message : messages) list.push_back(message_value(message));
  // What the reference passes to every template.
  return jinja::render(program_->block, {{"messages", Value(std::move(list))},
                                         {"add_generation_prompt", Value(add_generation_prompt)},
                                         {"bos_token", Value(std::string(bos))},
                                         {"eos_token", Value(std::string(eos))},
                                         {"tools", Value(jinja::None{})},
                                         {"documents", Value(jinja::None{})}});
}

}  // namespace orrery::text
