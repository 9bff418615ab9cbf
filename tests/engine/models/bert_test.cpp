#include "tests/engine/models/fake_files.h"

namespace orrery::models::test {
namespace {

using graph::Attribute;
using graph::Graph;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(MiniLm, IsTheGraphOfItsFolder) {
  const auto file = io::open_model(models_folder() / "minilm", {}, {});
  ASSERT_TRUE(file.ok()) << file.error().to_string();
  const auto model = build(**file, nullptr);
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  const Graph& graph = model->graph;
  EXPECT_EQ(model->task, Task::embed);
  EXPECT_EQ(model->layers, 6);
  EXPECT_EQ(model->width, 384);
  EXPECT_EQ(model->head_dim, 32);
  EXPECT_TRUE(model->normalised);
  EXPECT_TRUE(model->labels.empty());
  // 3 step inputs, 11 of the embedding, 17 + 11 per layer, pool and normalise
  EXPECT_EQ(graph.order().size(), 3u + 11 + 6 * 28 + 2);
  const auto problems = graph::verify(graph);
  EXPECT_TRUE(problems.empty()) << problems.front().error.to_string();
  EXPECT_EQ(type_at(graph, "embed.token_type"), "f32[384]");
  EXPECT_EQ(type_at(graph, "layers.5.mlp.up_proj"), "f32[tokens, 1536]");
  EXPECT_EQ(type_at(graph, "output.normalise"), "f32[sequences, 384]");
  EXPECT_EQ(node_at(graph, "output.pool").attributes.at("kind"), Attribute(std::string("mean")));
  EXPECT_EQ(node_at(graph, "layers.0.attention.norm").attributes.at("eps"), Attribute(1e-12));
  ASSERT_EQ(graph.outputs().size(), 1u);
  EXPECT_EQ(graph.value_path(graph.outputs()[0]), "output.normalise:dst");
}

TEST(MiniLm, TheSentimentAdapterMakesAClassifier) {
  const auto file = io::open_model(models_folder() / "minilm", {}, {});
  ASSERT_TRUE(file.ok()) << file.error().to_string();
  const auto adapter = io::open_adapter(ORRERY_SOURCE_DIR "/resources/models/sentiment");
  ASSERT_TRUE(adapter.ok()) << adapter.error().to_string();
  const auto model = build(**file, adapter->get());
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  const Graph& graph = model->graph;
  EXPECT_EQ(model->task, Task::classify);
  EXPECT_THAT(model->labels, ElementsAre("negative", "neutral", "positive"));
  EXPECT_FALSE(model->normalised);
  EXPECT_EQ(graph.order().size(), 4u + 11 + 6 * 28 + 8) << "the token types are an input: pairs may come";
  EXPECT_EQ(type_at(graph, "embed.token_type"), "f32[tokens, 384]");
  EXPECT_EQ(type_at(graph, "output.classifier"), "f32[sequences, 3]");
  EXPECT_EQ(type_at(graph, "output.classifier.weight"), "f16[3, 384]");
  EXPECT_EQ(type_at(graph, "output.pooler.weight"), "f16[384, 384]") << "the adapter's, not the file's";
  EXPECT_EQ(type_at(graph, "layers.2.attention.q_proj.weight"), "f32[384, 384]");
  EXPECT_EQ(node_at(graph, "output.pool").attributes.at("kind"), Attribute(std::string("first")));
  EXPECT_THAT(inputs_at(graph, "output.classifier"),
              ElementsAre("output.pooler_act", "output.classifier.weight", "output.classifier.bias"));
  EXPECT_TRUE(graph::verify(graph).empty());
}

TEST(Bert, NormsComeBehindTheResiduals) {
  const auto model = build(fake_bert(), nullptr);
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  const Graph& graph = model->graph;
  EXPECT_THAT(inputs_at(graph, "embed.add_position"),
              ElementsAre("embed.word_embedding", "embed.position_embedding"));
  EXPECT_THAT(inputs_at(graph, "embed.add_token_type"),
              ElementsAre("embed.add_position", "embed.token_type"));
  EXPECT_THAT(inputs_at(graph, "layers.0.attention.residual"),
              ElementsAre("embed.norm", "layers.0.attention.o_proj"));
  EXPECT_THAT(
      inputs_at(graph, "layers.0.mlp.up_proj"),
      ElementsAre("layers.0.attention.norm", "layers.0.mlp.up_proj.weight", "layers.0.mlp.up_proj.bias"));
  EXPECT_THAT(inputs_at(graph, "layers.0.mlp.residual"),
              ElementsAre("layers.0.attention.norm", "layers.0.mlp.down_proj"));
  EXPECT_THAT(inputs_at(graph, "layers.1.attention.q_proj")[0], "layers.0.mlp.norm");
  EXPECT_THAT(inputs_at(graph, "output.pool"), ElementsAre("layers.1.mlp.norm", "sequence_starts"));
  EXPECT_FALSE(model->normalised);
}

TEST(Bert, TensorsKeepTheNamesOfTheFile) {
  const auto model = build(fake_bert(), nullptr);
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(node_at(model->graph, "layers.0.attention.q_proj.weight").attributes.at("tensor"),
            Attribute(std::string("bert.encoder.layer.0.attention.self.query.weight")));
}

TEST(Bert, AnAdapterChangesTheTypesOfWhatItMerges) {
  io::ModelFile file = fake_bert();
  set_tensor(file, "bert.encoder.layer.0.attention.self.query.weight", {64, 64}, DType::bf16);
  io::Adapter adapter;
  adapter.low_rank.push_back({"encoder.layer.0.attention.self.query.weight",
                              {"a", DType::f32, {4, 64}, {}},
                              {"b", DType::f32, {64, 4}, {}},
                              1.0});
  ASSERT_EQ(refusal(file, &adapter), "");
  EXPECT_EQ(type_at(build(file, nullptr)->graph, "layers.0.attention.q_proj.weight"), "bf16[64, 64]");
  EXPECT_EQ(type_at(build(file, &adapter)->graph, "layers.0.attention.q_proj.weight"), "f32[64, 64]");
  EXPECT_EQ(
      node_at(build(file, &adapter)->graph, "layers.0.attention.q_proj.weight").attributes.at("transform"),
      Attribute(std::string("adapter")));
  EXPECT_EQ(
      node_at(build(file, &adapter)->graph, "layers.1.attention.q_proj.weight").attributes.at("transform"),
      Attribute(std::string()));
  adapter.low_rank[0].target = "encoder.layer.9.attention.self.query.weight";
  EXPECT_THAT(refusal(file, &adapter), HasSubstr("encoder.layer.9.attention.self.query.weight"));
  adapter.low_rank.clear();
  adapter.whole.push_back({"score.weight", DType::f32, {3, 64}, {}});
  EXPECT_THAT(refusal(file, &adapter), HasSubstr("score.weight, which the model does not use"));
}

TEST(Bert, PoolsAndClassifiesAsTheFilesSay) {
  io::ModelFile file = fake_bert();
  file.metadata.set("sentence_transformers.pooling", std::string("cls"));
  file.metadata.set("sentence_transformers.max_seq_length", int64_t{16});
  const auto embedder = build(file, nullptr);
  ASSERT_TRUE(embedder.ok());
  EXPECT_EQ(node_at(embedder->graph, "output.pool").attributes.at("kind"), Attribute(std::string("first")));
  EXPECT_EQ(embedder->context_length, 16);
  set_tensor(file, "classifier.weight", {2, 64});
  EXPECT_THAT(refusal(file), HasSubstr("no tensor pooler.dense.weight"));
  set_tensor(file, "bert.pooler.dense.weight", {64, 64});
  file.metadata.set("id2label.1", std::string("good"));
  const auto classifier = build(file, nullptr);
  ASSERT_TRUE(classifier.ok()) << classifier.error().to_string();
  EXPECT_THAT(classifier->labels, ElementsAre("LABEL_0", "good"));
}

}  // namespace
}  // namespace orrery::models::test
