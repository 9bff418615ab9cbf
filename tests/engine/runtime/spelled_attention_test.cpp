// Attention spelled out in products, transposes, masks and softmax gives what the fused op gives, on the CPU,
// on a card and with values of several types carried between both.
#include <gmock/gmock.h>

#include "engine/compile/placement.h"
#include "engine/passes/passes.h"
#include "engine/runtime/executor.h"
#include "tests/engine/runtime/tiny_model.h"

namespace orrery::runtime {
namespace {

constexpr int64_t kHeads = 6, kKvHeads = 2, kGroup = kHeads / kKvHeads, kHeadDim = 8, kVocabulary = 40,
                  kWidth = 24;
constexpr double kScale = 0.35;

using Floats = std::vector<float>;
using Ints = std::vector<int64_t>;

class SpelledAttention : public testing::Test {
 protected:
  SpelledAttention() {
    TinyFile tiny;
    tiny.add("table", kVocabulary, kWidth, 1.0F);
    tiny.add("query", kHeads * kHeadDim, kWidth, 0.3F);
    tiny.add("key", kKvHeads * kHeadDim, kWidth, 0.3F);
    tiny.add("value", kKvHeads * kHeadDim, kWidth, 0.3F);
    weights_ = std::make_shared<weights::WeightStore>(tiny.file(), nullptr);
  }

  ValueId op(const std::string& op, graph::Attributes attributes, std::vector<ValueId> inputs) {
    auto node = graph_.add_node(
        {op, scope_, op + std::to_string(count_++), std::move(attributes), std::move(inputs), {}, {}});
    EXPECT_TRUE(node.ok()) << (node.ok() ? "" : node.error().to_string());
    return graph_.node(node.value()).outputs.at(0);
  }
  ValueId input(const std::string& name) { return op("input", {{"name", name}}, {}); }
  ValueId linear(const std::string& name, ValueId src, int64_t rows) {
    return op("linear", {}, {src, weight(name, {rows, kWidth})});
  }
  ValueId weight(const std::string& name, Ints shape) {
    return op("weight", {{"tensor", name}, {"dtype", std::string("f32")}, {"shape", std::move(shape)}}, {});
  }
  ValueId reshape(ValueId src, Ints shape) { return op("reshape", {{"shape", std::move(shape)}}, {src}); }
  ValueId transpose(ValueId src, Ints order) {
    return op("transpose", {{"permutation", std::move(order)}}, {src});
  }
  ValueId number(double value) { return op("constant", {{"value", value}, {"shape", Ints{}}}, {}); }

  /// Query, key, value, the fused op's result and the spelled one's; `kept` for keys and values.
  void build(bool causal, const std::string& kept = "") {
    const ValueId ids = input("token_ids"), positions = input("positions"), starts = input("sequence_starts");
    const ValueId src = op("embedding", {}, {ids, weight("table", {kVocabulary, kWidth})});
    const ValueId query = linear("query", src, kHeads * kHeadDim),
                  key = linear("key", src, kKvHeads * kHeadDim),
                  value = linear("value", src, kKvHeads * kHeadDim);
    const ValueId fused =
        op("packed_attention",
           {{"heads", kHeads}, {"kv_heads", kKvHeads}, {"scale", kScale}, {"causal", causal}},
           {query, key, value, starts});
    scope_ = "spelled";
    const auto narrow = [&](ValueId v) { return kept.empty() ? v : op("cast", {{"dtype", kept}}, {v}); };
    const auto heads = [&](ValueId v, int64_t group) {  // (kv heads, group, tokens, head_dim)
      return transpose(reshape(narrow(v), {0, kKvHeads, group, kHeadDim}), {1, 2, 0, 3});
    };
    ValueId scores = op("matmul", {{"transpose_b", true}}, {heads(query, kGroup), heads(key, 1)});
    if (!kept.empty()) scores = op("cast", {{"dtype", std::string("f32")}}, {scores});
    scores = op("mul", {}, {scores, number(kScale)});
    if (causal) {
      const ValueId later = op("greater", {}, {reshape(positions, {1, -1}), reshape(positions, {-1, 1})});
      scores = op("where", {}, {later, number(-1e30), scores});
    }
    const ValueId shares = narrow(op("softmax", {}, {scores}));
    const ValueId mixed = op("matmul", {}, {shares, heads(value, 1)});
    ValueId spelled = reshape(transpose(mixed, {2, 0, 1, 3}), {0, -1});
    if (!kept.empty()) spelled = op("cast", {{"dtype", std::string("f32")}}, {spelled});
    graph_.set_outputs({query, key, value, fused, spelled});
  }

