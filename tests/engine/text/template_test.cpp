// Chat templates: exact against the reference, for the default model and for what tests/data/templates holds
// (families of templates over conversations with tools, and the language feature by feature), and bounded for
// templates that were made to harm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "engine/text/chat_template.h"
#include "test_models.h"

namespace orrery::text {
namespace {

using ::testing::HasSubstr;

std::vector<Message> messages_of(const nlohmann::json& list) {
  std::vector<Message> messages;
  for (const auto& item : list) messages.push_back({item["role"], item["content"]});
  return messages;
}

Result<std::string> render(std::string_view source, TemplateInput input = {}) {
  auto parsed = ChatTemplate::parse(source);
  if (!parsed) return parsed.error();
  input.bos = "<s>";
  input.eos = "</s>";
  return parsed->render(input);
}

std::string text_of(std::string_view source) {
  auto result = render(source);
  return result ? *result : "ERROR " + result.error().to_string();
}

std::string error_of(std::string_view source) {
  auto result = render(source);
  return result ? "rendered: " + result->substr(0, 200) : result.error().to_string();
}

TEST(Template, SmolLM2RendersAsTheReference) {
  const auto metadata = test::smollm2_metadata();
  auto parsed = ChatTemplate::parse(*metadata.text("tokenizer.chat_template"));
  ASSERT_TRUE(parsed.ok()) << parsed.error().to_string();
  for (const auto& item : test::golden("smollm2.json", "chat")) {
    const auto result = parsed->render({messages_of(item["messages"]), true, "<|im_start|>", "<|im_end|>"});
    ASSERT_TRUE(result.ok()) << result.error().to_string();
    EXPECT_EQ(*result, item["rendered"].get<std::string>());
  }
}

const std::string kTemplates = ORRERY_SOURCE_DIR "/tests/data/templates/";

/// As the script that made the expected texts gives it to the reference.
TemplateInput input_of(const nlohmann::ordered_json& conversation, const std::string& now) {
  TemplateInput input;
  for (const auto& message : conversation["messages"]) input.messages.push_back({"", "", message.dump()});
  input.add_generation_prompt = conversation.value("add_generation_prompt", true);
  if (conversation.contains("tools")) input.tools = conversation["tools"].dump();
  if (conversation.contains("documents")) input.documents = conversation["documents"].dump();
  if (conversation.contains("variables"))
    for (const auto& [name, value] : conversation["variables"].items())
      input.variables.emplace_back(name, value.dump());
  std::tm time{};
  EXPECT_NE(strptime(now.c_str(), "%Y-%m-%dT%H:%M:%S", &time), nullptr);
  input.now = time;
  return input;
}

TEST(Template, AgreesWithTheReference) {
  const auto document = nlohmann::ordered_json::parse(test::read_file(kTemplates + "templates.json"));
  ASSERT_GT(document["cases"].size(), 250U);
  for (const auto& item : document["cases"]) {
    const std::string conversation = item["conversation"];
    const std::string name = item.value("family", item.value("name", "")) + " with " + conversation;
    const std::string source = item.contains("family")
                                   ? test::read_file(kTemplates + "families/" + std::string(item["family"]))
                                   : std::string(item["template"]);
    const auto result = render(source, input_of(document["conversations"][conversation], document["now"]));
    if (item.contains("refused")) {
      ASSERT_FALSE(result.ok()) << name << " gave " << *result;
      EXPECT_THAT(result.error().what, HasSubstr(std::string(item["refused"]))) << name;
    } else {
      EXPECT_EQ(result.ok() ? *result : result.error().to_string(), std::string(item["expected"])) << name;
    }
  }
}

TEST(Template, WhatIsGivenAsJsonMustBeJson) {
  const auto refused = [](TemplateInput input) {
    const auto result = render("{{ tools }}", std::move(input));
    return result ? "rendered: " + *result : result.error().what;
  };
  EXPECT_THAT(refused({.messages = {{"user", "x", "{"}}}), HasSubstr("Message 0 cannot be read"));
  EXPECT_THAT(refused({.messages = {{"user", "x", "[1]"}}}), HasSubstr("Message 0 is no JSON object"));
  EXPECT_THAT(refused({.tools = "{}"}), HasSubstr("The tools are no list"));
  EXPECT_THAT(refused({.tools = "[1]"}), HasSubstr("The tools are no list"));
  EXPECT_THAT(refused({.documents = "[\"a\"]"}), HasSubstr("The documents are no list"));
  EXPECT_THAT(refused({.variables = {{"x", "nope"}}}), HasSubstr("The variable \"x\" cannot be read"));
  EXPECT_THAT(refused({.tools = std::string(1000, '[')}), HasSubstr("nested too deeply"));
}

TEST(Template, VariablesComeBeforeWhatTheEngineGives) {
  const auto result =
      render("{{ bos_token }}{{ n }}{{ big > 1e18 }}",
             {.variables = {{"bos_token", "\"!\""}, {"n", "[1, null]"}, {"big", "99999999999999999999"}}});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(*result, "![1, None]True");
}

/// BOS before each text, and these tokens beside it.
std::shared_ptr<const Tokenizer> with_tokens(std::vector<std::string> tokens) {
  tokens.insert(tokens.begin(), {"<unk>", "<s>"});
  Metadata metadata;
  metadata.set("tokenizer.ggml.model", std::string("llama"));
  metadata.set("tokenizer.ggml.scores", std::vector<double>(tokens.size()));
  metadata.set("tokenizer.ggml.token_type", std::vector<int64_t>(tokens.size(), 3));
  metadata.set("tokenizer.ggml.tokens", std::move(tokens));
  metadata.set("tokenizer.ggml.bos_token_id", int64_t{1});
  auto made = tokenizer_from_gguf(metadata);
  EXPECT_TRUE(made.ok());
  return *made;
}

TEST(Template, AModelWithoutOneGetsTheTurnsOfItsTokens) {
  const TemplateInput input{
      .messages = {{"system", "Be kind."}, {"user", " Hi "}, {"assistant", "Yes?"}, {"user", "?"}},
      .bos = "<s>"};
  const auto rendered = [&](std::vector<std::string> tokens) {
    const auto result = ChatTemplate::usual(*with_tokens(std::move(tokens))).render(input);
    return result.ok() ? *result : result.error().to_string();
  };
  EXPECT_EQ(rendered({"a"}), "<s>system: Be kind.\nuser:  Hi \nassistant: Yes?\nuser: ?\nassistant: ");
  EXPECT_EQ(rendered({"<start_of_turn>", "<end_of_turn>"}),
            "<s><start_of_turn>user\nBe kind.\n\nHi<end_of_turn>\n<start_of_turn>model\nYes?<end_of_turn>\n"
            "<start_of_turn>user\n?<end_of_turn>\n<start_of_turn>model\n");
  EXPECT_EQ(
      rendered({"<|im_start|>", "<|im_end|>"}),
      "<|im_start|>system\nBe kind.<|im_end|>\n<|im_start|>user\n Hi <|im_end|>\n<|im_start|>assistant\nYes?"
      "<|im_end|>\n<|im_start|>user\n?<|im_end|>\n<|im_start|>assistant\n");
}

TEST(Template, SyntaxErrorsNameTheirLine) {
  for (const char* source : {"a\n{{ x",
                             "a\n{% if x %}",
                             "a\n{% if %}{% endif %}",
                             "a\n{{ 1 + }}",
                             "a\n{{ 'x }}",
                             "a\n{# x",
                             "a\n{% raw %}",
                             "a\n{% nope %}",
                             "a\n{% endif %}",
                             "a\n{{ ) }}",
                             "a\n{{ [1 }}",
                             "a\n{{ a b }}",
                             "a\n{% for x %}{% endfor %}",
                             "a\n{% break %}",
                             "a\n{{ $ }}",
                             "a\n{{ 99999999999999999999 }}",
                             "a\n{% set %}",
                             "a\n{{ '\\x' }}",
                             "a\n{% for x in y recursive z %}{% endfor %}",
                             "a\n{% include 'x' %}",
                             "a\n{% from 'x' import y %}",
                             "a\n{% call x %}{% endcall %}",
                             "a\n{% macro f(a=1, b) %}{% endmacro %}",
                             "a\n{% for x in y %}{% macro f() %}{% break %}{% endmacro %}{% endfor %}",
                             "a\n{{ x[] }}",
                             "a\n{{ x[1:2:3:4] }}",
                             "a\n{% macro f() %}",
                             "a\n{% set a.b.c = 1 %}"}) {
    const auto parsed = ChatTemplate::parse(source);
    ASSERT_FALSE(parsed.ok()) << source;
    EXPECT_THAT(parsed.error().where, HasSubstr("line ")) << source;
    EXPECT_FALSE(parsed.error().advice.empty());
  }
  EXPECT_THAT(ChatTemplate::parse("a\nb\n{{ * }}").error().where, HasSubstr("line 3"));
}

TEST(Template, RunErrorsNameTheirLine) {
  for (const char* source :
       {"a\n{{ 1 + 'x' }}", "a\n{{ nope.x }}", "a\n{{ nope() }}", "a\n{{ 1 / 0 }}", "a\n{{ 1 // 0 }}",
        "a\n{{ 1 % 0 }}", "a\n{{ 'a'.nope() }}", "a\n{{ 1|nope }}", "a\n{{ 1 is nope }}",
        "a\n{% for x in 1 %}{% endfor %}", "a\n{% set x.y = 1 %}", "a\n{{ 1 < 'a' }}", "a\n{{ -'a' }}",
        "a\n{% for a, b in [1] %}{% endfor %}", "a\n{{ 9223372036854775807 + 1 }}", "a\n{{ 10 ** 40 }}",
        "a\n{{ nope|tojson }}", "a\n{{ [1, 'a']|sort }}", "a\n{{ 'a'[::0] }}"}) {
    const auto result = render(source);
    ASSERT_FALSE(result.ok()) << source << " gave " << *result;
    EXPECT_EQ(result.error().where, "template line 2") << source << result.error().to_string();
  }
  EXPECT_EQ(text_of("{{ (-9223372036854775807 - 1) // -1 if false else 'fine' }}"), "fine");
  EXPECT_THAT(error_of("{{ (-9223372036854775807 - 1) // -1 }}"), HasSubstr("64 bits"));
  EXPECT_EQ(text_of("{{ (-9223372036854775807 - 1) % -1 }}"), "0");
}

double seconds(std::string_view source, std::string& error) {
  const auto start = std::chrono::steady_clock::now();
  error = error_of(source);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

#ifdef __SANITIZE_ADDRESS__
constexpr double kMostSeconds = 20;  // instrumented code is several times slower
#else
constexpr double kMostSeconds = 5;
#endif

TEST(HostileTemplate, EndsAndStaysSmall) {
  for (const char* source :
       {"{% for a in range(100000000) %}x{% endfor %}",
        "{% for a in range(2000) %}{% for b in range(2000) %}{% endfor %}{% endfor %}",
        "{% set ns = namespace(x='a') %}{% for i in range(100) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
        "{% set ns = namespace(x=[0]) %}{% for i in range(100) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
        "{% set ns = namespace(x=[0]) %}{% for i in range(9000) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}",
        "{% set ns = namespace(x=[0]) %}{% for i in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ "
        "ns.x }}",
        "{% set a = namespace(x=[0]) %}{% set b = namespace(x=[0]) %}{% for i in range(60) %}{% set a.x = "
        "[a.x, a.x] %}{% set b.x = [b.x, b.x] %}{% endfor %}{{ a.x == b.x }}{{ a.x == b.x }}{{ a.x == b.x }}",
        "{% for i in range(1000) %}{{ 'x' * 100000 }}{% endfor %}",
        "{{ 'x' * 9000000000 }}",
        "{{ [0] * 9000000000 }}",
        "{% set ns = namespace() %}{% set ns.me = ns %}{{ ns|tojson }}",
        "{% set ns = namespace() %}{% set ns.me = [ns] %}{{ ns }}",
        "{% for i in range(300) %}{% set x %}{{ 'y' * 1000000 }}{% endset %}{% endfor %}",
        "{{ ('a' * 4000000)|replace('a', 'bbbbbbbbbb') }}",
        "{{ ('a' * 4000000).replace('', 'bbbbbbbbbb') }}",
        "{% for i in range(100000) %}{% for j in range(100000) %}{% break %}{% endfor %}{% endfor %}",
        "{{ range(90000)|list|unique|list|length }}",
        "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
        "{% macro f(n) %}{% for i in range(9) %}{{ f(n) }}{% endfor %}{% endmacro %}{{ f(1) }}",
        "{% for x in [[[[1]]]] recursive %}{{ loop([x]) }}{% endfor %}",
        "{% macro f() %}{{ caller() }}{% endmacro %}{% for i in range(90000) %}{% call f() %}{{ 'x' * 1000 "
        "}}{% endcall %}{% endfor %}",
        "{% set ns = namespace() %}{% for i in range(9000) %}{% macro f() %}{% endmacro %}{% set p = ns.f "
        "%}{% set ns.f = f %}{% endfor %}{{ 1 + '' }}",
        "{{ '{:>99999999999}'.format(1) }}",
        "{{ '%999999999d' % 1 }}",
        "{{ '%.999999999f' % 1 }}",
        "{{ 'a'|center(999999999) }}",
        "{{ 'a'.ljust(999999999) }}",
        "{{ 'a'.zfill(999999999) }}",
        "{{ [1]|batch(999999999, 'x')|list }}",
        "{{ [1]|slice(999999999)|list }}",
        "{{ ('a\n' * 4000000)|indent(60) }}",
        "{{ 'a'|indent(99999999999) * 99999999999 }}",
        "{{ range(99000)|groupby('x')|list|sort }}{{ range(99000)|map('string')|sort|unique|list }}",
        "{% filter replace('', 'x')|replace('', 'xxxxxxxx')|replace('', 'xxxxxxxx') %}{{ 'a' * 1000000 }}{% "
        "endfilter %}",
        "{{ 0|nope }}{{ 2 ** 999999999999 }}"}) {
    std::string error;
    EXPECT_LT(seconds(source, error), kMostSeconds) << source;
    EXPECT_THAT(error, HasSubstr("The chat template ")) << source;
  }
  EXPECT_EQ(text_of("{{ 1 ** 999999999999 }}{{ (-1) ** 999999999999 }}{{ 0 ** 999999999999 }}"), "1-10");
}

TEST(HostileTemplate, DeepNesting) {
  const auto repeat = [](std::string_view part, int times) {
    std::string text;
    for (int i = 0; i < times; ++i) text += part;
    return text;
  };
  for (const std::string& source :
       {"{{ " + repeat("(", 100'000) + " }}", "{{ " + repeat("[", 100'000) + " }}",
        "{{ " + repeat("not ", 100'000) + "1 }}", "{{ " + repeat("-", 100'000) + "1 }}",
        "{{ 1" + repeat(" + 1", 100'000) + " }}", "{{ a" + repeat(".b", 100'000) + " }}",
        "{{ a" + repeat("|trim", 100'000) + " }}", repeat("{% if 1 %}", 100'000),
        repeat("{% for a in b %}", 100'000), "{{ 1" + repeat(" if 1 else 1", 100'000) + " }}",
        "{{ a" + repeat("[a", 100'000) + " }}", "{{ 2" + repeat("**2", 100'000) + " }}",
        "{{ {" + repeat("'a':{", 100'000) + " }}", "{{ 1" + repeat(" if 1", 100'000) + " }}"})
    EXPECT_FALSE(ChatTemplate::parse(source).ok()) << source.substr(0, 20);
  EXPECT_EQ(text_of("{{ " + repeat("(", 20) + "1" + repeat(")", 20) + repeat(" + 1", 100) + " }}"), "101");
}

TEST(HostileTemplate, RandomSourcesDoNotFail) {
  static constexpr const char* kParts[] = {
      "{{",     "}}",       "{%",   "%}",  "{#",      "#}", "if", "for",  "in", "set",
      "endfor", "endif",    "x",    "'a'", "1",       "(",  ")",  "[",    "]",  ":",
      ".",      "|",        "trim", "is",  "defined", "+",  "~",  "-",    "\n", " ",
      "else",   "messages", "loop", ",",   "=",       "==", "\\", "\xFF", "{",  "}"};
  uint64_t state = 1;
  int rendered = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string source;
    for (int i = 0; i < 12; ++i) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      source += kParts[(state >> 33) % std::size(kParts)];
      if ((state >> 60) % 2) source += ' ';
    }
    rendered += render(source, {.messages = {{"user", "hi"}}}).ok();
  }
  EXPECT_GT(rendered, 100);
}

}  // namespace
}  // namespace orrery::text
