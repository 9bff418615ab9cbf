// Any text as a chat template, rendered for a conversation with a tool call; after a zero byte, any text as
// the JSON of tools and of a variable.
#include <cstdlib>
#include <string_view>

#include "engine/text/chat_template.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery::text;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t zero = text.find('\0');
  const auto parsed = ChatTemplate::parse(text.substr(0, zero));
  if (!parsed.ok()) {
    if (parsed.error().what.empty() || parsed.error().where.empty()) std::abort();
    return 0;
  }
  TemplateInput input;
  input.messages = {{"system", "Be brief."},
                    {"user", "Hi"},
                    {"assistant", "", R"({"role": "assistant", "content": null, "reasoning_content": "so",
                        "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": {"a": [1, 2.5]}}}]})"},
                    {"tool", "", R"({"role": "tool", "content": "4", "tool_call_id": "1"})"}};
  input.bos = "<s>";
  input.now = std::tm{};
  if (zero != std::string_view::npos) {
    input.tools = text.substr(zero + 1);
    input.variables = {{"x", input.tools}};
  }
  const auto rendered = parsed->render(input);
  if (!rendered.ok() && rendered.error().what.empty()) std::abort();
  return 0;
}
