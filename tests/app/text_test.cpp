// tokenize and render against the reference: exact.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run_cli.h"

namespace orrery::cli::test {
namespace {

using Ids = std::vector<int32_t>;

TEST(Tokenize, SmolLM2IsExact) {
  for (const auto& item : golden("smollm2.json", "tokenize")) {
    const auto text = item["text"].get<std::string>();
    const auto document = run({"tokenize", "smollm2", "--json"}, text).json();
    EXPECT_EQ(document["ids"].get<Ids>(), item["ids"].get<Ids>()) << text;
    EXPECT_EQ(document["pieces"].size(), document["ids"].size());
    const Outcome decoded = run({"tokenize", "smollm2", "--decode"}, document["ids"].dump());
    EXPECT_EQ(decoded.out, text);
  }
}

TEST(Tokenize, MiniLMIsExactWithSpecial) {
  for (const auto& item : golden("minilm.json", "tokenize")) {
    const auto document =
        run({"tokenize", "minilm", "--special", "--json"}, item["text"].get<std::string>()).json();
    EXPECT_EQ(document["ids"].get<Ids>(), item["ids"].get<Ids>()) << item["text"];
  }
}

TEST(Tokenize, NothingIsTrimmedAndAnyByteIsTaken) {
  EXPECT_EQ(run({"tokenize", "smollm2", "--json"}, "a \n").json()["pieces"], (nlohmann::json{"a", " \n"}));
  const Outcome bytes = run({"tokenize", "smollm2", "--json"}, std::string("\xE2\x82\0\xF0", 4));
  EXPECT_EQ(bytes.exit_code, 0) << bytes.err;
  EXPECT_EQ(run({"tokenize", "smollm2", "--decode"}, bytes.json()["ids"].dump()).out,
            std::string("\xE2\x82\0\xF0", 4));
  EXPECT_EQ(run({"tokenize", "smollm2", "--json"}, "").json()["ids"], nlohmann::json::array());
}

TEST(Tokenize, DecodeTakesNumbersListsAndItsOwnDocument) {
  for (const char* input :
       {"19556 28 905 17", "[19556, 28, 905, 17]", "{\"ids\":[19556,28,905,17]}", "19556,28,905,17\n"})
    EXPECT_EQ(run({"tokenize", "smollm2", "--decode"}, input).out, "Hello, world!") << input;
  for (const char* input : {"1 2 x", "[1.5]", "{\"ids\":3}", "99999999999"})
    expect_refused(run({"tokenize", "smollm2", "--decode"}, input));
}

TEST(Render, SmolLM2IsExact) {
  for (const auto& item : golden("smollm2.json", "chat")) {
    const std::string messages = scratch_file("messages.json", item["messages"].dump());
    const auto document = run({"render", "smollm2", "--messages", messages, "--json"}).json();
    EXPECT_EQ(document["text"], item["rendered"]);
    EXPECT_EQ(document["ids"].get<Ids>(), item["ids"].get<Ids>());
    EXPECT_EQ(run({"render", "smollm2", "--messages", messages}).out, item["rendered"].get<std::string>());
    const std::string without =
        run({"render", "smollm2", "--messages", messages, "--no-generation-prompt"}).out;
    EXPECT_EQ(without + "<|im_start|>assistant\n", item["rendered"].get<std::string>());
  }
}

TEST(Render, ATemplateOfItsOwn) {
  const std::string source = scratch_file(
      "t.jinja",
      "{{ bos_token }}{% for m in messages %}{{ m.role }}: {{ m.content|map(attribute='text')|join }}"
      "{{ eos_token }}\n{% endfor %}{{ tools[0].name }}{{ documents[0]|tojson }}{{ n + 1 }}");
  const std::string messages = scratch_file(
      "m.json",
      R"({"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]})");
  const Outcome outcome =
      run({"render", "--template", source, "--messages", messages, "--bos", "<s>", "--eos", "</s>", "--tools",
           scratch_file("tools.json", R"([{"name":"now"}])"), "--documents",
           scratch_file("documents.json", R"([{"z":1,"a":2}])"), "--var", "n=41"});
  EXPECT_EQ(outcome.out, "<s>user: ab</s>\nnow{\"z\": 1, \"a\": 2}42");
}

TEST(Render, WhatCannotBeRenderedIsRefused) {
  const std::string good = scratch_file("m.json", R"([{"role":"user","content":"x"}])");
  for (const char* bad :
       {"{", "[1]", "{}", R"([{"role":"user"}])", R"([{"content":"x"}])", R"([{"role":"user","content":3}])",
        R"([{"role":"user","content":[{"type":"image"}]}])"})
    expect_refused(run({"render", "smollm2", "--messages", scratch_file("bad.json", bad)}));
  expect_refused(
      run({"render", "smollm2", "--messages", scratch_file("deep.json", std::string(200'000, '['))}));
  expect_refused(run({"render", "smollm2", "--messages", "/no/such/file.json"}));
  for (const Words& more :
       {Words{"--var", "x"}, Words{"--var", "=1"}, Words{"--var", "x=nope"},
        Words{"--tools", scratch_file("no_tools.json", "{}")}, Words{"--tools", "/no/such"}}) {
    Words words{"render", "smollm2", "--messages", good};
    words.insert(words.end(), more.begin(), more.end());
    expect_refused(run(words));
  }
  for (const char* bad :
       {"{{", "{% for i in range(99999999) %}{% endfor %}", "{{ raise_exception('no') }}", "{{ 1 + 'a' }}"})
    expect_refused(run({"render", "--template", scratch_file("bad.jinja", bad), "--messages", good}));
}

}  // namespace
}  // namespace orrery::cli::test
