// Which layer a tensor belongs to, and in what order an edited graph runs its layers.
#include "tests/engine/exporter/export_testing.h"

namespace orrery::exporter {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(LayerTensor, TheFirstNumberBetweenDotsIsTheLayer) {
  const std::pair<const char*, const char*> kRenamed[] = {
      {"blk.3.attn_q.weight", "blk.7.attn_q.weight"},
      {"model.layers.0.mlp.experts.5.up_proj.weight", "model.layers.7.mlp.experts.5.up_proj.weight"},
      {"h.11.attn.c_attn.bias", "h.7.attn.c_attn.bias"},
      {"bert.encoder.layer.2.output.dense.weight", "bert.encoder.layer.7.output.dense.weight"}};
  for (const auto& [name, renamed] : kRenamed) {
    const auto found = layer_tensor(name);
    ASSERT_TRUE(found) << name;
    EXPECT_EQ(found->of(7), renamed);
  }
  EXPECT_EQ(layer_tensor("blk.12.ffn_up.weight")->layer, 12);
  for (const char* name :
       {"output_norm.weight", "token_embd.weight", "lm_head.weight", "x.2", "2_Dense.weight"})
    EXPECT_FALSE(layer_tensor(name)) << name;
}

TEST(LayersOf, FollowTheStream) {
  Opened model(fixtures() / "llama");
  std::vector<Difference> differences;
  EXPECT_THAT(layers_of(*model.graph, differences).originals, ElementsAre(0, 1, 2));
  model.edit("repeat scope=layers.1 times=2");
  model.edit("move scope=layers.0 after=layers.2");
  const Layers layers = layers_of(*model.graph, differences);
  EXPECT_THAT(layers.originals, ElementsAre(1, 1, 2, 0));
  EXPECT_THAT(layers.scopes, ElementsAre("layers.1", "layers.1@2", "layers.2", "layers.0"));
  EXPECT_EQ(layers.number_of("layers.1@2.mlp.down_proj"), 1);
  EXPECT_EQ(layers.number_of("layers.0"), 3);
  EXPECT_FALSE(layers.number_of("output.norm"));
  EXPECT_THAT(differences, IsEmpty());
}

}  // namespace
}  // namespace orrery::exporter
