// Chat templates: the subset of Jinja 2 that published templates use, as transformers renders it (trim_blocks
// and lstrip_blocks on). Steps and output are bounded, so that no template runs without end.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace orrery::text {

struct Message {
  std::string role;  // system, user, assistant
  std::string content;
};

class ChatTemplate {
 public:
  /// A syntax error names its line.
  static Result<ChatTemplate> parse(std::string_view source);
  Result<std::string> render(const std::vector<Message>& messages, bool add_generation_prompt,
                             std::string_view bos, std::string_view eos) const;
  /// Used when a model brings none: "role: content" lines.
  static ChatTemplate plain();

  ~ChatTemplate();
  ChatTemplate(ChatTemplate&&) noexcept;
  ChatTemplate& operator=(ChatTemplate&&) noexcept;

 private:
  struct Program;
  explicit ChatTemplate(std::shared_ptr<const Program> program);
  std::shared_ptr<const Program> program_;
};

}  // namespace orrery::text
