// The verb move: the stream passes through a layer at another place.
#include "tests/engine/edit/edited_graph.h"

namespace orrery::edit {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using MoveLlama = EditedLlama;
using MoveBert = EditedBert;
using MoveMamba = EditedMamba;

TEST_F(MoveLlama, ALayerComesEarlier) {
  EXPECT_EQ(make("move scope=layers.9 after=layers.2").name, "move layers.9 after layers.2");
  EXPECT_EQ(reads("layers.9.attention.norm"), "layers.2.mlp.residual:dst");
  EXPECT_EQ(reads("layers.3.attention.norm"), "layers.9.mlp.residual:dst");
  EXPECT_EQ(reads("layers.3.attention.residual"), "layers.9.mlp.residual:dst");
  EXPECT_EQ(reads("layers.10.attention.norm"), "layers.8.mlp.residual:dst");
  const std::vector<std::string> order = layers();
  EXPECT_THAT(std::vector(order.begin(), order.begin() + 6), ElementsAre("0", "1", "2", "9", "3", "4"));
  EXPECT_EQ(outputs().size(), 32U);
}

TEST_F(MoveLlama, ALayerComesLater) {
  make("move scope=layers.2 after=layers.9");
  EXPECT_EQ(reads("layers.3.attention.norm"), "layers.1.mlp.residual:dst");
  EXPECT_EQ(reads("layers.2.attention.norm"), "layers.9.mlp.residual:dst");
  EXPECT_EQ(reads("layers.10.attention.norm"), "layers.2.mlp.residual:dst");
  const std::vector<std::string> order = layers();
  EXPECT_THAT(std::vector(order.begin() + 1, order.begin() + 4), ElementsAre("1", "3", "4"));
  EXPECT_THAT(std::vector(order.begin() + 8, order.begin() + 11), ElementsAre("9", "2", "10"));
}

TEST_F(MoveLlama, ToTheFrontAndToTheEnd) {
  make("move scope=layers.20-21 before=layers.0");
  EXPECT_EQ(reads("layers.20.attention.norm"), "embed.token_embedding:dst");
  EXPECT_EQ(reads("layers.0.attention.norm"), "layers.21.mlp.residual:dst");
  make("move scope=layers.0 after=layers.29");
  EXPECT_EQ(reads("output.select_rows"), "layers.0.mlp.residual:dst");
  EXPECT_EQ(layers().front(), "20");
  EXPECT_EQ(layers().back(), "0");
}

TEST_F(MoveLlama, BackIsTheGraphThatWasThere) {
  const std::string before = print(graph_);
  make("move scope=layers.9 after=layers.2");
  make("move scope=layers.9 after=layers.8");
  EXPECT_EQ(print(graph_), before);
  make("move scope=layers.2 before=layers.20");
  make("move scope=layers.2 before=layers.3");
  EXPECT_EQ(print(graph_), before);
}

TEST_F(MoveLlama, PartsOfLayers) {
  make("move scope=layers.3.mlp before=layers.3.attention");
  EXPECT_EQ(reads("layers.3.mlp.norm"), "layers.2.mlp.residual:dst");
  EXPECT_EQ(reads("layers.3.attention.norm"), "layers.3.mlp.residual:dst");
  EXPECT_EQ(reads("layers.4.attention.norm"), "layers.3.attention.residual:dst");
  make("move scope=layers.5.mlp after=layers.12");
  EXPECT_EQ(reads("layers.6.attention.norm"), "layers.5.attention.residual:dst");
  EXPECT_EQ(reads("layers.13.attention.norm"), "layers.5.mlp.residual:dst");
}

TEST_F(MoveLlama, StatesBeforeTheFirstChangeKeepWhatTheyRead) {
  const uint64_t before = hash("layers.2.attention.kv_append"), after = hash("layers.3.attention.kv_append");
  make("move scope=layers.9 after=layers.2");
  EXPECT_EQ(hash("layers.2.attention.kv_append"), before);
  EXPECT_NE(hash("layers.3.attention.kv_append"), after);
}

TEST_F(MoveLlama, AroundWhatIsBypassed) {
  make("bypass scope=layers.3");
  make("move scope=layers.9 after=layers.2");
  EXPECT_EQ(reads("layers.4.attention.norm"), "layers.9.mlp.residual:dst");
  EXPECT_EQ(live_count("layers.3"), 0U);
  EXPECT_THAT(refused("move scope=layers.3 after=layers.9"), HasSubstr("bypassed already"));
}

TEST_F(MoveLlama, RefusalsSayWhy) {
  EXPECT_THAT(refused("move scope=layers.9"), HasSubstr("add after=SCOPE or before=SCOPE"));
  EXPECT_THAT(refused("move scope=layers.9 after=layers.2 before=layers.4"), HasSubstr("said twice"));
  EXPECT_THAT(refused("move scope=layers.9 after=layers.8"), HasSubstr("after layers.8 already"));
  EXPECT_THAT(refused("move scope=layers.9 before=layers.10"), HasSubstr("before layers.10 already"));
  EXPECT_THAT(refused("move scope=layers.9 after=layers.9.mlp"), HasSubstr("is a part of it"));
  EXPECT_THAT(refused("move scope=layers.9.mlp after=layers.9"), HasSubstr("is a part of it, or it of"));
  EXPECT_THAT(refused("move scope=layers.9 after=layers.3.attention.o_proj.weight"),
              HasSubstr("No activation enters it"));
  EXPECT_THAT(refused("move scope=layers.9 after=layers.3.mlp.act"),
              AllOf(HasSubstr("layers.3.mlp.act:dst f32[tokens, 1536]"),
                    HasSubstr("layers.8.mlp.residual:dst f32[tokens, 576]")));
  EXPECT_THAT(refused("move scope=layers.9 after=layers.99"), HasSubstr("did you mean layers.29?"));
}

TEST_F(MoveBert, LayersOfAnEncoder) {
  make("move scope=layers.4 after=layers.0");
  EXPECT_EQ(reads("layers.4.attention.q_proj"), "layers.0.mlp.norm:dst");
  EXPECT_EQ(reads("layers.1.attention.residual"), "layers.4.mlp.norm:dst");
  EXPECT_EQ(reads("layers.5.attention.q_proj"), "layers.3.mlp.norm:dst");
}

TEST_F(MoveMamba, LayersWithRecords) {
  const size_t states = outputs().size();
  make("move scope=layers.1 before=layers.0");
  EXPECT_EQ(outputs().size(), states);
  EXPECT_EQ(layers().front(), "1");
}

}  // namespace
}  // namespace orrery::edit
