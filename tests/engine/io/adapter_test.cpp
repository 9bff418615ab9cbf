#include "tests/engine/io/io_testing.h"

namespace orrery::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Adapter, ReadsTargetsUnderTheBaseModelsNames) {
  auto opened = open_adapter(kData / "tiny_adapter");
  ASSERT_TRUE(opened.ok()) << opened.error().to_string();
  const Adapter& adapter = **opened;
  ASSERT_EQ(adapter.low_rank.size(), 1U);
  EXPECT_EQ(adapter.low_rank[0].target, "layer.weight");
  EXPECT_THAT(adapter.low_rank[0].a.shape, ElementsAre(1, 4));
  EXPECT_THAT(adapter.low_rank[0].b.shape, ElementsAre(3, 1));
  EXPECT_EQ(adapter.low_rank[0].scale, 2.0);
  ASSERT_EQ(adapter.whole.size(), 2U);
  EXPECT_EQ(adapter.whole[0].name, "pooler.bias");
  EXPECT_EQ(adapter.whole[1].name, "classifier.weight");
  EXPECT_EQ(*adapter.config.text("id2label.0"), "no");
}

class AdapterAttack : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"adapter_config.json", "adapter_model.safetensors", "config.json"})
      folder_.write(name, read_bytes(kData / "tiny_adapter" / name));
  }
  void expect(std::string_view words) {
    auto opened = open_adapter(folder_.path());
    ASSERT_FALSE(opened.ok());
    EXPECT_THAT(opened.error().to_string(), HasSubstr(std::string(words)));
  }
  TempFolder folder_;
};

TEST_F(AdapterAttack, SettingsThatWouldMergeWrongly) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"peft_type":"IA3","r":1,"lora_alpha":1})", "LORA"},
      {R"({"peft_type":"LORA","r":1,"lora_alpha":1,"use_dora":true})", "DoRA"},
      {R"({"peft_type":"LORA","r":1,"lora_alpha":1,"alpha_pattern":{"x":3}})", "pattern"},
      {R"({"peft_type":"LORA","r":1})", "lora_alpha"},
      {R"({"peft_type":"LORA","r":1,"lora_alpha":"32"})", "lora_alpha"},
      {R"({"peft_type":"LORA","r":1,"lora_alpha":1e308})", "lora_alpha"},
      {R"({"peft_type":"LORA","r":0,"lora_alpha":1})", "r is missing"},
      {R"({"peft_type":"LORA","r":1.5,"lora_alpha":1})", "r is missing"},
      {R"([1])", "root"}};
  for (const auto& [config, words] : cases) {
    SCOPED_TRACE(config);
    folder_.write("adapter_config.json", config);
    expect(words);
  }
}

TEST_F(AdapterAttack, TensorsThatDoNotPair) {
  const std::string a =
      R"("base_model.model.l.lora_A.weight":{"dtype":"F32","shape":[1,4],"data_offsets":[0,16]})";
  const std::string two =
      R"("base_model.model.l.lora_B.weight":{"dtype":"F32","shape":[2,2],"data_offsets":[16,32]})";
  const std::string flat =
      R"("base_model.model.l.lora_B.weight":{"dtype":"F32","shape":[4],"data_offsets":[16,32]})";
  const std::string again =
      R"("base_model.model.l.lora_A.x.weight":{"dtype":"F32","shape":[4],"data_offsets":[16,32]})";
  const std::string odd =
      R"("base_model.model.l.lora_embedding_A":{"dtype":"F32","shape":[4],"data_offsets":[16,32]})";
  const std::string b =
      R"("base_model.model.l.lora_B.weight":{"dtype":"F32","shape":[4,1],"data_offsets":[16,32]})";
  const std::string whole =
      R"("base_model.model.l.weight":{"dtype":"F32","shape":[4],"data_offsets":[32,48]})";
  const auto write = [&](const std::string& header, size_t data) {
    folder_.write("adapter_model.safetensors", safetensors(header, data));
  };
  write("{" + a + "}", 16);
  expect("only one of lora_A and lora_B");
  write("{" + a + "," + two + "}", 32);
  expect("ranks 1 and 2");
  write("{" + a + "," + flat + "}", 32);
  expect("not a matrix");
  write("{" + a + "," + again + "}", 32);
  expect("twice");
  write("{" + a + "," + odd + "}", 32);
  expect("not merged");
  write("{" + a + "," + b + "," + whole + "}", 48);
  expect("gives \"l.weight\" twice");
  write("{}", 0);
  expect("no tensors");
  std::filesystem::remove(folder_.path() / "adapter_model.safetensors");
  expect("lacks");
}

TEST_F(AdapterAttack, OfAnotherModel) {
  auto adapter = open_adapter(folder_.path());
  ASSERT_TRUE(adapter.ok());
  const auto base = [&](const std::string& name, int rows) {
    folder_.write("base", safetensors("{\"" + name + R"(":{"dtype":"F32","shape":[)" + std::to_string(rows) +
                                          R"(,4],"data_offsets":[0,)" + std::to_string(rows * 16) + "]}}",
                                      static_cast<size_t>(rows) * 16));
    auto opened = open(folder_.path() / "base");
    EXPECT_TRUE(opened.ok());
    return check_adapter(**opened, **adapter);
  };
  EXPECT_TRUE(base("layer.weight", 3).ok());
  EXPECT_TRUE(base("bert.layer.weight", 3).ok());
  EXPECT_THAT(base("layer.weight", 5).error().to_string(), HasSubstr("[3, 4], and the model's is [5, 4]"));
  EXPECT_THAT(base("other.weight", 3).error().to_string(), HasSubstr("does not have"));
}

}  // namespace
}  // namespace orrery::io
