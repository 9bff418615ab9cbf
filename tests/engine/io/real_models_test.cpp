// The two default models and the sentiment adapter, as users have them.
#include "tests/engine/io/io_testing.h"

namespace orrery::io {
namespace {

using ::testing::ElementsAre;

std::filesystem::path models() {
  if (const char* folder = std::getenv("ORRERY_MODELS")) return folder;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"))
    return std::filesystem::path(cache) / "orrery/models";
  return std::filesystem::path(std::getenv("HOME")) / ".cache/orrery/models";
}

TEST(RealModels, SmolLM2) {
  auto opened = open(models() / "smollm2" / "SmolLM2-135M-Instruct.Q4_1.gguf");
  ASSERT_TRUE(opened.ok()) << opened.error().to_string();
  const ModelFile& file = **opened;
  EXPECT_EQ(file.architecture, "llama");
  EXPECT_EQ(file.tensors.size(), 272U);
  EXPECT_EQ(file.parameters(), 134'515'008U);
  EXPECT_EQ(file.file_bytes, 98'362'432U);
  EXPECT_EQ(file.metadata.integer("llama.block_count"), 30);
  EXPECT_EQ(file.metadata.texts("tokenizer.ggml.tokens")->size(), 49152U);
  const Tensor* down = file.find("blk.29.ffn_down.weight");
  ASSERT_TRUE(down);
  EXPECT_EQ(down->dtype, DType::q4_1);
  EXPECT_THAT(down->shape, ElementsAre(576, 1536));
  EXPECT_FALSE(file.chat_template.empty());
}

TEST(RealModels, MiniLM) {
  auto opened = open(models() / "minilm");
  ASSERT_TRUE(opened.ok()) << opened.error().to_string();
  const ModelFile& file = **opened;
  EXPECT_EQ(file.architecture, "bert");
  EXPECT_EQ(file.tensors.size(), 104U);
  EXPECT_EQ(*file.metadata.text("sentence_transformers.pooling"), "mean");
  EXPECT_EQ(file.metadata.flag("sentence_transformers.normalize"), true);
  EXPECT_EQ(file.metadata.integer("sentence_transformers.max_seq_length"), 256);
  EXPECT_THAT(file.find("embeddings.word_embeddings.weight")->shape, ElementsAre(30522, 384));
  EXPECT_FALSE(file.tokenizer_json.empty());
}

TEST(RealModels, SentimentFitsMiniLM) {
  auto base = open(models() / "minilm");
  auto adapter = open_adapter(std::filesystem::path(ORRERY_SOURCE_DIR) / "resources/models/sentiment");
  ASSERT_TRUE(base.ok());
  ASSERT_TRUE(adapter.ok()) << adapter.error().to_string();
  EXPECT_EQ((*adapter)->low_rank.size(), 36U);
  EXPECT_EQ((*adapter)->low_rank[0].scale, 2.0);
  EXPECT_EQ((*adapter)->whole.size(), 4U);
  EXPECT_EQ(*(*adapter)->config.text("id2label.2"), "positive");
  auto fits = check_adapter(**base, **adapter);
  EXPECT_TRUE(fits.ok()) << fits.error().to_string();
}

}  // namespace
}  // namespace orrery::io
