#include "tests/engine/models/fake_files.h"

namespace orrery::models::test {
namespace {

using graph::Attribute;
using graph::Graph;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(SmolLm2, IsTheGraphOfItsFile) {
  const auto file = io::open_model(models_folder() / "smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", {}, {});
  ASSERT_TRUE(file.ok()) << file.error().to_string();
  const auto model = build(**file, nullptr);
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  const Graph& graph = model->graph;
  EXPECT_EQ(model->task, Task::generate);
  EXPECT_EQ(model->layers, 30);
  EXPECT_EQ(model->width, 576);
  EXPECT_EQ(model->heads, 9);
  EXPECT_EQ(model->kv_heads, 3);
  EXPECT_EQ(model->head_dim, 64);
  EXPECT_EQ(model->vocabulary, 49152);
  EXPECT_EQ(model->context_length, 8192);
  // 3 step inputs, 2 of the embedding, 16 + 11 per layer, 4 of the output (its matrix is the embedding's),
  // the sampler
  EXPECT_EQ(graph.order().size(), 3u + 2 + 30 * 27 + 4 + 1);
  EXPECT_EQ(graph.in_scope("layers.3.attention").size(), 16u);
  EXPECT_EQ(graph.in_scope("layers.3.mlp").size(), 11u);
  const auto problems = graph::verify(graph);
  EXPECT_TRUE(problems.empty()) << problems.front().error.to_string();
  EXPECT_EQ(type_at(graph, "layers.7.attention.q_rope"), "f32[tokens, 576]");
  EXPECT_EQ(type_at(graph, "layers.7.attention.k_rope"), "f32[tokens, 192]");
  EXPECT_EQ(type_at(graph, "layers.7.attention.kv_append"), "f16[3, 64]");
  EXPECT_EQ(type_at(graph, "layers.29.mlp.gate"), "f32[tokens, 1536]");
  EXPECT_EQ(type_at(graph, "layers.0.attention.q_proj.weight"), "Q4_1[576, 576]");
  EXPECT_EQ(type_at(graph, "output.lm_head"), "f32[outputs, 49152]");
  EXPECT_EQ(type_at(graph, "sampler.sample"), "i32[outputs]");
  EXPECT_THAT(inputs_at(graph, "output.lm_head"),
              ElementsAre("output.norm", "embed.token_embedding.weight", ""));
  EXPECT_EQ(node_at(graph, "layers.7.attention.q_rope").attributes.at("base"), Attribute(100000.0));
  ASSERT_EQ(graph.outputs().size(), 32u);
  EXPECT_EQ(graph.value_path(graph.outputs()[0]), "sampler.sample:tokens");
  EXPECT_EQ(graph.value_path(graph.outputs()[1]), "output.lm_head:dst");
  EXPECT_EQ(graph.value_path(graph.outputs()[31]), "layers.29.attention.kv_append:state");
}

TEST(SmolLm2, CostsWhatItsWeightsSay) {
  const auto file = io::open_model(models_folder() / "smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", {}, {});
  ASSERT_TRUE(file.ok()) << file.error().to_string();
  const auto model = build(**file, nullptr);
  ASSERT_TRUE(model.ok());
  double flops = 0, bytes = 0, linear = 0;
  for (const NodeId id : model->graph.order()) {
    const graph::Cost cost = model->graph.cost(id, {{kTokens, 1}, {kSequences, 1}, {kOutputs, 1}});
    flops += cost.flops;
    bytes += cost.bytes;
    if (model->graph.node(id).op->name == "linear") linear += cost.flops;
  }
  // two operations a weight of the matrices: 30 x (2 x 576^2 + 2 x 192 x 576 + 3 x 1536 x 576) + 49152 x 576
  EXPECT_DOUBLE_EQ(linear, 2.0 * (30.0 * (2 * 576 * 576 + 2 * 192 * 576 + 3 * 1536 * 576) + 49152.0 * 576));
  EXPECT_LT(flops, 1.02 * linear);
  EXPECT_NEAR(bytes, static_cast<double>((*file)->file_bytes),
              0.05 * static_cast<double>((*file)->file_bytes));
}

TEST(Llama, FollowsTheResidualStream) {
  const auto model = build(fake_llama(), nullptr);
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  const Graph& graph = model->graph;
  EXPECT_THAT(inputs_at(graph, "layers.0.attention.norm"),
              ElementsAre("embed.token_embedding", "layers.0.attention.norm.weight"));
  EXPECT_THAT(
      inputs_at(graph, "layers.0.attention.kv_append"),
      ElementsAre("layers.0.attention.kv_cache", "layers.0.attention.k_rope", "layers.0.attention.v_proj"));
  EXPECT_THAT(inputs_at(graph, "layers.0.attention.sdpa"),
              ElementsAre("layers.0.attention.q_rope", "layers.0.attention.kv_append"));
  EXPECT_THAT(inputs_at(graph, "layers.0.attention.residual"),
              ElementsAre("embed.token_embedding", "layers.0.attention.o_proj"));
  EXPECT_THAT(inputs_at(graph, "layers.0.mlp.gate"), ElementsAre("layers.0.mlp.act", "layers.0.mlp.up_proj"));
  EXPECT_THAT(inputs_at(graph, "layers.0.mlp.residual"),
              ElementsAre("layers.0.attention.residual", "layers.0.mlp.down_proj"));
  EXPECT_THAT(inputs_at(graph, "layers.1.attention.norm"),
              ElementsAre("layers.0.mlp.residual", "layers.1.attention.norm.weight"));
  EXPECT_THAT(inputs_at(graph, "output.select_rows"), ElementsAre("layers.1.mlp.residual", "output_rows"));
  EXPECT_THAT(inputs_at(graph, "output.lm_head"), ElementsAre("output.norm", "output.lm_head.weight", ""));
  EXPECT_EQ(node_at(graph, "layers.1.attention.q_rope").attributes.at("style"),
            Attribute(std::string("interleaved")));
  EXPECT_EQ(node_at(graph, "layers.1.attention.q_rope").attributes.at("heads"), Attribute(int64_t{4}));
  EXPECT_EQ(node_at(graph, "layers.1.attention.k_rope").attributes.at("heads"), Attribute(int64_t{2}));
  EXPECT_EQ(node_at(graph, "layers.1.attention.sdpa").attributes.at("scale"), Attribute(0.25));
  EXPECT_EQ(node_at(graph, "layers.1.attention.kv_cache").attributes.at("layer"), Attribute(int64_t{1}));
  EXPECT_TRUE(graph::verify(graph).empty());
}

TEST(Llama, TakesBiasesFactorsAndLinearScalingWhereTheFileHasThem) {
  io::ModelFile file = fake_llama();
  set_tensor(file, "blk.1.attn_q.bias", {64});
  set_tensor(file, "rope_freqs.weight", {8});
  file.metadata.set("llama.rope.scaling.type", std::string("linear"));
  file.metadata.set("llama.rope.scaling.factor", 4.0);
  file.metadata.set("llama.rope.freq_base", 500000.0);
  const auto model = build(file, nullptr);
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  const Graph& graph = model->graph;
  EXPECT_EQ(inputs_at(graph, "layers.1.attention.q_proj")[2], "layers.1.attention.q_proj.bias");
  EXPECT_EQ(inputs_at(graph, "layers.0.attention.q_proj")[2], "");
  EXPECT_EQ(inputs_at(graph, "layers.1.attention.k_rope")[2], "embed.rope_factors");
  EXPECT_EQ(node_at(graph, "layers.1.attention.k_rope").attributes.at("scaling"),
            Attribute(std::string("linear")));
  EXPECT_EQ(node_at(graph, "layers.1.attention.k_rope").attributes.at("factor"), Attribute(4.0));
  EXPECT_EQ(node_at(graph, "layers.1.attention.k_rope").attributes.at("base"), Attribute(500000.0));
}

TEST(Llama, ReadsHeadCountsGivenForEachLayer) {
  io::ModelFile file = fake_llama();
  file.metadata.set("llama.attention.head_count_kv", std::vector<int64_t>{2, 2});
  EXPECT_EQ(refusal(file), "");
  file.metadata.set("llama.attention.head_count_kv", std::vector<int64_t>{2, 4});
  EXPECT_THAT(refusal(file), HasSubstr("llama.attention.head_count_kv is no single whole number"));
}

TEST(Llama, HuggingFaceFoldersRotateHalves) {
  const auto model = build(fake_hugging_face_llama(), nullptr);
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  EXPECT_EQ(node_at(model->graph, "layers.0.attention.q_rope").attributes.at("style"),
            Attribute(std::string("half")));
  EXPECT_EQ(node_at(model->graph, "layers.0.attention.q_rope").attributes.at("base"), Attribute(500000.0));
  EXPECT_EQ(inputs_at(model->graph, "output.lm_head")[1], "embed.token_embedding.weight");
  EXPECT_TRUE(graph::verify(model->graph).empty());
}

}  // namespace
}  // namespace orrery::models::test
