#include "engine/graph/shown_weights.h"
#include "tests/engine/models/fake_files.h"

namespace orrery::models::test {
namespace {

TEST(Outline, DrawsTheTensorsOfAnUnknownArchitectureByTheirNames) {
  io::ModelFile file = fake_llama();
  file.architecture = "mamba";
  file.tensors[file.by_name.at("blk.1.ffn_up.weight")].foreign_type = "IQ2_XXS";
  set_tensor(file, "scale", {3});
  const graph::Graph graph = build_outline(file).graph;
  EXPECT_EQ(graph.order().size(), file.tensors.size());
  EXPECT_EQ(type_at(graph, "blk.1.attn_q.weight"), "Q4_0[64, 64]");
  EXPECT_EQ(type_at(graph, "blk.1.ffn_up.weight"), "f16[128, 64]");
  EXPECT_EQ(node_at(graph, "blk.1.attn_q.weight").scope, "blk.1");
  EXPECT_EQ(node_at(graph, "blk.1.attn_q.weight").name, "attn_q.weight");
  EXPECT_EQ(node_at(graph, "scale").scope, "");
  EXPECT_TRUE(graph::verify(graph).empty());
}

TEST(Outline, NumberedScopesComeInTheOrderOfTheirNumbers) {
  io::ModelFile file;
  for (const char* name : {"head.weight", "layers.0.up.weight", "layers.10.up.weight", "layers.2.up.weight"})
    set_tensor(file, name, {4, 4});
  const graph::Graph graph = build_outline(file).graph;
  std::vector<std::string> paths;
  for (const NodeId id : graph.order()) paths.push_back(graph.node(id).path());
  EXPECT_EQ(paths, (std::vector<std::string>{"head.weight", "layers.0.up.weight", "layers.2.up.weight",
                                             "layers.10.up.weight"}));
}

TEST(Outline, ItsTensorsAreDrawnAsNodes) {
  const io::ModelFile file = fake_llama();
  const graph::Graph graph = build_outline(file).graph;
  EXPECT_EQ(graph::shown_weights(graph).size(), graph.order().size());
  const auto built = build(file, nullptr);
  ASSERT_TRUE(built.ok()) << built.error().to_string();
  EXPECT_TRUE(graph::shown_weights(built->graph).empty()) << "weights of a graph that computes";
}

TEST(Outline, LeavesOutWhatNoWeightCanBe) {
  io::ModelFile file = fake_llama();
  const size_t before = build_outline(file).graph.order().size();
  set_tensor(file, "empty.weight", {0, 4});
  set_tensor(file, "vast.weight", {int64_t{1} << 40, int64_t{1} << 40});
  EXPECT_EQ(build_outline(file).graph.order().size(), before);
}

}  // namespace
}  // namespace orrery::models::test
