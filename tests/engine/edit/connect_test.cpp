// The verbs connect and disconnect, and what a wire that is being dragged is told.
#include "tests/engine/edit/edited_graph.h"

namespace orrery::edit {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using ConnectLlama = EditedLlama;
using ConnectBert = EditedBert;

TEST_F(ConnectLlama, AnInputReadsAnotherValue) {
  EXPECT_EQ(make("connect input=layers.5.attention.residual.0 value=layers.3.mlp.residual:dst").name,
            "connect layers.3.mlp.residual:dst to layers.5.attention.residual.0");
  EXPECT_EQ(reads("layers.5.attention.residual"), "layers.3.mlp.residual:dst");
  make("connect input=layers.5.attention.residual.a value=layers.4.mlp.residual:dst");
  EXPECT_EQ(reads("layers.5.attention.residual"), "layers.4.mlp.residual:dst");
}

TEST_F(ConnectLlama, TypesThatFollowAreInferred) {
  make(R"(insert op=constant as=bias attributes={"shape": [192]})");
  make("connect input=layers.0.attention.k_proj.bias value=bias:value");
  make("disconnect input=layers.0.attention.k_proj.bias");
  EXPECT_EQ(reads("layers.0.attention.k_proj", 2), "");
}

TEST_F(ConnectLlama, WhatIsNotReadAnyMoreKeepsNothing) {
  make("connect input=layers.3.mlp.norm.src value=layers.2.mlp.residual:dst");
  make("connect input=layers.3.mlp.residual.a value=layers.2.mlp.residual:dst");
  EXPECT_EQ(live_count("layers.3.attention"), 0U);
  EXPECT_EQ(outputs().size(), 31U);
  make("connect input=layers.3.mlp.norm.src value=layers.3.attention.residual:dst");
  EXPECT_EQ(outputs().size(), 32U);
  EXPECT_EQ(outputs().back(), "layers.3.attention.kv_append:state");
}

TEST_F(ConnectLlama, RefusalsNameBothShapesAndCycles) {
  EXPECT_THAT(refused("connect input=layers.5.mlp.residual.b value=layers.5.mlp.gate:dst"),
              AllOf(HasSubstr("576"), HasSubstr("1536"), HasSubstr("layers.5.mlp.residual"),
                    HasSubstr("layers.5.mlp.gate:dst")));
  EXPECT_THAT(refused("connect input=layers.5.mlp.norm.src value=layers.6.mlp.residual:dst"),
              AllOf(HasSubstr("layers.6.mlp.residual:dst f32[tokens, 576] depends on it"), HasSubstr("cycle"),
                    HasSubstr("layers.5.mlp.norm")));
  EXPECT_THAT(refused("connect input=layers.5.mlp.residual.a value=layers.5.mlp.residual:dst"),
              HasSubstr("A node cannot read what it makes itself"));
  EXPECT_THAT(refused("connect input=layers.5.mlp.residual.a value=layers.5.attention.residual:dst"),
              HasSubstr("reads layers.5.attention.residual:dst already"));
  EXPECT_THAT(refused("connect input=layers.5.mlp.residual.c value=layers.5.attention.residual:dst"),
              AllOf(HasSubstr("add has no such input"), HasSubstr("add reads a, b")));
  EXPECT_THAT(refused("connect input=layers.5.mlp.residul.a value=layers.5.attention.residual:dst"),
              HasSubstr("did you mean layers.5.mlp.residual?"));
  EXPECT_THAT(refused("connect input=layers.5.attention.sdpa.state value=layers.4.mlp.residual:dst"),
              HasSubstr("layers.4.mlp.residual:dst is f32[tokens, 576], not a state"));
  EXPECT_THAT(
      refused("connect input=layers.5.attention.kv_append.state value=layers.4.attention.kv_cache:state"),
      HasSubstr("is already written by layers.4.attention.kv_append"));
  EXPECT_THAT(refused("connect input=layers.5.attention.sdpa.state value=layers.5.attention.kv_cache:state"),
              HasSubstr("It would read layers.5.attention.kv_cache:state, which nothing that runs writes"));
  EXPECT_THAT(refused("connect input=layers.5.attention.sdpa.state value=layers.4.attention.kv_cache:state"),
              HasSubstr("which layers.4.attention.kv_append changes in place"));
  EXPECT_THAT(refused("disconnect input=layers.5.mlp.residual.b"), HasSubstr("add needs its input b"));
  EXPECT_THAT(refused("disconnect input=layers.5.attention.k_proj.bias"), HasSubstr("reads nothing there"));
  // It would fit, but not what follows from it.
  EXPECT_THAT(refused("connect input=output.norm.src value=layers.29.mlp.residual:dst"), "");
}

TEST_F(ConnectLlama, AWireIsToldAtOnceWhereItCannotGo) {
  const auto told = [&](const char* node, int input, std::string_view value) {
    const graph::Node& maker = this->node(value);
    const auto can = can_connect(graph_, graph_.find_path(node), input, maker.outputs[0]);
    return can.ok() ? std::string() : can.error().to_string();
  };
  EXPECT_EQ(told("layers.5.mlp.residual", 1, "layers.2.mlp.residual"), "");
  EXPECT_THAT(told("layers.5.mlp.residual", 1, "layers.2.mlp.gate"),
              AllOf(HasSubstr("576"), HasSubstr("1536")));
  EXPECT_THAT(told("layers.5.mlp.residual", 1, "layers.9.mlp.residual"), HasSubstr("cycle"));
  EXPECT_THAT(told("layers.5.mlp.residual", 7, "layers.2.mlp.residual"), HasSubstr("there is no input 7"));
  EXPECT_THAT(told("layers.5.mlp.residual", 0, "layers.5.attention.kv_cache"), HasSubstr("is a state"));
}

TEST_F(ConnectBert, PartsOfAVariadicInputComeAndGo) {
  make(R"(insert op=concat as=all inputs={"parts": ["layers.0.mlp.norm:dst", "layers.1.mlp.norm:dst"]}
       attributes={"axis": 1})");
  make("connect input=all.parts value=layers.2.mlp.norm:dst");
  EXPECT_EQ(node("all").inputs.size(), 3U);
  EXPECT_EQ(to_string(graph_.value(node("all").outputs[0]).type), "f32[tokens, 1152]");
  make("connect input=all.3 value=layers.3.mlp.norm:dst");
  make("disconnect input=all.1");
  EXPECT_EQ(reads("all", 0), "layers.0.mlp.norm:dst");
  EXPECT_EQ(reads("all", 1), "layers.2.mlp.norm:dst");
  EXPECT_EQ(reads("all", 2), "layers.3.mlp.norm:dst");
  EXPECT_EQ(node("all").inputs.size(), 3U);
  make("connect input=all.0 value=layers.4.mlp.norm:dst");
  EXPECT_EQ(reads("all", 0), "layers.4.mlp.norm:dst");
  EXPECT_THAT(refused("connect input=all.4 value=layers.3.mlp.norm:dst"), HasSubstr("no such input"));
}

TEST_F(ConnectBert, BiasesAreOptional) {
  make("disconnect input=layers.0.mlp.up_proj.bias");
  EXPECT_EQ(reads("layers.0.mlp.up_proj", 2), "");
  make("connect input=layers.0.mlp.up_proj.bias value=layers.1.mlp.up_proj.bias:weight");
  EXPECT_EQ(reads("layers.0.mlp.up_proj", 2), "layers.1.mlp.up_proj.bias:weight");
}

}  // namespace
}  // namespace orrery::edit
