// Metadata that lie. Each must be refused, at once, with a message that names what is wrong.
#include <chrono>
#include <cmath>
#include <limits>

#include "tests/engine/models/fake_files.h"

namespace orrery::models::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string llama_with(const std::string& key, Metadata::Value value) {
  io::ModelFile file = fake_llama();
  file.metadata.set("llama." + key, std::move(value));
  return refusal(file);
}

std::string bert_with(const std::string& key, Metadata::Value value) {
  io::ModelFile file = fake_bert();
  file.metadata.set(key, std::move(value));
  return refusal(file);
}

TEST(Hostile, TheFakesThemselvesAreGood) {
  EXPECT_EQ(refusal(fake_llama()), "");
  EXPECT_EQ(refusal(fake_hugging_face_llama()), "");
  EXPECT_EQ(refusal(fake_bert()), "");
}

TEST(Hostile, UnknownArchitecture) {
  io::ModelFile file = fake_llama();
  file.architecture = "mamba\n";
  EXPECT_THAT(refusal(file), HasSubstr("The architecture \"mamba\\n\" is not known (fake.gguf): Models of "
                                       "these architectures can be opened: llama, "));
  for (const Architecture& known : architectures())
    EXPECT_THAT(refusal(file), HasSubstr(std::string(known.name)));
  file.architecture = "";
  EXPECT_THAT(refusal(file), HasSubstr("does not say what architecture"));
}

TEST(Hostile, TypesThatAreNotRun) {
  io::ModelFile file = fake_llama();
  file.tensors[file.by_name.at("blk.1.ffn_up.weight")].foreign_type = "IQ3_S";
  EXPECT_THAT(refusal(file), AllOf(HasSubstr("\"blk.1.ffn_up.weight\" has the type IQ3_S, which is not run"),
                                   HasSubstr("F32, F16, Q4_0, Q4_1, Q5_0")));
  io::ModelFile unused = fake_llama();
  set_tensor(unused, "extra.weight", {256});
  unused.tensors.back().foreign_type = "IQ3_S";
  EXPECT_EQ(refusal(unused), "") << "only what the graph takes counts";
}

TEST(Hostile, HeadCounts) {
  for (const char* key : {"attention.head_count", "attention.head_count_kv"}) {
    EXPECT_THAT(llama_with(key, int64_t{0}), AllOf(HasSubstr(key), HasSubstr("is 0; it must be 1 to")));
    EXPECT_THAT(llama_with(key, int64_t{-4}), HasSubstr("is -4"));
    EXPECT_THAT(llama_with(key, int64_t{1} << 62), HasSubstr("it must be 1 to 2147483647"));
    EXPECT_THAT(llama_with(key, std::string("4")), HasSubstr("no single whole number"));
  }
  EXPECT_THAT(
      llama_with("attention.head_count_kv", int64_t{3}),
      HasSubstr("llama.attention.head_count is 4, which llama.attention.head_count_kv = 3 does not divide"));
  EXPECT_THAT(
      llama_with("attention.head_count", int64_t{5}),
      HasSubstr("llama.embedding_length is 64, which llama.attention.head_count = 5 does not divide"));
  EXPECT_THAT(llama_with("attention.head_count_kv", int64_t{4}),
              HasSubstr("tensor blk.0.attn_k.weight is [32, 64], but the metadata ask for [64, 64]"));
  EXPECT_THAT(llama_with("attention.key_length", int64_t{2147483646}), HasSubstr("ask for [8589934584, 64]"));
  EXPECT_THAT(bert_with("num_attention_heads", int64_t{0}), HasSubstr("num_attention_heads is 0"));
  EXPECT_THAT(bert_with("num_attention_heads", int64_t{5}), HasSubstr("does not divide"));
}

TEST(Hostile, Epsilons) {
  for (const double eps : {std::nan(""), std::numeric_limits<double>::infinity(), -1e-5, 1e308}) {
    EXPECT_THAT(llama_with("attention.layer_norm_rms_epsilon", eps),
                HasSubstr("llama.attention.layer_norm_rms_epsilon is"));
    EXPECT_THAT(bert_with("layer_norm_eps", eps), HasSubstr("layer_norm_eps is"));
  }
  io::ModelFile file = fake_llama();
  io::ModelFile without = file;
  without.metadata = {};
  EXPECT_THAT(refusal(without), HasSubstr("llama.block_count is missing"));
}