  /// What the graph's outputs are for a text, as passes and compiler make it.
  std::vector<Floats> run(const std::vector<int32_t>& text, const weights::DevicePtr& card = nullptr,
                          bool all_there = true) {
    auto passed = passes::run_passes(graph_, {});
    EXPECT_TRUE(passed.ok()) << (passed.ok() ? "" : passed.error().to_string());
    compile::Options options;
    options.bucket = compile::bucket_for(static_cast<int64_t>(text.size()), 0, 1);
    options.precision = kernels::Precision::exact;
    if (card) options.cards = {card};
    if (card && all_there) options.home = card->id();
    auto placed = compile::place(passed.value().graph, {.home = card && all_there ? "cuda:0" : "cpu"});
    EXPECT_TRUE(placed.ok()) << (placed.ok() ? "" : placed.error().to_string());
    EXPECT_TRUE(placed->moved.empty()) << placed->moved.front().reason;
    auto plan = compile::compile(placed->graph, *weights_, team_, options);
    EXPECT_TRUE(plan.ok()) << (plan.ok() ? "" : plan.error().to_string());
    if (!plan.ok()) return {};
    plan_ = plan.value();
    StepBatch batch;
    batch.add_sequence(text, 0, {});
    Executor executor(team_);
    std::vector<Floats> outputs;
    for (int again = 0; again < 3; ++again) {  // on a card the third is a replay
      outputs.clear();
      const auto done = executor.run(plan_, batch, {}, nullptr);
      executor.finish_captures();
      EXPECT_TRUE(done.ok()) << (done.ok() ? "" : done.error().to_string());
      for (size_t i = 0; i < plan_->output_slots.size(); ++i) {
        const auto& type = plan_->graph->value(plan_->graph->outputs()[i]).type;
        const auto count = *element_count(type.shape, {{kTokens, static_cast<int64_t>(text.size())}});
        const auto* values = static_cast<const float*>(executor.output(*plan_, i));
        outputs.emplace_back(values, values + count);
      }
    }
    return outputs;
  }

  /// Attention of the outputs query, key and value by plain loops.
  static std::vector<double> by_loops(const std::vector<Floats>& outputs, size_t tokens, bool causal) {
    const Floats &query = outputs[0], &key = outputs[1], &value = outputs[2];
    std::vector<double> dst(tokens * kHeads * kHeadDim);
    for (size_t h = 0; h < kHeads; ++h)
      for (size_t t = 0; t < tokens; ++t) {
        const size_t seen = causal ? t + 1 : tokens, own = h / kGroup;
        std::vector<double> weight(seen);
        double sum = 0;
        for (size_t s = 0; s < seen; ++s) {
          double dot = 0;
          for (size_t d = 0; d < kHeadDim; ++d)
            dot += double(query[(t * kHeads + h) * kHeadDim + d]) * key[(s * kKvHeads + own) * kHeadDim + d];
          sum += weight[s] = std::exp(kScale * dot);
        }
        for (size_t s = 0; s < seen; ++s)
          for (size_t d = 0; d < kHeadDim; ++d)
            dst[(t * kHeads + h) * kHeadDim + d] +=
                weight[s] / sum * value[(s * kKvHeads + own) * kHeadDim + d];
      }
    return dst;
  }

