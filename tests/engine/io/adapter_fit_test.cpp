// Adapters on models whose files use other names, or another order of rows.
#include "engine/io/adapter_names.h"
#include "tests/engine/io/io_testing.h"

namespace orrery::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Two layers' worth of names, eight rows of queries in two heads, four rows of keys in one.
std::shared_ptr<ModelFile> model(Format format, const std::string& architecture) {
  const bool gguf = format == Format::gguf;
  auto file = std::make_shared<ModelFile>();
  file->format = format;
  file->path = "model";
  file->architecture = architecture;
  const std::string prefix = gguf ? architecture + ".attention." : "";
  file->metadata.set(prefix + (gguf ? "head_count" : "num_attention_heads"), int64_t{2});
  file->metadata.set(prefix + (gguf ? "head_count_kv" : "num_key_value_heads"), int64_t{1});
  const auto add = [&](const std::string& hugging_face, const std::string& own, int64_t rows) {
    Tensor tensor;
    tensor.name = gguf ? own : hugging_face;
    tensor.shape = {rows, 4};
    file->by_name[tensor.name] = file->tensors.size();
    file->tensors.push_back(std::move(tensor));
  };
  add("model.layers.0.self_attn.q_proj.weight", "blk.0.attn_q.weight", 8);
  add("model.layers.0.self_attn.k_proj.weight", "blk.0.attn_k.weight", 4);
  add("model.layers.0.self_attn.o_proj.weight", "blk.0.attn_output.weight", 4);
  add("model.layers.11.mlp.down_proj.weight", "blk.11.ffn_down.weight", 4);
  add("lm_head.weight", "output.weight", 16);
  return file;
}