TEST(Hostile, RotaryNumbers) {
  EXPECT_THAT(llama_with("rope.freq_base", std::nan("")), HasSubstr("llama.rope.freq_base is nan"));
  EXPECT_THAT(llama_with("rope.freq_base", 0.0), HasSubstr("llama.rope.freq_base is 0"));
  EXPECT_THAT(llama_with("rope.dimension_count", int64_t{15}), HasSubstr("15 elements of a head"));
  EXPECT_THAT(llama_with("rope.dimension_count", int64_t{18}), HasSubstr("an even number up to 16"));
  EXPECT_THAT(llama_with("rope.scaling.type", std::string("ntk")),
              HasSubstr("\"ntk\" (llama.rope.scaling.type)"));
  EXPECT_THAT(llama_with("rope.scaling.type", std::string("yarn")),
              HasSubstr("llama.rope.scaling.factor is missing"));
  io::ModelFile file = fake_llama();
  set_tensor(file, "rope_freqs.weight", {7});
  EXPECT_THAT(refusal(file), HasSubstr("rope_freqs.weight is [7], but the metadata ask for [8]"));
}

TEST(Hostile, MoreLayersThanTensors) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(llama_with("block_count", int64_t{3}), AllOf(HasSubstr("no tensor blk.2.attn_norm.weight"),
                                                           HasSubstr("layers.2.attention.norm.weight")));
  EXPECT_THAT(llama_with("block_count", int64_t{2000000000}), HasSubstr("no tensor blk.2.attn_norm.weight"));
  EXPECT_THAT(bert_with("num_hidden_layers", int64_t{2000000000}),
              HasSubstr("no tensor encoder.layer.2.attention.self.query.weight"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
}

TEST(Hostile, SizesThatAreNotTheTensors) {
  EXPECT_THAT(llama_with("embedding_length", int64_t{128}),
              HasSubstr("token_embd.weight is [100, 64], but the metadata ask for [100, 128]"));
  EXPECT_THAT(llama_with("feed_forward_length", int64_t{2147483647}),
              HasSubstr("ffn_gate.weight is [128, 64]"));
  EXPECT_THAT(bert_with("vocab_size", int64_t{101}), HasSubstr("word_embeddings.weight is [100, 64]"));
  EXPECT_THAT(bert_with("max_position_embeddings", int64_t{33}),
              HasSubstr("position_embeddings.weight is [32, 64]"));
  EXPECT_THAT(bert_with("type_vocab_size", int64_t{3}), HasSubstr("token_type_embeddings.weight is [2, 64]"));
}

TEST(Hostile, TensorsOfTheWrongKind) {
  io::ModelFile file = fake_llama();
  set_tensor(file, "blk.1.attn_q.weight", {64, 64}, DType::i32);
  EXPECT_THAT(refusal(file), HasSubstr("weight is i32[64, 64]; it must be a matrix of weights"));
  file = fake_llama();
  set_tensor(file, "blk.1.attn_norm.weight", {64}, DType::q8_0);
  EXPECT_THAT(refusal(file), HasSubstr("weight is Q8_0[64], but a norm of src f32[tokens, 64]"));
  file = fake_llama();
  set_tensor(file, "token_embd.weight", {});
  EXPECT_THAT(refusal(file), HasSubstr("token_embd.weight is no table"));
  file = fake_llama();
  set_tensor(file, "token_embd.weight", {int64_t{1} << 42, 64});
  EXPECT_THAT(refusal(file), HasSubstr("token_embd.weight is no table"));
  file = fake_llama();
  remove_tensor(file, "output_norm.weight");
  EXPECT_THAT(refusal(file), HasSubstr("no tensor output_norm.weight"));
}

TEST(Hostile, KindsThatAreNotRead) {
  EXPECT_THAT(llama_with("expert_count", int64_t{8}), HasSubstr("llama.expert_used_count is missing"));
  EXPECT_THAT(bert_with("hidden_act", std::string("mish")), HasSubstr("hidden_act is \"mish\""));
  EXPECT_THAT(bert_with("position_embedding_type", std::string("relative_key")), HasSubstr("relative_key"));
  EXPECT_THAT(bert_with("sentence_transformers.pooling", std::string("max")), HasSubstr("pooled by \"max\""));
}

}  // namespace
}  // namespace orrery::models::test
