// A graph of one's own as a session: run on arrays, edited, undone, previewed. On the CPU and on the test
// module's card.
#include "engine/api/own_graph.h"

#include "tests/engine/api/arrays.h"
#include "tests/engine/own/own_graphs.h"

namespace orrery::api {
namespace {

using own::Maker;
using testing::ElementsAre;
using testing::HasSubstr;

class OwnGraph : public testing::TestWithParam<const char*> {
 protected:
  static OpenOptions options() {
    OpenOptions options;
    options.device = GetParam();
    options.precision = "exact";
    options.threads = 1;
    return options;
  }
  void SetUp() override {
    const auto session = open_graph(small(), "test", options());
    if (!session.ok())
      FAIL() << (session.error().code == ErrorCode::device ? "no device to test: " : "")
             << session.error().to_string();
  }
  static std::shared_ptr<Session> open(const graph::GraphVersion& graph) {
    auto session = open_graph(graph, "test", options());
    if (session.ok()) return session.value();
    ADD_FAILURE() << session.error().to_string();
    return nullptr;
  }
  /// (x * y + x) with x [n, 3] and y [3].
  static graph::GraphVersion small() {
    Maker make;
    const ValueId x = make.input("x", "f32", "n, 3"), y = make.input("y", "f32", "3");
    return make.done({make.op("add", "sum", {make.op("mul", "product", {x, y}), x})});
  }
  static RunRequest small_request(int64_t rows) {
    std::vector<float> xs;
    for (int64_t i = 0; i < 3 * rows; ++i) xs.push_back(static_cast<float>(i));
    return {{{"x", floats({rows, 3}, xs)}, {"y", floats({3}, {1, 2, 3})}}};
  }
  static GraphRun run(Session& session, const RunRequest& request) {
    auto run = run_graph(session, request, {});
    EXPECT_TRUE(run.ok()) << (run.ok() ? "" : run.error().to_string());
    return run.ok() ? std::move(run).value() : GraphRun{};
  }
  static std::string refusal(Session& session, const RunRequest& request) {
    const auto run = run_graph(session, request, {});
    return run.ok() ? std::string("it ran") : run.error().to_string();
  }
  static ValueId value_of(const Session& session, const std::string& path) {
    const graph::GraphVersion graph = session.model_graph();
    return graph->node(graph->find_path(path)).outputs.front();
  }
};
INSTANTIATE_TEST_SUITE_P(, OwnGraph, testing::Values("cpu", "cuda:0"),
                         [](const auto& info) { return info.index == 0 ? "OnTheCpu" : "OnTheCard"; });

TEST_P(OwnGraph, RunsOnArraysOfAnySizeThatFits) {
  const auto session = open(small());
  const GraphRun two = run(*session, small_request(2));
  ASSERT_EQ(two.outputs.size(), 1U);
  EXPECT_EQ(two.outputs[0].path, "sum:dst");
  EXPECT_THAT(two.outputs[0].array.shape, ElementsAre(2, 3));
  EXPECT_THAT(values(two.outputs[0].array), ElementsAre(0, 3, 8, 6, 12, 20));
  EXPECT_EQ(two.sizes, (Bindings{{"n", 2}}));
  EXPECT_THAT(values(run(*session, small_request(1)).outputs[0].array), ElementsAre(0, 3, 8));
}

TEST_P(OwnGraph, TellsKernelDeviceAndTimeOfEachNode) {
  const auto session = open(small());
  RunRequest request = small_request(4);
  request.repeat = 5;
  const GraphRun ran = run(*session, request);
  ASSERT_EQ(ran.plan.steps.size(), 2U);
  for (const PlanStep& step : ran.plan.steps) {
    EXPECT_EQ(step.device, GetParam());
    EXPECT_FALSE(step.kernel.empty());
    EXPECT_GT(step.us, 0);
    EXPECT_GT(step.bytes, 0);
  }
  EXPECT_GT(ran.us, 0);
  EXPECT_LE(ran.plan.steps[0].us, 1e5);
}

TEST_P(OwnGraph, EveryValueCanBeKept) {
  const auto session = open(small());
  RunRequest request = small_request(1);
  request.keep = {value_of(*session, "product"), value_of(*session, "x"), value_of(*session, "sum")};
  const GraphRun ran = run(*session, request);
  ASSERT_EQ(ran.kept.size(), 3U);
  EXPECT_THAT(values(ran.kept[0].array), ElementsAre(0, 2, 6));
  EXPECT_THAT(values(ran.kept[1].array), ElementsAre(0, 1, 2));
  EXPECT_EQ(ran.kept[2].path, "sum:dst");
  EXPECT_THAT(values(ran.outputs[0].array), ElementsAre(0, 3, 8));
}

TEST_P(OwnGraph, WhatAFusionWouldLeaveOutIsThereWhenItIsKept) {
  Maker make;
  const ValueId x = make.input("x", "f32", "n, 4"), more = make.input("more", "f32", "n, 4");
  const ValueId weight = make.input("weight", "f32", "4");
  const ValueId sum = make.op("add", "sum", {x, more});
  const ValueId normed = make.op("rms_norm", "normed", {sum, weight}, {{"eps", 1e-6}});
  const auto session = open(make.done({normed}));
  RunRequest request{{{"x", floats({1, 4}, {1, 2, 3, 4})},
                      {"more", floats({1, 4}, {1, 0, -1, -2})},
                      {"weight", floats({4}, {1, 1, 1, 1})}}};
  const GraphRun fused = run(*session, request);
  EXPECT_EQ(fused.plan.steps.size(), 1U) << "add and norm are one";
  EXPECT_EQ(fused.plan.steps[0].op, "add_rms_norm");
  EXPECT_THAT(values(fused.outputs[0].array), testing::Each(testing::FloatNear(1, 1e-5)));
  request.keep = {sum};
  const GraphRun kept = run(*session, request);
  EXPECT_THAT(values(kept.kept[0].array), ElementsAre(2, 2, 2, 2));
  EXPECT_EQ(values(kept.outputs[0].array), values(fused.outputs[0].array));
}

TEST_P(OwnGraph, WhatDoesNotFitIsRefused) {
  const auto session = open(small());
  RunRequest request = small_request(2);
  request.inputs["y"] = floats({2}, {1, 2});
  EXPECT_EQ(refusal(*session, request),
            "y is f32[2], but the graph asks f32[3]: give it the sizes that the graph asks");
  request.inputs["y"] = array<int32_t>(DType::i32, {3}, {1, 2, 3});
  EXPECT_THAT(refusal(*session, request), HasSubstr("y is i32[3], but the graph asks f32[3]"));
  request.inputs.erase("y");
  EXPECT_THAT(refusal(*session, request), HasSubstr("Nothing is given for y, f32[3]"));
  EXPECT_EQ(refusal(*session, small_request(1)), "it ran") << "the session goes on";
}

// The axis has a size only where an array is given.
TEST_P(OwnGraph, TheFirstOfAnAxisAreTakenWhereThereAreSoMany) {
  Maker make;
  const ValueId x = make.input("x", "f32", "n");
  const ValueId first = make.op("top_k", "first", {x}, {{"k", int64_t{3}}});
  const auto session = open(make.done({first}));
  const auto given = [](std::vector<float> xs) {
    const auto size = static_cast<int64_t>(xs.size());
    return RunRequest{{{"x", floats({size}, std::move(xs))}}};
  };
  EXPECT_THAT(values(run(*session, given({1, 7, 2, 7, 5})).outputs[0].array), ElementsAre(7, 7, 5));
  EXPECT_THAT(refusal(*session, given({1, 2})), HasSubstr("k is 3, but axis 0 of src f32[2] has 2 elements"));
  EXPECT_EQ(refusal(*session, given({3, 1, 2})), "it ran") << "the session goes on";
}

TEST_P(OwnGraph, WhatCannotRunSaysWhy) {
  Maker texts;
  const ValueId ids = texts.op("input", "ids", {}, {{"name", "token_ids"}});
  EXPECT_THAT(refusal(*open(texts.done({texts.op("cast", "wide", {ids}, {{"dtype", "i64"}})})), {}),
              HasSubstr("token_ids is what a step of a model brings"));
  Maker weights;
  const ValueId x = weights.input("x", "f32", "n, 4"), w = weights.input("w", "f32", "2, 4");
  EXPECT_THAT(refusal(*open(weights.done({weights.op("linear", "y", {x, w})})),
                      {{{"x", floats({1, 4}, {1, 2, 3, 4})}, {"w", floats({2, 4}, std::vector<float>(8))}}}),
              HasSubstr("linear reads a weight of the file there"));
  Maker draws;
  const ValueId logits = draws.input("logits", "f32", "1, 4");
  EXPECT_THAT(refusal(*open(draws.done({draws.op("sample", "token", {logits})})),
                      {{{"logits", floats({1, 4}, {1, 2, 3, 4})}}}),
              HasSubstr("draws by the requests of the step's outputs"));
  Maker keeps;
  const ValueId state =
      keeps.op("state", "kv", {},
               {{"name", "kv"}, {"layer", int64_t{0}}, {"kv_heads", int64_t{1}}, {"head_dim", int64_t{4}}});
  const ValueId query = keeps.input("query", "f32", "n, 4");
  EXPECT_THAT(
      refusal(
          *open(keeps.done({keeps.op("attention", "attended", {query, state},
                                     {{"heads", int64_t{1}}, {"kv_heads", int64_t{1}}, {"scale", 1.0}})})),
          {{{"query", floats({1, 4}, {1, 2, 3, 4})}}}),
      HasSubstr("keeps what was read of a text"));
  const auto empty = new_graph(options());
  ASSERT_TRUE(empty.ok());
  EXPECT_THAT(refusal(**empty, {}), HasSubstr("The graph has no outputs"));
}

TEST_P(OwnGraph, OpsOnTextsAreGivenTheirStarts) {
  Maker make;
  const ValueId x = make.input("x", "f32", "n, 2"), starts = make.input("starts", "i32", "texts+1");
  const ValueId attended = make.op("packed_attention", "attended", {x, x, x, starts},
                                   {{"heads", int64_t{1}}, {"kv_heads", int64_t{1}}, {"scale", 0.0}});
  const auto session = open(make.done({make.op("pool", "pooled", {attended, starts}, {{"kind", "mean"}})}));
  RunRequest request{{{"x", floats({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8})},
                      {"starts", array<int32_t>(DType::i32, {3}, {0, 3, 4})}}};
  const GraphRun ran = run(*session, request);
  EXPECT_THAT(ran.outputs[0].array.shape, ElementsAre(2, 2));
  EXPECT_THAT(values(ran.outputs[0].array), testing::Pointwise(testing::FloatNear(1e-5), {3, 4, 7, 8}));
  for (const std::vector<int32_t>& bad :
       std::vector<std::vector<int32_t>>{{0, 3, 5}, {0, 5, 4}, {1, 3, 4}, {0, 0, 4}, {0, 3, INT32_MAX}}) {
    request.inputs["starts"] = array(DType::i32, {3}, bad);
    EXPECT_THAT(refusal(*session, request), HasSubstr("rise from 0 to the"));
  }
}

TEST_P(OwnGraph, IsEditedAndUndone) {
  const auto session = open(small());
  run(*session, small_request(2));
  EXPECT_EQ(session->state()->sizes, (Bindings{{"n", 2}}));
  const auto plan = session->plan(Phase::prefill);
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  EXPECT_EQ(plan->steps.size(), 2U) << "the kernels are known from the run on";
  ASSERT_TRUE(session->apply({"place", {{"scope", "product"}, {"device", "cpu"}}}).ok());
  const GraphRun placed = run(*session, small_request(2));
  EXPECT_THAT(values(placed.outputs[0].array), ElementsAre(0, 3, 8, 6, 12, 20));
  if (GetParam() != std::string("cpu")) {
    EXPECT_EQ(placed.plan.steps.size(), 3U) << "with a transfer to the card";
  }
  ASSERT_TRUE(session->undo().ok());
  EXPECT_EQ(run(*session, small_request(3)).plan.steps.size(), 2U);
  const auto refused = session->apply({"set", {{"node", "sum"}, {"attribute", "axis"}, {"value", "1"}}});
  EXPECT_FALSE(refused.ok());
  EXPECT_EQ(refusal(*session, small_request(1)), "it ran");
}

TEST_P(OwnGraph, GrowsFromNothing) {
  auto session = new_graph(options());
  ASSERT_TRUE(session.ok()) << session.error().to_string();
  const auto apply = [&](const std::string& words) {
    const auto applied = session.value()->apply(edit::parse_edit(words).value());
    return applied.ok() ? std::string() : applied.error().to_string();
  };
  EXPECT_EQ(apply("input as=x dtype=f32 shape=n,2"), "");
  EXPECT_EQ(apply("insert op=relu as=block.y inputs={\"src\":\"x:value\"}"), "");
  EXPECT_EQ(apply("output value=block.y:dst"), "");
  EXPECT_EQ(apply("insert op=scale as=half after=block.y:dst attributes={\"factor\":0.5}"), "");
  const RunRequest request{{{"x", floats({2, 2}, {-1, 2, 3, -4})}}};
  EXPECT_THAT(values(run(**session, request).outputs[0].array), ElementsAre(0, 1, 1.5F, 0))
      << "what comes after an output is the output";
  EXPECT_THAT(apply("insert op=matmul as=product inputs={\"a\":\"x:value\",\"b\":\"half:dst\"}"),
              HasSubstr("columns of a need as many rows of b"))
      << "n is no 2, whatever it was in the last run";
  while (session.value()->undo().ok()) {
  }
  EXPECT_TRUE(session.value()->model_graph()->order().empty());
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(session.value()->redo().ok());
  EXPECT_EQ(run(**session, request).outputs[0].path, "half:dst");
}

TEST_P(OwnGraph, PreviewsWithAndWithoutSizes) {
  const auto session = open(small());
  const std::vector<edit::Edit> edits{{"place", {{"scope", "product"}, {"device", "cpu"}}}};
  auto preview = session->preview(edits, {});
  ASSERT_TRUE(preview.ok()) << preview.error().to_string();
  EXPECT_TRUE(preview->refusals.empty());
  EXPECT_TRUE(preview->memory.empty()) << "nobody knows what it takes";
  run(*session, small_request(2));
  preview = session->preview(edits, {});
  ASSERT_TRUE(preview.ok()) << preview.error().to_string();
  EXPECT_FALSE(preview->memory.empty());
}

TEST_P(OwnGraph, ReadsAndWritesNoText) {
  const auto session = open(small());
  EXPECT_EQ(session->info().task, Task::tensors);
  const auto chat = session->chat({}, {}, {});
  ASSERT_FALSE(chat.ok());
  EXPECT_THAT(chat.error().to_string(), HasSubstr("does not write text"));
  EXPECT_THAT(session->tokenize("text", true).error().to_string(), HasSubstr("reads and writes no text"));
  EXPECT_FALSE(session->embed({"a"}, {}).ok());
  EXPECT_FALSE(session->bench({}, {}, {}).ok());
  EXPECT_FALSE(session->fork({.context = 64}, {}).ok());
  EXPECT_TRUE(session->fork({}, {}).ok()) << "what needs no context is another session as of any model";
  EXPECT_FALSE(session->plan(Phase::prefill).ok()) << "sizes are not known before the first run";
  EXPECT_FALSE(run_graph(*session, {}, {}).ok());
}

TEST(Arrays, TellTheirStatistics) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const Statistics floats_of = statistics_of(floats({6}, {1, inf, 3, nan, 0, 4}));
  EXPECT_EQ(floats_of.elements, 6);
  EXPECT_EQ(floats_of.nan, 1);
  EXPECT_EQ(floats_of.infinite, 1);
  EXPECT_EQ(floats_of.zeros, 1);
  EXPECT_EQ(floats_of.least, 0);
  EXPECT_EQ(floats_of.most, 4);
  EXPECT_EQ(floats_of.mean, 2);
  EXPECT_NEAR(floats_of.deviation, std::sqrt(2.5), 1e-12);
  const Statistics whole = statistics_of(array<int64_t>(DType::i64, {2}, {-5, 7}));
  EXPECT_EQ(whole.least, -5);
  EXPECT_EQ(whole.most, 7);
  EXPECT_EQ(statistics_of(floats({0}, {})).elements, 0);
}

TEST(Arrays, AreReadFromFilesAndWrittenToThem) {
  const std::filesystem::path folder = testing::TempDir();
  const Array made = array<int16_t>(DType::i16, {2, 2}, {1, -2, 3, -4});
  ASSERT_TRUE(write_array(folder / "orrery_array.npy", made).ok());
  const auto read = read_array(folder / "orrery_array.npy");
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  EXPECT_EQ(read->type(), made.type());
  EXPECT_EQ(values<int16_t>(*read), values<int16_t>(made));
  const Array bools = array<uint8_t>(DType::boolean, {3}, {0, 1, 2});
  ASSERT_TRUE(write_array(folder / "orrery_array.npy", bools).ok());
  EXPECT_THAT(read_array(folder / "orrery_array.npy").error().to_string(),
              HasSubstr("Element 2 of the bools is 2"));
  const auto doubles = read_array(std::string(ORRERY_TEST_DATA) + "/io/arrays/doubles.npy");
  EXPECT_THAT(doubles.error().to_string(), HasSubstr("The array is of F64, which no op takes"));
  std::filesystem::remove(folder / "orrery_array.npy");
}

}  // namespace
}  // namespace orrery::api
