// The verbs that add a node: insert, scale, probe; input and output of a graph of one's own.
#include "engine/ops/lowering.h"
#include "tests/engine/edit/edited_graph.h"

namespace orrery::edit {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using InsertLlama = EditedLlama;

class OwnGraph : public EditedGraph {
 protected:
  OwnGraph() : EditedGraph(Graph(ops::registry())) {}
};

TEST_F(InsertLlama, ANodeInTheWayOfAValue) {
  EXPECT_EQ(make("insert op=silu as=layers.3.mlp.twice after=layers.3.mlp.act:dst").name,
            "insert silu as layers.3.mlp.twice");
  EXPECT_EQ(reads("layers.3.mlp.twice"), "layers.3.mlp.act:dst");
  EXPECT_EQ(reads("layers.3.mlp.gate"), "layers.3.mlp.twice:dst");
  const auto place = [&](std::string_view path) {
    return std::ranges::find(graph_.order(), graph_.find_path(path)) - graph_.order().begin();
  };
  EXPECT_EQ(place("layers.3.mlp.twice"), place("layers.3.mlp.act") + 1);
}

TEST_F(InsertLlama, AllReadersAndResultsTakeItUnlessToldOtherwise) {
  make(R"(insert op=scale as=layers.3.half after=layers.3.mlp.residual:dst attributes={"factor":0.5})");
  EXPECT_EQ(reads("layers.4.attention.norm"), "layers.3.half:dst");
  EXPECT_EQ(reads("layers.4.attention.residual"), "layers.3.half:dst");
  make(R"(insert op=scale as=output.warm after=output.lm_head:dst attributes={"factor":2})");
  EXPECT_EQ(reads("sampler.sample"), "output.warm:dst");
  EXPECT_EQ(outputs()[1], "output.warm:dst");
  make("insert op=relu as=beside after=layers.5.mlp.residual:dst rewire=false");
  EXPECT_EQ(reads("layers.6.attention.norm"), "layers.5.mlp.residual:dst");
  EXPECT_EQ(live_count("beside"), 0U);
}

TEST_F(InsertLlama, WithOtherInputsAndAttributes) {
  make(
      R"(insert op=add as=layers.7.skip after=layers.7.mlp.residual:dst inputs={"b": "layers.2.mlp.residual:dst"})");
  EXPECT_EQ(reads("layers.7.skip", 1), "layers.2.mlp.residual:dst");
  make(R"(insert op=rms_norm as=layers.9.extra after=layers.9.mlp.residual:dst
       inputs={"weight": "layers/9/mlp/norm/weight"} attributes={"eps": 1e-05})");
  EXPECT_EQ(attribute("layers.9.extra", "eps"), graph::Attribute(1e-5));
  EXPECT_EQ(reads("layers.9.extra", 1), "layers.9.mlp.norm.weight:weight");
  make(
      R"(insert op=concat as=both inputs={"parts": ["layers.1.mlp.norm:dst", "layers.2.mlp.norm:dst"]}
       attributes={"axis": 1})");
  EXPECT_EQ(to_string(graph_.value(node("both").outputs[0]).type), "f32[tokens, 1152]");
}

TEST_F(InsertLlama, IsAskedToRunWhereItsMakerIs) {
  make("place scope=layers.3 device=cuda:0");
  make("precision scope=layers.3 dtype=exact");
  make("scale node=layers.3.mlp.act factor=0.5");
  EXPECT_EQ(device_of(node("layers.3.mlp.act_scale")), "cuda:0");
  EXPECT_EQ(precision_of(node("layers.3.mlp.act_scale")), "exact");
  make(R"(insert op=silu as=layers.3.cool after=layers.3.mlp.gate:dst attributes={"device": "cpu"})");
  EXPECT_EQ(device_of(node("layers.3.cool")), "cpu");
}

TEST_F(InsertLlama, RefusalsNameTheNodeTheValueAndBothShapes) {
  EXPECT_THAT(refused("insert op=silo as=x after=layers.3.mlp.act:dst"),
              AllOf(HasSubstr("no such op (silo)"), HasSubstr("did you mean silu")));
  EXPECT_THAT(refused("insert op=silu as=layers.3.mlp.act after=layers.3.mlp.gate:dst"),
              AllOf(HasSubstr("This name is taken"), HasSubstr("layers.3.mlp.act_2")));
  EXPECT_THAT(refused("insert op=silu as=layers.3 after=layers.3.mlp.gate:dst"), HasSubstr("name is taken"));
  EXPECT_THAT(refused("insert op=silu as=x after=layers.3.mlp.gates:dst"),
              HasSubstr("did you mean layers.3.mlp.gate?"));
  EXPECT_THAT(refused("insert op=silu as=x after=layers.3.mlp.gate:out"),
              HasSubstr("it makes layers.3.mlp.gate:dst"));
  EXPECT_THAT(refused("insert op=add as=x after=layers.3.mlp.gate:dst"),
              AllOf(HasSubstr("add needs its input b"), HasSubstr(R"(inputs={"b": "NODE:OUTPUT"})")));
  EXPECT_THAT(refused(R"(insert op=add as=x after=layers.3.mlp.gate:dst inputs={"c": "output.norm:dst"})"),
              HasSubstr("add has no input \"c\""));
  EXPECT_THAT(refused(R"(insert op=add as=x after=layers.3.mlp.gate:dst inputs={"a": "output.norm:dst"})"),
              HasSubstr("given twice"));
  EXPECT_THAT(
      refused(R"(insert op=add as=x after=layers.3.mlp.gate:dst inputs={"b": "layers.3.mlp.norm:dst"})"),
      AllOf(HasSubstr("1536"), HasSubstr("576"), HasSubstr("layers.3.mlp.norm:dst")));
  EXPECT_THAT(
      refused(R"(insert op=add as=x after=layers.3.mlp.act:dst inputs={"b": "layers.3.mlp.gate:dst"})"),
      HasSubstr("cycle"));
  EXPECT_THAT(refused("insert op=scale as=x after=layers.3.mlp.act:dst"),
              HasSubstr("scale needs the attribute factor"));
  EXPECT_THAT(refused(R"(insert op=scale as=x after=layers.3.mlp.act:dst attributes={"factor": "two"})"),
              HasSubstr("factor of scale is a number, not two"));
  EXPECT_THAT(refused(R"(insert op=scale as=x after=layers.3.mlp.act:dst attributes={"factor": })"),
              HasSubstr("Not legal JSON"));
  EXPECT_THAT(refused("insert op=silu as=x after=layers.3.attention.kv_append:state"),
              HasSubstr("is a state, which the input src does not read"));
  EXPECT_THAT(refused("insert op=constant as=x after=layers.3.mlp.act:dst"), HasSubstr("leave after out"));
}

TEST_F(InsertLlama, ScaleTakesANameOrMakesOne) {
  EXPECT_EQ(make("scale node=layers.6.attention.o_proj factor=0.9").name,
            "scale layers.6.attention.o_proj by 0.9");
  EXPECT_EQ(reads("layers.6.attention.residual", 1), "layers.6.attention.o_proj_scale:dst");
  EXPECT_EQ(attribute("layers.6.attention.o_proj_scale", "factor"), graph::Attribute(0.9));
  make("scale node=layers.6.attention.o_proj factor=2 as=layers.6.warm");
  EXPECT_EQ(reads("layers.6.attention.o_proj_scale"), "layers.6.warm:dst");
  make("scale node=layers.6.attention.o_proj factor=0");
  EXPECT_TRUE(has("layers.6.attention.o_proj_scale_2"));
  EXPECT_THAT(refused("scale node=layers.6.attention.o_proj factor=inf"), HasSubstr("is not a number"));
  EXPECT_THAT(refused("scale node=layers.6.attention.oproj factor=1"),
              HasSubstr("did you mean layers.6.attention.o_proj?"));
  EXPECT_THAT(refused("scale node=layers.6.attention.o_proj.weight factor=1"),
              HasSubstr("not computed in a step"));
}

TEST_F(InsertLlama, HeadsAndRowsAreZeroForAllWhoReadThem) {
  const auto zeros = [&](std::string_view path) {
    const auto data = std::get<std::vector<double>>(attribute(path, "data"));
    return std::ranges::count(data, 0.0);
  };
  EXPECT_EQ(make("zero node=layers.10.attention.sdpa heads=2").name,
            "zero heads 2 of layers.10.attention.sdpa");
  EXPECT_EQ(reads("layers.10.attention.o_proj"), "layers.10.attention.sdpa_mask:dst");
  EXPECT_EQ(zeros("layers.10.attention.sdpa_mask.columns"), 64);
  make("zero node=layers.10.attention.sdpa heads=2-3");
  EXPECT_EQ(zeros("layers.10.attention.sdpa_mask.columns"), 128) << "one mask for each node";
  make("zero node=layers.10.mlp.gate rows=0-63,1535");
  EXPECT_EQ(zeros("layers.10.mlp.gate_mask.columns"), 65);
  EXPECT_THAT(refused("zero node=layers.10.attention.sdpa heads=3"), HasSubstr("are zero already"));
  EXPECT_THAT(refused("zero node=layers.10.attention.sdpa heads=9"),
              AllOf(HasSubstr("It has no head 9 (layers.10.attention.sdpa)"), HasSubstr("0 to 8")));
  EXPECT_THAT(refused("zero node=layers.10.mlp.gate rows=1536"), HasSubstr("It has no row 1536"));
  EXPECT_THAT(refused("zero node=layers.10.mlp.gate heads=1"), HasSubstr("A mul has no heads"));
  EXPECT_THAT(refused("zero node=layers.10.mlp.gate"), HasSubstr("one of both"));
  EXPECT_THAT(refused("zero node=layers.10.mlp.gate rows=1 heads=1"), HasSubstr("said twice"));
}

TEST_F(InsertLlama, AProbeChangesNothingThatIsFed) {
  std::vector<uint64_t> before;
  for (const ValueId output : graph_.outputs()) before.push_back(graph_.feed_hash(output));
  EXPECT_EQ(make("probe as=layers.3.seen value=layers.3.mlp.residual:dst").name,
            "probe layers.3.mlp.residual:dst");
  make("probe as=probes.query value=layers.0.attention.q_proj:dst");
  EXPECT_EQ(reads("layers.4.attention.norm"), "layers.3.seen:dst");
  for (size_t i = 0; i < before.size(); ++i) EXPECT_EQ(graph_.feed_hash(graph_.outputs()[i]), before[i]);
  make("bypass scope=layers.3");
  EXPECT_EQ(reads("layers.4.attention.norm"), "layers.2.mlp.residual:dst");
  EXPECT_THAT(refused("probe as=p value=layers.3.mlp.norm.weight:weight"),
              HasSubstr("not computed in a step"));
  EXPECT_THAT(refused("probe as=p value=layers.4.attention.kv_append:state"),
              HasSubstr("not computed in a step"));
}

TEST_F(OwnGraph, IsMadeOfNothingByTheSameVerbs) {
  make(R"(insert op=constant as=a attributes={"value": 2, "shape": [4, 8]})");
  make(R"(insert op=constant as=b attributes={"value": 3, "shape": [8]})");
  make(R"(insert op=mul as=y inputs={"a": "a", "b": "b"})");
  make("output value=y:dst");
  EXPECT_EQ(outputs(), std::vector<std::string>{"y:dst"});
  EXPECT_THAT(refused("output value=y:dst"), HasSubstr("a result of the graph already"));
  make("insert op=tanh as=z after=y:dst");
  EXPECT_EQ(outputs(), std::vector<std::string>{"z:dst"});
  make("output value=z:dst remove=true");
  EXPECT_EQ(outputs(), std::vector<std::string>{});
  EXPECT_THAT(refused("output value=z:dst remove=true"), HasSubstr("no result of the graph"));
  make("delete scope=a,b,y,z");
  EXPECT_TRUE(graph_.order().empty());
}

}  // namespace
}  // namespace orrery::edit
