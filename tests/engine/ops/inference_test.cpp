// What the inferences refuse, with the words a person sees.
#include "tests/engine/ops/bench.h"

namespace orrery::ops::test {
namespace {

using testing::HasSubstr;

struct Refusals : testing::Test {
  Bench bench{3, 1, 2};
  ValueId x = bench.rows("x", kTokens, noise(3 * 64, 1));
  ValueId y = bench.rows("y", kTokens, noise(3 * 32, 2));
  ValueId matrix = bench.weight("w", DType::q8_0, {16, 32}, noise(16 * 32, 3));
  ValueId vector = bench.weight("v", DType::f32, {32}, noise(32, 4));

  std::string refused(const std::string& op, std::vector<ValueId> inputs, Attributes attributes = {}) {
    const auto node = bench.add(op, std::move(inputs), std::move(attributes));
    return node.ok() ? "" : node.error().to_string();
  }
};

TEST_F(Refusals, NormsNameBothShapes) {
  EXPECT_EQ(refused("rms_norm", {x, vector}, {{"eps", 1e-5}}),
            "weight is f32[32], but a norm of src f32[tokens, 64] needs [64] of f32, f16 or bf16 (node0, "
            "weight from "
            "v:weight)");
  EXPECT_THAT(refused("rms_norm", {y, vector}, {{"eps", -1.0}}), HasSubstr("eps is -1"));
  EXPECT_THAT(refused("rms_norm", {y, vector}, {{"eps", std::nan("")}}), HasSubstr("eps is nan"));
  EXPECT_THAT(refused("layer_norm", {y, vector, matrix}, {{"eps", 0.0}}), HasSubstr("bias is Q8_0[16, 32]"));
  EXPECT_THAT(refused("add_rms_norm", {y, x, vector}, {{"eps", 0.0}}),
              HasSubstr("residual is f32[tokens, 64], but src is f32[tokens, 32]"));
  EXPECT_THAT(refused("rms_norm", {y, vector}), HasSubstr("needs the attribute eps"));
}

TEST_F(Refusals, LinearsNameBothShapes) {
  EXPECT_THAT(
      refused("linear", {x, matrix}),
      HasSubstr("weight is Q8_0[16, 32], but src is f32[tokens, 64]: its rows have 32 elements, not 64"));
  EXPECT_THAT(refused("linear", {y, matrix, vector}),
              HasSubstr("bias is f32[32], but a weight Q8_0[16, 32] needs [16]"));
  EXPECT_THAT(refused("linear", {y, vector}), HasSubstr("must be a matrix of weights"));
  EXPECT_THAT(refused("linear", {y, matrix}, {{"epilogue", std::string("silu_mul")}}),
              HasSubstr("Choose one of none"));
  EXPECT_THAT(refused("linear", {y, matrix}, {{"epilogue", std::string("swish")}}),
              HasSubstr("Choose one of none, silu, gelu_tanh, gelu_erf, relu, tanh"));
  EXPECT_THAT(refused("fused_linear", {y, matrix}, {{"segments", int64_t{2}}}),
              HasSubstr("ask for 2 operands; 1 are"));
  EXPECT_THAT(refused("fused_linear", {y, matrix}, {{"segments", int64_t{5}}}), HasSubstr("must be 1 to 4"));
  EXPECT_THAT(
      refused("fused_linear", {y, matrix}, {{"segments", int64_t{1}}, {"epilogue", std::string("silu_mul")}}),
      HasSubstr("needs two segments"));
  EXPECT_THAT(refused("fused_linear", {x, matrix}, {{"segments", int64_t{1}}}),
              HasSubstr("weight 0 is Q8_0[16, 32]"));
}

TEST_F(Refusals, AttentionChecksHeads) {
  const ValueId state = bench.state(2, 16);
  const auto with = [](int64_t heads, int64_t kv_heads) {
    return Attributes{{"heads", heads}, {"kv_heads", kv_heads}, {"scale", 1.0}};
  };
  EXPECT_EQ(refused("attention", {x, state}, with(4, 2)), "");
  EXPECT_THAT(refused("attention", {x, state}, with(0, 2)), HasSubstr("heads is 0"));
  EXPECT_THAT(refused("attention", {x, state}, with(4, 3)), HasSubstr("kv_heads 3 does not divide"));
  EXPECT_THAT(refused("attention", {x, state}, with(6, 2)), HasSubstr("which 6 heads do not divide"));
  EXPECT_THAT(refused("attention", {x, state}, with(8, 2)),
              HasSubstr("state is f16[2, 16], but query f32[tokens, 64] needs [2, 8]"));
  EXPECT_THAT(refused("kv_append", {state, x, x}), HasSubstr("a token of state f16[2, 16] has 32 elements"));
  EXPECT_THAT(refused("kv_append", {state, y, x}),
              HasSubstr("value is f32[tokens, 64], but key is f32[tokens, 32]"));
  const ValueId starts = bench.input("sequence_starts");
  EXPECT_EQ(refused("packed_attention", {x, y, y, starts}, with(4, 2)), "");
  EXPECT_THAT(refused("packed_attention", {x, y, y, starts}, with(4, 4)),
              HasSubstr("4 kv heads of 16 are needed"));
  EXPECT_THAT(refused("packed_attention", {x, y, y, y}, with(4, 2)), HasSubstr("must be i32[n]"));
}

TEST_F(Refusals, FastmaxChecksItsTerms) {
  const ValueId state = bench.state(2, 16), starts = bench.input("sequence_starts");
  const auto with = [](const std::string& name, graph::Attribute value) {
    Attributes attributes = {
        {"heads", int64_t{4}}, {"kv_heads", int64_t{2}}, {"scale", 1.0}, {"kind", std::string("fastmax")}};
    attributes[name] = std::move(value);
    return attributes;
  };
  EXPECT_EQ(refused("attention", {x, state}, with("p", int64_t{1})), "");
  EXPECT_THAT(refused("attention", {x, state}, with("kind", std::string("linear"))),
              HasSubstr("Choose one of softmax, fastmax"));
  EXPECT_THAT(refused("attention", {x, state}, with("p", int64_t{3})),
              HasSubstr("p is 3; it must be 1 or 2"));
  for (const double limit : {0.0, -1.0, 257.0, double{NAN}})
    EXPECT_THAT(refused("attention", {x, state}, with("limit", limit)),
                HasSubstr("it must be above 0 and at most 256"));
  EXPECT_THAT(refused("attention", {x, state}, with("softcap", 50.0)),
              HasSubstr("softcap is 50, which fastmax does not have"));
  const ValueId bias = bench.weight("b", DType::f32, {8, 4}, noise(32, 5));
  EXPECT_THAT(refused("packed_attention", {x, y, y, starts, bias}, with("p", int64_t{2})),
              HasSubstr("bias is f32[8, 4], but fastmax adds none"));
}

TEST_F(Refusals, RopeChecksItsGeometry) {
  const ValueId positions = bench.input("positions");
  const auto with = [](int64_t heads, int64_t head_dim, int64_t dims, double base) {
    return Attributes{{"style", std::string("half")},
                      {"heads", heads},
                      {"head_dim", head_dim},
                      {"rope_dims", dims},
                      {"base", base}};
  };
  EXPECT_EQ(refused("rope", {x, positions}, with(4, 16, 16, 1e4)), "");
  EXPECT_THAT(refused("rope", {x, positions}, with(4, 8, 8, 1e4)), HasSubstr("4 heads of 8 need [rows, 32]"));
  EXPECT_THAT(refused("rope", {x, positions}, with(4, 16, 15, 1e4)), HasSubstr("rope_dims is 15"));
  EXPECT_THAT(refused("rope", {x, positions}, with(4, 16, 18, 1e4)), HasSubstr("rope_dims is 18"));
  EXPECT_THAT(refused("rope", {x, positions}, with(4, 16, 16, 0)), HasSubstr("base is 0"));
  EXPECT_THAT(refused("rope", {x, positions}, with(INT64_MAX, 16, 16, 1e4)),
              HasSubstr("src is f32[tokens, 64]"));
  EXPECT_THAT(refused("rope", {x, bench.input("output_rows")}, with(4, 16, 16, 1e4)),
              HasSubstr("each row needs"));
}

TEST_F(Refusals, PointwiseAndRows) {
  EXPECT_THAT(refused("add", {x, y}), HasSubstr("b is f32[tokens, 32], but a is f32[tokens, 64]"));
  EXPECT_THAT(refused("mul", {x, vector}), HasSubstr("32 and 64 cannot be broadcast"));
  EXPECT_THAT(refused("silu", {matrix}), HasSubstr("src is Q8_0[16, 32]; it must be of f32"));
  EXPECT_THAT(refused("gelu", {x}, {{"approximation", std::string("fast")}}),
              HasSubstr("Choose one of none, tanh, quick"));
  EXPECT_THAT(refused("pool", {x, bench.input("sequence_starts")}, {{"kind", std::string("max")}}),
              HasSubstr("mean"));
  EXPECT_THAT(refused("table_row", {matrix}, {{"row", int64_t{16}}}),
              HasSubstr("row is 16, but table is Q8_0[16, 32]"));
  EXPECT_THAT(refused("embedding", {x, matrix}), HasSubstr("ids is f32[tokens, 64]; it must be i32[n]"));
}

TEST_F(Refusals, SourcesCheckTheirAttributes) {
  const auto weight = [](std::string dtype, std::vector<int64_t> shape) {
    return Attributes{{"tensor", std::string("t")}, {"dtype", std::move(dtype)}, {"shape", std::move(shape)}};
  };
  EXPECT_THAT(refused("weight", {}, weight("q5", {32})), HasSubstr("dtype is \"q5\""));
  EXPECT_THAT(refused("weight", {}, weight("Q4_1", {4, 33})),
              HasSubstr("33 elements cannot be stored as Q4_1"));
  EXPECT_THAT(refused("weight", {}, weight("f32", {0})), HasSubstr("has the size 0"));
  EXPECT_THAT(refused("weight", {}, weight("f32", {4194305, 4194305, 211106198978564})),
              HasSubstr("more elements"));
  EXPECT_THAT(refused("input", {}, {{"name", std::string("pixels")}}), HasSubstr("Choose one of token_ids"));
  EXPECT_THAT(refused("state", {},
                      {{"name", std::string("s")},
                       {"layer", int64_t{0}},
                       {"kv_heads", int64_t{0}},
                       {"head_dim", int64_t{64}}}),
              HasSubstr("kv_heads is 0"));
  const auto record = [](std::string kind, std::vector<int64_t> shape) {
    return Attributes{{"name", std::string("s")},
                      {"layer", int64_t{0}},
                      {"kind", std::move(kind)},
                      {"shape", std::move(shape)}};
  };
  EXPECT_EQ(refused("state", {}, record("record", {3, 64})), "");
  EXPECT_THAT(refused("state", {}, record("record", {})), HasSubstr("shape is empty"));
  EXPECT_THAT(refused("state", {}, record("record", {0})), HasSubstr("has the size 0"));
  EXPECT_THAT(refused("state", {}, record("moments", {3})), HasSubstr("Choose one of kv, record"));
}

TEST_F(Refusals, ATransferKeepsItsTypeAndNamesADevice) {
  EXPECT_THAT(refused("transfer", {x}), HasSubstr("a transfer needs a device"));
  const auto node = bench.add("transfer", {x}, {{"device", std::string("cuda:0")}});
  ASSERT_TRUE(node.ok()) << node.error().to_string();
  const graph::Value& copy = bench.graph().value(bench.graph().node(*node).outputs[0]);
  EXPECT_EQ(copy.type, bench.graph().value(x).type);
  EXPECT_EQ(copy.kind, graph::ValueKind::activation);
  EXPECT_EQ(bench.cost(*node).bytes, 3 * 64 * 4) << "what crosses, once";
}

TEST_F(Refusals, TypesOfTheStepInputs) {
  const auto type = [&](const char* name) { return bench.graph().value(bench.input(name)).type; };
  EXPECT_EQ(type("token_ids"), (graph::ValueType{DType::i32, {kTokens}}));
  EXPECT_EQ(type("kv_lengths"), (graph::ValueType{DType::i32, {kSequences}}));
  EXPECT_EQ(type("sequence_starts"), (graph::ValueType{DType::i32, {Dim(kSequences) + 1}}));
  EXPECT_EQ(type("output_rows"), (graph::ValueType{DType::i32, {kOutputs}}));
  const auto pooled =
      bench.add("pool", {x, bench.graph().node(bench.graph().find_path("sequence_starts")).outputs[0]},
                {{"kind", std::string("mean")}});
  ASSERT_TRUE(pooled.ok());
  EXPECT_EQ(bench.graph().value(bench.graph().node(*pooled).outputs[0]).type,
            (graph::ValueType{DType::f32, {kSequences, 64}}));
}

}  // namespace
}  // namespace orrery::ops::test