/// A PEFT folder of rank 1 whose B holds its row numbers.
class Peft : public ::testing::Test {
 protected:
  std::shared_ptr<const Adapter> adapter(const std::vector<std::pair<std::string, int>>& modules) {
    std::string header = "{";
    Bytes data;
    const auto add = [&](const std::string& name, int rows, int cols) {
      const size_t begin = data.text.size();
      for (int i = 0; i < rows * cols; ++i) data.number(static_cast<float>(i));
      header += (header.size() > 1 ? ",\"" : "\"") + name + R"(":{"dtype":"F32","shape":[)" +
                std::to_string(rows) + "," + std::to_string(cols) + R"(],"data_offsets":[)" +
                std::to_string(begin) + "," + std::to_string(data.text.size()) + "]}";
    };
    for (const auto& [module, rows] : modules) {
      add("base_model.model." + module + ".lora_A.weight", 1, 4);
      add("base_model.model." + module + ".lora_B.weight", rows, 1);
    }
    header += "}";
    folder_.write("adapter_config.json", R"({"peft_type":"LORA","r":1,"lora_alpha":2})");
    folder_.write("adapter_model.safetensors", Bytes().u64(header.size()).raw(header).raw(data.text).text);
    auto opened = open_adapter(folder_.path());
    EXPECT_TRUE(opened.ok()) << opened.error().to_string();
    return opened.ok() ? *opened : nullptr;
  }
  TempFolder folder_;
};

std::vector<float> rows_of_b(const Adapter& adapter, std::string_view target) {
  for (const Adapter::LowRank& low_rank : adapter.low_rank)
    if (low_rank.target == target) {
      std::vector<float> rows(low_rank.b.data.size() / sizeof(float));
      std::memcpy(rows.data(), low_rank.b.data.data(), low_rank.b.data.size());
      return rows;
    }
  return {};
}

const std::vector<std::pair<std::string, int>> kModules = {{"model.layers.0.self_attn.q_proj", 8},
                                                           {"model.layers.0.self_attn.k_proj", 4},
                                                           {"model.layers.0.self_attn.o_proj", 4},
                                                           {"model.layers.11.mlp.down_proj", 4},
                                                           {"lm_head", 16}};

TEST_F(Peft, OnGgufHasItsNamesAndTheOrderOfItsRows) {
  const auto base = model(Format::gguf, "llama");
  auto fitted = fit_adapter(*base, adapter(kModules));
  ASSERT_TRUE(fitted.ok()) << fitted.error().to_string();
  EXPECT_TRUE(check_adapter(*base, **fitted).ok()) << check_adapter(*base, **fitted).error().to_string();
  // reshape(heads, 2, dim / 2).swapaxes(1, 2), as the converter does it
  EXPECT_THAT(rows_of_b(**fitted, "blk.0.attn_q.weight"), ElementsAre(0, 2, 1, 3, 4, 6, 5, 7));
  EXPECT_THAT(rows_of_b(**fitted, "blk.0.attn_k.weight"), ElementsAre(0, 2, 1, 3));
  EXPECT_THAT(rows_of_b(**fitted, "blk.0.attn_output.weight"), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(rows_of_b(**fitted, "blk.11.ffn_down.weight"), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(rows_of_b(**fitted, "output.weight").size(), 16U);
}

TEST_F(Peft, OnGgufWithHalvesRopeKeepsItsRows) {
  auto fitted = fit_adapter(*model(Format::gguf, "qwen2"), adapter(kModules));
  ASSERT_TRUE(fitted.ok()) << fitted.error().to_string();
  EXPECT_THAT(rows_of_b(**fitted, "blk.0.attn_q.weight"), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST_F(Peft, OnHuggingFaceFoldersIsAsItIs) {
  const auto base = model(Format::hugging_face_folder, "llama");
  const auto own = adapter(kModules);
  auto fitted = fit_adapter(*base, own);
  ASSERT_TRUE(fitted.ok());
  EXPECT_EQ(*fitted, own);
  EXPECT_TRUE(check_adapter(*base, **fitted).ok());
}

TEST_F(Peft, OfAModelWithoutItsHeadFits) {
  for (const auto& base : {model(Format::hugging_face_folder, "llama"), model(Format::gguf, "llama")}) {
    auto fitted = fit_adapter(*base, adapter({{"layers.0.self_attn.q_proj", 8}}));
    ASSERT_TRUE(fitted.ok());
    EXPECT_TRUE(check_adapter(*base, **fitted).ok());
  }
}

TEST_F(Peft, MisfitsAreNamed) {
  const auto base = model(Format::gguf, "llama");
  const auto refusal = [&](const std::vector<std::pair<std::string, int>>& modules) {
    auto fitted = fit_adapter(*base, adapter(modules));
    if (!fitted.ok()) return fitted.error().to_string();
    const auto checked = check_adapter(*base, **fitted);
    return checked.ok() ? std::string() : checked.error().to_string();
  };
  EXPECT_THAT(refusal({{"model.layers.5.self_attn.q_proj", 8}}),
              HasSubstr("\"blk.5.attn_q.weight\", which the model"));
  EXPECT_THAT(refusal({{"model.layers.0.self_attn.q_proj", 4}}),
              HasSubstr("as [4, 4], and the model's is [8, 4]"));
  EXPECT_THAT(refusal({{"model.layers.0.self_attn.q_proj", 6}}),
              HasSubstr("has 6 rows, which are not 2 heads"));
  EXPECT_THAT(refusal({{"model.layers.0.conv", 4}}),
              HasSubstr("\"model.layers.0.conv.weight\", which the model"));
  for (const int64_t heads : {int64_t{0}, int64_t{-2}, INT64_MAX}) {
    base->metadata.set("llama.attention.head_count", heads);
    EXPECT_NE(refusal({{"model.layers.0.self_attn.q_proj", 8}}), "") << heads;
  }
}

TEST(AdapterNames, AreTheFoldersAndTheGgufFilesOwn) {
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"llama", "model.layers.12.mlp.gate_proj.weight", "blk.12.ffn_gate.weight"},
      {"qwen2", "model.layers.0.self_attn.q_proj.bias", "blk.0.attn_q.bias"},
      {"gemma3_text", "lm_head.weight", "output.weight"},
      {"gpt2", "transformer.h.3.attn.c_attn.weight", "blk.3.attn_qkv.weight"},
      {"gpt2", "transformer.h.3.mlp.c_proj.weight", "blk.3.ffn_down.weight"},
      {"bert", "encoder.layer.5.attention.self.value.weight", "blk.5.attn_v.weight"},
      {"bert", "classifier.bias", "cls.output.bias"},
      {"bert", "pooler.dense.weight", "cls.weight"},
      {"roberta", "encoder.layer.5.output.dense.weight", "blk.5.ffn_down.weight"},
      {"xlm-roberta", "classifier.dense.weight", "cls.weight"},
      {"roberta", "classifier.out_proj.weight", "cls.output.weight"},
      {"distilbert", "pre_classifier.weight", "cls.weight"},
      {"modernbert", "layers.3.attn.Wqkv.weight", "blk.3.attn_qkv.weight"},
      {"modernbert", "head.dense.weight", "cls.weight"},
      {"distilbert", "transformer.layer.1.attention.out_lin.weight", "blk.1.attn_output.weight"}};
  for (const auto& [architecture, folder, gguf] : cases) {
    EXPECT_EQ(gguf_name_of(folder), gguf);
    EXPECT_EQ(folder_name_of(gguf, architecture), folder);
  }
  for (const char* name :
       {"", ".", "blk.", "blk.0", "model.layers.", "model.layers.0", "h.0.", "transformer.h..x.weight"}) {
    EXPECT_EQ(gguf_name_of(name), name);
    EXPECT_EQ(folder_name_of(name, "llama"), name);
  }
}

TEST(GgufAdapter, ReadsWhatTheReferenceWriterWrote) {
  auto opened = open_adapter(kData / "tiny_adapter.gguf");
  ASSERT_TRUE(opened.ok()) << opened.error().to_string();
  ASSERT_EQ((*opened)->low_rank.size(), 1U);
  EXPECT_EQ((*opened)->low_rank[0].target, "blk.0.attn_q.weight");
  EXPECT_EQ((*opened)->low_rank[0].scale, 4.0);
  auto fitted = fit_adapter(*model(Format::gguf, "llama"), *opened);
  ASSERT_TRUE(fitted.ok());
  EXPECT_EQ(*fitted, *opened);  // its rows stand as the model's do
}

TEST(GgufAdapter, OnHuggingFaceFoldersIsTurnedBack) {
  const auto base = model(Format::hugging_face_folder, "llama");
  auto opened = open_adapter(kData / "tiny_adapter.gguf");
  ASSERT_TRUE(opened.ok());
  auto fitted = fit_adapter(*base, *opened);
  ASSERT_TRUE(fitted.ok()) << fitted.error().to_string();
  EXPECT_TRUE(check_adapter(*base, **fitted).ok());
  EXPECT_THAT(rows_of_b(**fitted, "model.layers.0.self_attn.q_proj.weight"),
              ElementsAre(0, 2, 1, 3, 4, 6, 5, 7));
}

TEST(GgufAdapter, IsNoModel) {
  expect_refused(open(kData / "tiny_adapter.gguf"), ErrorCode::invalid_argument, "adapter, not a model");
}

TEST(GgufAdapter, AttacksAreRefused) {
  const TempFolder folder;
  const auto made = [](const std::string& type, float alpha, const std::string& tensor) {
    return Bytes()
        .gguf(1, 3)
        .text_key("general.type", "adapter")
        .text_key("adapter.type", type)
        .string("adapter.lora.alpha")
        .u32(6)
        .number(alpha)
        .tensor(tensor, {4, 1}, 0, 0)
        .pad(32)
        .zeros(16)
        .text;
  };
  const std::pair<std::string, const char*> cases[] = {
      {made("ia3", 1, "t.lora_a"), "type lora"},
      {made("lora", INFINITY, "t.lora_a"), "no usable number"},
      {made("lora", 1, "t.weight"), "neither lora_a nor lora_b"},
      {made("lora", 1, "t.lora_a"), "only one of"},
      {read_bytes(kData / "tiny.gguf"), "no adapter"},
      {read_bytes(kData / "tiny_f8.safetensors"), "no adapter"}};
  for (const auto& [bytes, words] : cases) {
    auto opened = open_adapter(folder.write("a.gguf", bytes));
    ASSERT_FALSE(opened.ok()) << words;
    EXPECT_THAT(opened.error().to_string(), HasSubstr(words));
  }
}

}  // namespace
}  // namespace orrery::io
