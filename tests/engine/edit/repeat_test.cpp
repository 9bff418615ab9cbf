// The verbs repeat and duplicate: copies with states of their own over the same tensors.
#include "tests/engine/edit/edited_graph.h"

namespace orrery::edit {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using RepeatLlama = EditedLlama;
using RepeatBert = EditedBert;
using RepeatMamba = EditedMamba;
using RepeatMixture = EditedMixture;

TEST_F(RepeatLlama, TheStreamPassesThroughTheRunAgain) {
  EXPECT_EQ(make("repeat scope=layers.4-7 times=2").name, "repeat layers.4-7 2 times");
  EXPECT_EQ(reads("layers.4@2.attention.norm"), "layers.7.mlp.residual:dst");
  EXPECT_EQ(reads("layers.5@2.attention.norm"), "layers.4@2.mlp.residual:dst");
  EXPECT_EQ(reads("layers.8.attention.norm"), "layers.7@2.mlp.residual:dst");
  EXPECT_EQ(reads("layers.8.attention.residual"), "layers.7@2.mlp.residual:dst");
  const std::vector<std::string> order = layers();
  EXPECT_THAT(std::vector(order.begin() + 4, order.begin() + 13),
              ElementsAre("4", "5", "6", "7", "4@2", "5@2", "6@2", "7@2", "8"));
}

TEST_F(RepeatLlama, EveryCopyHasAStateOfItsOwnAndTheTensorsOfTheOriginal) {
  make("repeat scope=layers.4 times=3");
  EXPECT_EQ(outputs().size(), 34U);
  EXPECT_THAT(outputs(), Contains("layers.4@3.attention.kv_append:state"));
  EXPECT_EQ(reads("layers.4@2.attention.kv_append"), "layers.4@2.attention.kv_cache:state");
  EXPECT_EQ(attribute("layers.4@2.attention.kv_cache", "name"),
            graph::Attribute(std::string("layers.4@2.attention.kv_cache")));
  EXPECT_EQ(attribute("layers.4@2.attention.kv_cache", "layer"), graph::Attribute(int64_t{30}));
  EXPECT_EQ(attribute("layers.4@3.attention.kv_cache", "layer"), graph::Attribute(int64_t{31}));
  EXPECT_EQ(attribute("layers.4@3.mlp.down_proj.weight", "tensor"),
            attribute("layers.4.mlp.down_proj.weight", "tensor"));
  EXPECT_EQ(reads("layers.4@2.attention.q_rope", 1), "positions:value") << "step inputs are shared";
  EXPECT_NE(hash("layers.4@2.attention.kv_append"), hash("layers.4.attention.kv_append"));
}

TEST_F(RepeatLlama, WhatComesBeforeKeepsWhatItRead) {
  const uint64_t first = hash("layers.4.attention.kv_append"), after = hash("layers.5.attention.kv_append");
  make("repeat scope=layers.4 times=2");
  EXPECT_EQ(hash("layers.4.attention.kv_append"), first);
  EXPECT_NE(hash("layers.5.attention.kv_append"), after);
}

TEST_F(RepeatLlama, AgainTakesTheNextFreeNames) {
  make("repeat scope=layers.4 times=2");
  make("repeat scope=layers.4 times=2");
  EXPECT_EQ(reads("layers.4@3.attention.norm"), "layers.4.mlp.residual:dst");
  EXPECT_EQ(reads("layers.4@2.attention.norm"), "layers.4@3.mlp.residual:dst");
  make("repeat scope=layers.4@2 times=2");
  EXPECT_EQ(reads("layers.4@4.attention.norm"), "layers.4@2.mlp.residual:dst");
}

TEST_F(RepeatLlama, PartsOfALayer) {
  make("repeat scope=layers.4.mlp times=2");
  EXPECT_EQ(reads("layers.4.mlp@2.norm"), "layers.4.mlp.residual:dst");
  EXPECT_EQ(reads("layers.5.attention.norm"), "layers.4.mlp@2.residual:dst");
  make("repeat scope=layers.6.attention.q_proj times=2");
  EXPECT_EQ(reads("layers.6.attention.q_rope"), "layers.6.attention.q_proj@2:dst");
  EXPECT_EQ(reads("layers.6.attention.q_proj@2", 1), "layers.6.attention.q_proj@2.weight:weight");
}

TEST_F(RepeatLlama, CopiesGoTheirOwnWays) {
  make("repeat scope=layers.4 times=2");
  make("delete scope=layers.4");
  EXPECT_FALSE(has("layers.4"));
  EXPECT_EQ(reads("layers.4@2.attention.norm"), "layers.3.mlp.residual:dst");
  make("place scope=layers.4@2 device=cpu");
  make("repeat scope=layers.4@2 times=2");
  EXPECT_EQ(attribute("layers.4@3.mlp.residual", "device"), graph::Attribute(std::string("cpu")));
}

TEST_F(RepeatLlama, DrawingsStayOnTheOriginal) {
  make("note node=layers.4.mlp.residual text=here");
  make("frame nodes=layers.4 title=middle");
  make("repeat scope=layers.4 times=2");
  EXPECT_EQ(note_of(node("layers.4.mlp.residual")), "here");
  EXPECT_EQ(note_of(node("layers.4@2.mlp.residual")), "");
  EXPECT_EQ(frame_of(node("layers.4@2.mlp.residual")), "");
}

TEST_F(RepeatLlama, RefusalsSayWhy) {
  EXPECT_THAT(refused("repeat scope=layers.4 times=1"), HasSubstr("it is from 2 to 1000"));
  EXPECT_THAT(refused("repeat scope=layers.4,layers.6 times=2"),
              HasSubstr("2 activations enter it, not one"));
  EXPECT_THAT(refused("repeat scope=output times=2"),
              AllOf(HasSubstr("layers.29.mlp.residual:dst f32[tokens, 576]"),
                    HasSubstr("output.lm_head:dst f32[outputs, 49152]")));
  EXPECT_THAT(refused("repeat scope=embed times=2"), HasSubstr("No activation enters it"));
  EXPECT_THAT(refused("repeat scope=layers.* times=1000"), HasSubstr("200000 nodes are the most"));
  make("bypass scope=layers.4");
  EXPECT_THAT(refused("repeat scope=layers.4 times=2"), HasSubstr("bypassed already"));
}

TEST_F(RepeatLlama, ADuplicateReadsTheSameAndNobodyReadsIt) {
  const uint64_t last = hash("layers.29.attention.kv_append");
  EXPECT_EQ(make("duplicate scope=layers.4.mlp").name, "duplicate layers.4.mlp");
  EXPECT_EQ(reads("layers.4.mlp@2.norm"), "layers.4.attention.residual:dst");
  EXPECT_EQ(reads("layers.4.mlp@2.down_proj"), "layers.4.mlp@2.gate:dst") << "links among them stay";
  EXPECT_EQ(live_count("layers.4.mlp@2"), 0U);
  EXPECT_EQ(hash("layers.29.attention.kv_append"), last);
  make("connect input=layers.5.attention.residual.a value=layers.4.mlp@2.residual:dst");
  EXPECT_GT(live_count("layers.4.mlp@2"), 5U);
}

TEST_F(RepeatLlama, ADuplicatedAttentionKeepsItsOwnTextOnceItRuns) {
  make("duplicate scope=layers.4.attention as=_b");
  EXPECT_EQ(outputs().size(), 32U) << "what does not run keeps nothing";
  make("connect input=layers.4.mlp.norm.src value=layers.4.attention_b.residual:dst");
  EXPECT_EQ(outputs().size(), 33U);
  EXPECT_THAT(outputs(), Contains("layers.4.attention_b.kv_append:state"));
  EXPECT_EQ(hash("layers.4.attention_b.kv_append"), hash("layers.4.attention.kv_append"))
      << "it reads what the original reads";
  make("connect input=layers.4.mlp.norm.src value=layers.4.attention.residual:dst");
  EXPECT_EQ(outputs().size(), 32U);
}

TEST_F(RepeatLlama, WhoWritesAStateAloneGetsOneTooAndWhoReadsItDoesNot) {
  make("duplicate scope=layers.4.attention.kv_append");
  EXPECT_EQ(reads("layers.4.attention.kv_append@2"), "layers.4.attention.kv_cache@2:state");
  make("duplicate scope=layers.4.attention.sdpa");
  EXPECT_EQ(reads("layers.4.attention.sdpa@2", 1), "layers.4.attention.kv_append:state");
}

TEST_F(RepeatLlama, SeveralNodesAtOnceAndNamesThatAreTaken) {
  make("duplicate scope=layers.4.mlp.gate_proj,layers.4.mlp.act");
  EXPECT_EQ(reads("layers.4.mlp.act@2"), "layers.4.mlp.gate_proj@2:dst");
  EXPECT_THAT(refused("duplicate scope=layers.4.mlp.act as=@2"),
              AllOf(HasSubstr("This name is taken (layers.4.mlp.act@2)"), HasSubstr("layers.4.mlp.act@2_2")));
  make("duplicate scope=layers.4.mlp.act");
  EXPECT_TRUE(has("layers.4.mlp.act@3"));
}

TEST_F(RepeatBert, LayersOfAnEncoder) {
  make("repeat scope=layers.1-2 times=2");
  EXPECT_EQ(reads("layers.1@2.attention.q_proj"), "layers.2.mlp.norm:dst");
  EXPECT_EQ(reads("layers.1@2.attention.residual"), "layers.2.mlp.norm:dst");
  EXPECT_EQ(reads("layers.3.attention.q_proj"), "layers.2@2.mlp.norm:dst");
  make("repeat scope=layers.5 times=2");
  EXPECT_EQ(reads("output.pool"), "layers.5@2.mlp.norm:dst");
}

TEST_F(RepeatMamba, BothStatesOfAMixer) {
  const size_t before = outputs().size();
  make("repeat scope=layers.0 times=2");
  EXPECT_EQ(outputs().size(), before + 2);
  EXPECT_THAT(outputs(), Contains(HasSubstr("layers.0@2.mixer")));
}

TEST_F(RepeatMixture, AMixtureOfExperts) {
  make("repeat scope=layers.0-1 times=2");
  EXPECT_TRUE(has("layers.1@2.mlp.experts"));
  EXPECT_EQ(reads("layers.0@2.attention.norm"), "layers.1.mlp.residual:dst");
}

}  // namespace
}  // namespace orrery::edit
