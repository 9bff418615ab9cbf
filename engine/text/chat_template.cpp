#include "engine/text/chat_template.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/text/jinja_eval.h"
#include "engine/text/jinja_parser.h"

namespace orrery::text {

struct ChatTemplate::Program {
  jinja::Block block;  // empty: the plain form
  bool plain = false;
  std::string begin = {};  // of the plain form
};

namespace {

using jinja::Dict;
using jinja::Value;

constexpr size_t kLongestSource = 4'000'000;  // bytes; published templates stay under 100 kB

constexpr std::string_view kGemmaTurns = R"({{ bos_token }}
{%- if messages[0]['role'] == 'system' -%}
    {%- set opening = messages[0]['content'] + '\n\n' -%}
    {%- set turns = messages[1:] -%}
{%- else -%}
    {%- set opening = '' -%}
    {%- set turns = messages -%}
{%- endif -%}
{%- for message in turns -%}
    {{ '<start_of_turn>' + ('model' if message['role'] == 'assistant' else message['role']) + '\n'
       + (opening if loop.first else '') + message['content'] | trim + '<end_of_turn>\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}{{ '<start_of_turn>model\n' }}{%- endif -%})";
constexpr std::string_view kChatMl =
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + "
    "'<|im_end|>\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

/// Of the turns whose marks are in the vocabulary; empty: none is known.
std::string_view usual_source(const Tokenizer& tokenizer) {
  const auto has = [&](const char* token) { return tokenizer.find(token) >= 0; };
  if (has("<start_of_turn>") && has("<end_of_turn>")) return kGemmaTurns;
  return has("<|im_start|>") && has("<|im_end|>") ? kChatMl : std::string_view();
}

std::string render_plain(const TemplateInput& input, const std::string& begin) {
  std::string text = begin;
  for (const Message& message : input.messages) text += message.role + ": " + message.content + "\n";
  if (input.add_generation_prompt) text += "assistant: ";
  return text;
}

/// What the assistant thought is found under the names that templates use for it, whichever it came with.
std::shared_ptr<Dict> with_reasoning(std::shared_ptr<Dict> message) {
  for (const char* name : {"reasoning_content", "thinking", "reasoning"}) {
    const Value* found = message->find(name);
    if (!found || found->is_none()) continue;
    const Value reasoning = *found;
    auto made = std::make_shared<Dict>();
    made->set("thinking", reasoning);
    for (const auto& [key, value] : message->items()) made->set(key, value);
    made->set("reasoning_content", reasoning);
    return made;
  }
  return message;
}

Result<Value> message_value(const Message& message, size_t index, jinja::Budget& budget) {
  auto dict = std::make_shared<Dict>();
  dict->set("role", Value(message.role));
  dict->set("content", Value(message.content));
  if (message.json.empty()) return Value(std::move(dict));
  ORRERY_ASSIGN(const Value whole, jinja::from_json(message.json, fmt::format("Message {}", index), budget));
  if (!whole.dict())
    return Error{ErrorCode::invalid_argument, fmt::format("Message {} is no JSON object", index), "",
                 "Write it as {\"role\": ..., \"content\": ...}"};
  return Value(with_reasoning(std::make_shared<Dict>(*whole.dict())));
}

Result<Value> array_value(const std::string& json, std::string_view what, jinja::Budget& budget) {
  if (json.empty()) return Value(jinja::None{});
  ORRERY_ASSIGN(Value value, jinja::from_json(json, what, budget));
  const jinja::List* list = value.list();
  const auto is_object = [](const Value& item) { return item.dict() != nullptr; };
  if (!value.is_none() && !(list && std::all_of(list->items.begin(), list->items.end(), is_object)))
    return Error{ErrorCode::invalid_argument, fmt::format("{} are no list of JSON objects", what),
                 "chat template", "Write [{...}, ...]"};
  return value;
}

std::tm local_time() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  return local;
}

/// What the reference passes to every template, then the variables that were given.
Result<jinja::Context> context_of(const TemplateInput& input) {
  jinja::Budget budget;
  std::vector<Value> messages;
  for (size_t i = 0; i < input.messages.size(); ++i) {
    ORRERY_ASSIGN(Value message, message_value(input.messages[i], i, budget));
    messages.push_back(std::move(message));
  }
  ORRERY_ASSIGN(Value tools, array_value(input.tools, "The tools", budget));
  ORRERY_ASSIGN(Value documents, array_value(input.documents, "The documents", budget));
  jinja::Context context;
  context.now = input.now ? *input.now : local_time();
  Dict variables;
  variables.set("messages", Value(std::move(messages)));
  variables.set("tools", std::move(tools));
  variables.set("documents", std::move(documents));
  variables.set("add_generation_prompt", Value(input.add_generation_prompt));
  variables.set("bos_token", Value(input.bos));
  variables.set("eos_token", Value(input.eos));
  for (const auto& [name, json] : input.variables) {
    ORRERY_ASSIGN(Value value,
                  jinja::from_json(json, fmt::format("The variable \"{}\"", name.substr(0, 40)), budget));
    variables.set(name, std::move(value));
  }
  for (const auto& [name, value] : variables.items())
    context.variables.emplace_back(std::get<std::string>(name), value);
  return context;
}

/// Templates for tools walk them without asking whether there are any, which ends where they are none and
/// does nothing where they are undefined. False: there are tools.
bool leave_out_no_tools(jinja::Context& context) {
  return std::erase_if(context.variables, [](const auto& variable) {
           return variable.first == "tools" && variable.second.is_none();
         }) > 0;
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

ChatTemplate ChatTemplate::usual(const Tokenizer& tokenizer) {
  if (const std::string_view source = usual_source(tokenizer); !source.empty())
    if (Result<ChatTemplate> parsed = parse(source); parsed.ok()) return std::move(parsed).value();
  const std::vector<TokenId> ids = tokenizer.encode("", true);
  const bool begins = !ids.empty() && ids.front() == tokenizer.bos();
  return ChatTemplate(std::make_shared<const Program>(
      Program{{}, true, begins ? tokenizer.piece(tokenizer.bos()) : std::string()}));
}

Result<std::string> ChatTemplate::render(const TemplateInput& input) const {
  if (program_->plain) return render_plain(input, program_->begin);
  ORRERY_ASSIGN(jinja::Context context, context_of(input));
  Result<std::string> text = jinja::render(program_->block, context);
  const bool failed = !text.ok() && text.error().code == ErrorCode::invalid_argument;  // it was not stopped
  if (!failed || !leave_out_no_tools(context)) return text;
  Result<std::string> without = jinja::render(program_->block, context);
  return without.ok() ? without : text;
}

}  // namespace orrery::text
