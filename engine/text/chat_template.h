// Chat templates: the Jinja that published templates use, as transformers renders it (trim_blocks and
// lstrip_blocks on, loop controls, generation blocks, in a sandbox that changes no value). Steps and output
// are bounded, so that no template runs without end.
#pragma once

#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/text/tokenizer.h"

namespace orrery::text {

struct Message {
  std::string role;  // system, user, assistant, tool
  std::string content;
  /// The whole message as a JSON object where it has more than these two: tool_calls, tool_call_id, name,
  /// reasoning_content, a content of parts, ... The template then sees just this; empty: role and content.
  std::string json = {};
};

/// What a template is rendered with. What is JSON is refused when it cannot be read.
struct TemplateInput {
  std::vector<Message> messages = {};
  bool add_generation_prompt = true;
  std::string bos = {}, eos = {};          // bos_token, eos_token
  std::string tools = {}, documents = {};  // JSON arrays; empty: none; no tools may also be left undefined
  std::vector<std::pair<std::string, std::string>> variables =
      {};                           // name and JSON value: enable_thinking, ...
  std::optional<std::tm> now = {};  // local time for strftime_now; none: the clock's
};

class ChatTemplate {
 public:
  /// A syntax error names its line.
  static Result<ChatTemplate> parse(std::string_view source);
  Result<std::string> render(const TemplateInput& input) const;
  /// Used when a model brings none: the turns of Gemma or of ChatML where its vocabulary has their marks,
  /// else "role: content" lines after what the tokenizer puts before a text.
  static ChatTemplate usual(const Tokenizer& tokenizer);

  ~ChatTemplate();
  ChatTemplate(ChatTemplate&&) noexcept;
  ChatTemplate& operator=(ChatTemplate&&) noexcept;

 private:
  struct Program;
  explicit ChatTemplate(std::shared_ptr<const Program> program);
  std::shared_ptr<const Program> program_;
};

}  // namespace orrery::text
