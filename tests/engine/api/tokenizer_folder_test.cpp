// Folders that have no tokenizer.json, against the classes of transformers that read them.
// tests/data/tokenizers/make_folders.py makes them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/api/text_support.h"

namespace orrery::api {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Ids = std::vector<int32_t>;

const fs::path kFolders = fs::path(ORRERY_TEST_DATA) / "tokenizers/folders";

Result<std::shared_ptr<const text::Tokenizer>> open(const fs::path& folder) {
  ORRERY_ASSIGN(const auto file, io::open_model(folder, {}, {}));
  return load_tokenizer(*file);
}

class TokenizerFolder : public testing::TestWithParam<const char*> {};

TEST_P(TokenizerFolder, IsReadAsTransformersReadsIt) {
  const auto made = open(kFolders / GetParam());
  ASSERT_TRUE(made.ok()) << made.error().to_string();
  const text::Tokenizer& tokenizer = **made;
  std::ifstream stream(kFolders / GetParam() / "expected.json");
  const json cases = json::parse(stream);
  ASSERT_GT(cases.size(), 50U);
  for (const json& item : cases) {
    const auto text = item["text"].get<std::string>();
    const auto ids = item["ids"].get<Ids>();
    EXPECT_EQ(tokenizer.encode(text, true), ids) << text;
    EXPECT_EQ(tokenizer.encode_pair(text, item["second"].get<std::string>()).ids, item["pair"].get<Ids>())
        << text;
    EXPECT_EQ(tokenizer.decode(ids), item["decoded"].get<std::string>()) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Classes, TokenizerFolder,
                         testing::Values("bert", "bert_cased", "distilbert", "mpnet", "gpt2", "gpt2_bos",
                                         "roberta", "qwen2", "llama", "llama_legacy"),
                         [](const auto& info) { return std::string(info.param); });

/// A folder of one's own, copied from one of those above.
class ChangedFolder : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "orrery_tokenizer_XXXXXX").string();
    ASSERT_TRUE(::mkdtemp(pattern.data()));
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  void copy(const std::string& name) const {
    fs::copy(kFolders / name, folder_, fs::copy_options::overwrite_existing | fs::copy_options::recursive);
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  std::string refusal() const {
    const auto made = open(folder_);
    return made.ok() ? "" : made.error().to_string();
  }
  fs::path folder_;
};

TEST_F(ChangedFolder, TheModelsTypeStandsInForTheClass) {
  copy("roberta");
  write("tokenizer_config.json", "{}");
  write("config.json", R"({"model_type": "roberta"})");
  const auto made = open(folder_);
  ASSERT_TRUE(made.ok()) << made.error().to_string();
  EXPECT_EQ((*made)->encode("", true), (Ids{0, 2}));
  write("config.json", R"({"model_type": "gpt_neo"})");
  EXPECT_EQ((*open(folder_))->encode("", true), Ids{});
}

TEST_F(ChangedFolder, UnknownClassesAreRefusedByName) {
  copy("gpt2");
  write("tokenizer_config.json", R"({"tokenizer_class": "CLIPTokenizer"})");
  EXPECT_NE(refusal().find("CLIPTokenizer"), std::string::npos) << refusal();
}

TEST_F(ChangedFolder, DamageIsRefused) {
  copy("gpt2");
  write("merges.txt", "#version: 0.2\nab\n");
  EXPECT_NE(refusal().find("merges.txt"), std::string::npos) << refusal();
  copy("gpt2");
  write("vocab.json", "[1]");
  EXPECT_NE(refusal(), "");
  write("vocab.json", "{\"a\":0},\"merges\":[\"a\"");
  EXPECT_NE(refusal(), "");
  copy("gpt2");
  write("added_tokens.json", R"({"<far>": 2000000000})");
  EXPECT_NE(refusal(), "");
  copy("llama");
  write("added_tokens.json", R"({"<far>": 2000000000})");
  EXPECT_NE(refusal(), "");
  write("tokenizer_config.json", "{");
  EXPECT_NE(refusal().find("tokenizer_config.json"), std::string::npos) << refusal();
}

}  // namespace
}  // namespace orrery::api