  static void expect_near(const Floats& got, const std::vector<double>& expected, double tolerance) {
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], expected[i], tolerance * std::max(1.0, std::abs(expected[i]))) << "element " << i;
  }
  static std::vector<double> doubles(const Floats& values) { return {values.begin(), values.end()}; }
  static std::vector<int32_t> text(size_t count) {
    std::vector<int32_t> ids(count);
    for (size_t i = 0; i < count; ++i) ids[i] = static_cast<int32_t>(i * i % kVocabulary);
    return ids;
  }
  static weights::DevicePtr open() {
    auto opened = open_device(0);
    EXPECT_TRUE(opened.ok()) << (opened.ok() ? "" : opened.error().to_string());
    return opened.ok() ? opened.value() : nullptr;
  }

  graph::Graph graph_{ops::registry()};
  std::shared_ptr<weights::WeightStore> weights_;
  kernels::ThreadTeam team_{2};
  std::shared_ptr<const compile::Plan> plan_;
  std::string scope_ = "model";
  int count_ = 0;
};

class Masked : public SpelledAttention, public testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(Causal, Masked, testing::Bool());

TEST_P(Masked, GivesTheFusedOpsResultOnTheCpu) {
  build(GetParam());
  for (const size_t tokens : {1U, 2U, 7U, 33U, 130U}) {
    SCOPED_TRACE(tokens);
    const std::vector<Floats> outputs = run(text(tokens));
    ASSERT_EQ(outputs.size(), 5U);
    expect_near(outputs[4], by_loops(outputs, tokens, GetParam()), 3e-6);
    expect_near(outputs[4], doubles(outputs[3]), 3e-6);
  }
}

TEST_P(Masked, GivesTheFusedOpsResultOnACard) {
  const auto card = open();
  ASSERT_TRUE(card);
  build(GetParam());
  for (const size_t tokens : {1U, 7U, 33U}) {
    SCOPED_TRACE(tokens);
    const std::vector<Floats> outputs = run(text(tokens), card);
    ASSERT_EQ(outputs.size(), 5U);
    for (const compile::Step& step : plan_->steps) EXPECT_FALSE(step.device.is_cpu()) << step.op;
    expect_near(outputs[4], by_loops(outputs, tokens, GetParam()), 3e-6);
    expect_near(outputs[4], doubles(outputs[3]), 3e-6);
  }
}

TEST_F(SpelledAttention, ValuesOfSixteenBitsAndBoolsAreCarriedBetweenDevices) {
  const auto card = open();
  ASSERT_TRUE(card);
  build(true, "bf16");
  const std::vector<Floats> here = run(text(19));
  expect_near(here[4], by_loops(here, 19, true), 2e-2);
  size_t moved = 0;
  for (const NodeId id : graph_.in_scope("spelled")) {  // every other one
    const std::string_view op = graph_.node(id).op->name;
    if (op == "matmul" || op == "where" || op == "cast" || op == "softmax") {
      ASSERT_TRUE(graph_.set_attribute(id, "device", std::string("cuda:0")).ok());
      ++moved;
    }
  }
  EXPECT_GT(moved, 6U);
  const std::vector<Floats> mixed = run(text(19), card, false);
  EXPECT_EQ(mixed[4], here[4]) << "bit for bit";
  std::map<DType, int> carried;
  for (const compile::Step& step : plan_->steps)
    if (step.transfer) ++carried[step.transfer->type.dtype];
  EXPECT_GT(carried[DType::bf16], 0);
  EXPECT_GT(carried[DType::boolean], 0);
}

TEST_F(SpelledAttention, ReshapesOfActivationsMoveNothing) {
  build(true);
  run(text(9));
  std::map<std::string, int> kernels;
  for (const compile::Step& step : plan_->steps)
    if (step.op == "reshape") ++kernels[step.kernel];
  EXPECT_EQ(kernels, (std::map<std::string, int>{{"view", 4}, {"cpu.runs", 2}}))
      << "of step inputs there is a copy, as they lie in the step's own memory";
}

}  // namespace
}  // namespace orrery::runtime
