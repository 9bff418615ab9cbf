// The verb delete: what leaves a real model's graph, and what its readers read instead.
#include "tests/engine/edit/edited_graph.h"

namespace orrery::edit {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

using DeleteLlama = EditedLlama;
using DeleteBert = EditedBert;
using DeleteMamba = EditedMamba;
using DeleteMixture = EditedMixture;

TEST_F(DeleteLlama, ALayerIsGoneWithItsStateAndItsNeighboursJoin) {
  EXPECT_EQ(make("delete scope=layers.3").name, "delete layers.3");
  EXPECT_FALSE(has("layers.3"));
  EXPECT_EQ(reads("layers.4.attention.norm"), "layers.2.mlp.residual:dst");
  EXPECT_EQ(reads("layers.4.attention.residual"), "layers.2.mlp.residual:dst");
  EXPECT_EQ(outputs().size(), 31U);
  EXPECT_THAT(outputs(), Not(Contains(HasSubstr("layers.3."))));
}

TEST_F(DeleteLlama, SeveralScopesAreOneEdit) {
  const std::string before = print(graph_);
  const graph::Journal journal = make("delete scope=layers.3,layers.7-9,layers.20.mlp");
  EXPECT_EQ(reads("layers.10.attention.norm"), "layers.6.mlp.residual:dst");
  EXPECT_EQ(reads("layers.21.attention.norm"), "layers.20.attention.residual:dst");
  EXPECT_TRUE(has("layers.20.attention"));
  graph::undo(graph_, journal);
  EXPECT_EQ(print(graph_), before);
}

TEST_F(DeleteLlama, NodesThatAreOneWayTogetherGoTogether) {
  make(
      "delete scope=layers.3.mlp.gate_proj,layers.3.mlp.up_proj,layers.3.mlp.act,layers.3.mlp.gate,"
      "layers.3.mlp.down_proj");
  EXPECT_EQ(reads("layers.3.mlp.residual", 1), "layers.3.mlp.norm:dst");
  EXPECT_FALSE(has("layers.3.mlp.gate_proj.weight"));
}

TEST_F(DeleteLlama, EveryLayerAndTheFirstAndTheLast) {
  make("delete scope=layers.0,layers.29");
  EXPECT_EQ(reads("output.select_rows"), "layers.28.mlp.residual:dst");
  EXPECT_EQ(reads("layers.1.attention.norm"), "embed.token_embedding:dst");
  make("delete scope=layers.*");
  EXPECT_EQ(reads("output.select_rows"), "embed.token_embedding:dst");
  EXPECT_EQ(outputs().size(), 2U);
}

TEST_F(DeleteLlama, WhatIsBypassedCanGoAndMayReadWhatGoes) {
  make("bypass scope=layers.4");
  make("delete scope=layers.3");
  EXPECT_EQ(reads("layers.4.attention.norm"), "layers.2.mlp.residual:dst")
      << "hollow, it stays in the stream";
  make("delete scope=layers.4");
  EXPECT_EQ(reads("layers.5.attention.norm"), "layers.2.mlp.residual:dst");
  EXPECT_FALSE(has("layers.4"));
}

TEST_F(DeleteLlama, WithoutReconnectOnlyWhatNobodyReadsGoes) {
  EXPECT_THAT(refused("delete scope=layers.3 reconnect=false"),
              AllOf(HasSubstr("layers.4.attention.norm reads layers.3.mlp.residual:dst f32[tokens, 576]"),
                    HasSubstr("reconnect=true")));
  make("bypass scope=layers.3");
  make("delete scope=layers.3 reconnect=false");
  EXPECT_FALSE(has("layers.3"));
}

TEST_F(DeleteLlama, RefusalsSayWhoReadsWhatAndBothShapes) {
  EXPECT_THAT(refused("delete scope=embed"),
              AllOf(HasSubstr("layers.0.attention.norm reads embed.token_embedding:dst f32[tokens, 576]"),
                    HasSubstr("no activation enters")));
  EXPECT_THAT(refused("delete scope=layers.3.attention.k_proj"),
              AllOf(HasSubstr("layers.3.attention.k_proj:dst f32[tokens, 192]"),
                    HasSubstr("what enters is layers.3.attention.norm:dst f32[tokens, 576]")));
  EXPECT_THAT(refused("delete scope=layers.3.mlp.residual"), HasSubstr("2 activations enter, not one"));
  EXPECT_THAT(refused("delete scope=layers.3.attention.kv_append"),
              HasSubstr("layers.3.attention.sdpa reads layers.3.attention.kv_append:state"));
  EXPECT_THAT(refused("delete scope=layers.3.attention.q_proj.weight"),
              AllOf(HasSubstr("layers.3.attention.q_proj reads"), HasSubstr("delete what reads it too")));
  EXPECT_THAT(refused("delete scope=sampler"), HasSubstr("sampler.sample:tokens i32[outputs] is a result"));
  EXPECT_THAT(refused("delete scope=layers.77"),
              HasSubstr("no such scope (layers.77): did you mean layers.29?"));
  EXPECT_THAT(refused("delete scope=layers.3 reconnect=maybe"), HasSubstr("true or false"));
}

TEST_F(DeleteLlama, ASourceThatOthersReadStays) {
  make("connect input=layers.2.attention.norm.weight value=layers.3.attention.norm.weight:weight");
  make("delete scope=layers.3");
  EXPECT_EQ(graph_.in_scope("layers.3").size(), 1U);
  EXPECT_EQ(reads("layers.2.attention.norm", 1), "layers.3.attention.norm.weight:weight");
}

TEST_F(DeleteBert, LayersAndPartsOfThem) {
  make("delete scope=layers.2");
  EXPECT_EQ(reads("layers.3.attention.q_proj"), "layers.1.mlp.norm:dst");
  make("delete scope=layers.4.attention");
  EXPECT_EQ(reads("layers.4.mlp.up_proj"), "layers.3.mlp.norm:dst");
  make("delete scope=embed.norm");
  EXPECT_EQ(reads("layers.0.attention.q_proj"), "embed.add_token_type:dst");
}

TEST_F(DeleteMamba, ALayerTakesBothOfItsStates) {
  const size_t before = outputs().size();
  make("delete scope=layers.1");
  EXPECT_EQ(outputs().size(), before - 2);
}

TEST_F(DeleteMixture, LayersAndTheirMixtures) {
  make("delete scope=layers.0.mlp");
  EXPECT_EQ(reads("layers.1.attention.norm"), "layers.0.attention.residual:dst");
  EXPECT_FALSE(has("layers.0.mlp"));
}

}  // namespace
}  // namespace orrery::edit
