// What a session and the library tell besides text.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <numeric>
#include <set>
#include <thread>

#include "tests/engine/api/test_models.h"

namespace orrery::api {
namespace {

TEST(SessionTest, OpensWithProgressAndTellsWhatItIs) {
  std::vector<std::string> stages;
  const auto opened = Session::open(
      smollm2(), [&](std::string_view stage, uint64_t, uint64_t) { stages.emplace_back(stage); }, {});
  ASSERT_TRUE(opened.ok()) << opened.error().to_string();
  EXPECT_THAT(stages, testing::Contains(testing::HasSubstr("SmolLM2-135M-Instruct")));
  const ModelInfo& info = opened.value()->info();
  EXPECT_EQ(info.architecture, "llama");
  EXPECT_EQ(info.format, "GGUF");
  EXPECT_EQ(info.layers, 30);
  EXPECT_EQ(info.width, 576);
  EXPECT_EQ(info.vocabulary, 49152);
  EXPECT_EQ(info.context_length, 8192);
  EXPECT_EQ(info.main_dtype, "Q4_1");
  EXPECT_NEAR(static_cast<double>(info.parameters), 134.5e6, 1e6);
  EXPECT_EQ(info.memory.context, 2048);
  EXPECT_EQ(info.memory.kv_cache, 2048U * 30 * 2 * 3 * 64 * 2);
  EXPECT_GT(info.memory.scratch, 0U);
  EXPECT_FALSE(info.chat_template.empty());
}

TEST(SessionTest, AStopRequestEndsTheOpening) {
  std::stop_source stop;
  stop.request_stop();
  const auto opened = Session::open(smollm2(), {}, stop.get_token());
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, ErrorCode::cancelled);
}

TEST(SessionTest, WrongOptionsAreRefusedWithAReason) {
  const auto refusal = [](auto&& change) {
    OpenOptions options = smollm2();
    change(options);
    const auto opened = Session::open(options, {}, {});
    EXPECT_FALSE(opened.ok());
    return opened.ok() ? std::string() : opened.error().to_string();
  };
  EXPECT_THAT(refusal([](OpenOptions& o) { o.device = "cuda:99"; }), testing::HasSubstr("cuda:99"));
  EXPECT_THAT(refusal([](OpenOptions& o) { o.kv_type = "q4_k"; }), testing::HasSubstr("q4_k"));
  EXPECT_THAT(refusal([](OpenOptions& o) { o.context = 100000; }), testing::HasSubstr("8192"));
  EXPECT_THAT(refusal([](OpenOptions& o) { o.batch_tokens = -1; }), testing::HasSubstr("--batch-tokens"));
  EXPECT_THAT(refusal([](OpenOptions& o) { o.threads = -1; }), testing::HasSubstr("--threads"));
  EXPECT_THAT(refusal([](OpenOptions& o) { o.model = "no-such-model"; }),
              testing::HasSubstr("no-such-model"));
  EXPECT_THAT(refusal([](OpenOptions& o) { o.recipe = "/no/such/recipe.json"; }),
              testing::HasSubstr("recipe"));
}

TEST(SessionTest, ThePlanNamesKernelsAndReasons) {
  const auto session = open_or_fail(smollm2());
  ASSERT_TRUE(session);
  const auto decode = session->plan(Phase::decode), prefill = session->plan(Phase::prefill);
  ASSERT_TRUE(decode.ok()) << decode.error().to_string();
  ASSERT_TRUE(prefill.ok()) << prefill.error().to_string();
  EXPECT_GT(prefill.value().arena_bytes, decode.value().arena_bytes);
  double bytes = 0, flops = 0;
  for (const PlanStep& step : decode.value().steps) {
    EXPECT_TRUE(session->fused_graph()->find(step.node));
    EXPECT_FALSE(step.kernel.empty()) << step.path;
    EXPECT_FALSE(step.path.empty());
    EXPECT_EQ(step.device, session->options().device);
    for (const PlanStep::Refused& refused : step.refused) EXPECT_FALSE(refused.reason.empty());
    bytes += step.bytes;
    flops += step.flops;
  }
  EXPECT_NEAR(bytes, 98e6, 12e6) << "a token reads about the whole file";
  EXPECT_NEAR(flops, 2 * 134.5e6, 0.2 * 134.5e6);
}

TEST(SessionTest, TheProfileOfTheModelAddsUpToTheFusedOne) {
  const auto session = open_or_fail(smollm2());
  ASSERT_TRUE(session);
  EXPECT_EQ(session->profile(Phase::decode)->step.runs, 0U);
  ASSERT_TRUE(session->chat(raw_request("Once upon a time", 30), {}, {}).ok());
  for (const Phase phase : {Phase::prefill, Phase::decode}) {
    const ProfilePtr profile = session->profile(phase);
    EXPECT_EQ(profile->step.runs, phase == Phase::prefill ? 1U : 29U);
    EXPECT_EQ(profile->model_graph, session->model_graph());
    EXPECT_EQ(profile->fused_graph, session->fused_graph());
    const auto whole = [&](bool fused) {
      std::vector<NodeId> nodes;
      for (const NodeTimes::Row& row : profile->of(fused).rows()) nodes.push_back(row.node);
      return profile->measured(nodes, fused);
    };
    EXPECT_EQ(whole(true).timing.us, profile->step.us);
    EXPECT_NEAR(whole(false).timing.us, profile->step.us, 0.5) << "rounded to nanoseconds for each node";
    EXPECT_FALSE(whole(true).estimated);
    EXPECT_TRUE(whole(false).estimated);
    const auto graph = session->model_graph();
    for (const NodeTimes::Row& row : profile->model.rows()) EXPECT_TRUE(graph->find(row.node));
  }
  EXPECT_EQ(session->profile(Phase::decode), session->profile(Phase::decode)) << "nothing ran in between";
}

TEST(SessionTest, ProfilingTakesLessThanATwentiethOfAStep) {
  const auto session = open_or_fail(smollm2());
  ASSERT_TRUE(session);
  // The least of several replies: a thread that another program stops while it takes a time makes any one of
  // them long.
  double prefill = 1, decode = 1;
  for (int reply = 0; reply < 10 && std::max(prefill, decode) >= 0.05; ++reply) {
    ASSERT_TRUE(session->chat(raw_request("Once upon a time", 10), {}, {}).ok());
    prefill = std::min(prefill, session->profile(Phase::prefill)->overhead_share);
    decode = std::min(decode, session->profile(Phase::decode)->overhead_share);
  }
  EXPECT_LT(prefill, 0.05);
  EXPECT_LT(decode, 0.05);
}

TEST(SessionTest, AnEditEmptiesTheTablesAndAnUndoToo) {
  const auto session = open_or_fail(smollm2());
  ASSERT_TRUE(session);
  const auto empty = [&] {
    for (const Phase phase : {Phase::prefill, Phase::decode}) {
      const ProfilePtr profile = session->profile(phase);
      if (profile->step.runs > 0 || profile->latency.runs > 0 || !profile->fused.rows().empty()) return false;
      if (profile->model_graph != session->model_graph()) return false;
    }
    return true;
  };
  EXPECT_TRUE(empty());
  ASSERT_TRUE(session->chat(raw_request("Once upon a time", 5), {}, {}).ok());
  EXPECT_FALSE(empty());
  ASSERT_TRUE(session->apply({"bypass", {{"scope", "layers.3"}}}).ok());
  EXPECT_TRUE(empty());
  ASSERT_TRUE(session->chat(raw_request("Once upon a time", 5), {}, {}).ok());
  const ProfilePtr edited = session->profile(Phase::decode);
  for (const NodeId node : session->model_graph()->in_scope("layers.3"))
    EXPECT_FALSE(edited->model.find(node)) << "what is bypassed has no time";
  ASSERT_TRUE(session->undo().ok());
  EXPECT_TRUE(empty());
}

TEST(SessionTest, ATextThatIsEncodedIsMeasuredAsOne) {
  const auto session = open_or_fail(sentiment());
  ASSERT_TRUE(session);
  ASSERT_TRUE(session->classify({"A wonderful film", "Dull", "I would see it again"}, {}, {}).ok());
  const ProfilePtr profile = session->profile(Phase::prefill);
  EXPECT_EQ(profile->latency.runs, 3U) << "a text each";
  EXPECT_GE(profile->step.runs, 1U);
  EXPECT_GT(profile->step.us, 0);
  EXPECT_LE(profile->latency.p50_us, profile->latency.p95_us);
  EXPECT_EQ(session->profile(Phase::decode)->step.runs, 0U);
  ASSERT_TRUE(session->classify({"A"}, {}, {}).ok());
  EXPECT_EQ(session->profile(Phase::decode)->step.runs, 0U) << "however short the text";
}

bool measured_limits(const Session& session) {
  const auto start = std::chrono::steady_clock::now();
  while (session.limits().reading.empty() &&
         std::chrono::steady_clock::now() - start < std::chrono::seconds(10))
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return !session.limits().reading.empty();
}

TEST(SessionTest, LimitsAreMeasuredWhenAskedFor) {
  const auto session = open_or_fail(smollm2());
  ASSERT_TRUE(session);
  EXPECT_GT(session->limits().threads, 0);
  ASSERT_TRUE(measured_limits(*session));
  const MachineLimits& limits = session->limits();
  EXPECT_GT(limits.operations_per_second[static_cast<size_t>(Arithmetic::f32)], 1e9);
  ASSERT_GT(limits.reading.size(), 4U) << "caches and memory";
  for (size_t i = 1; i < limits.reading.size(); ++i) {
    EXPECT_GT(limits.reading[i].bytes, limits.reading[i - 1].bytes);
    EXPECT_LE(limits.reading[i].bytes_per_second, limits.reading[i - 1].bytes_per_second);
  }
  EXPECT_GT(limits.reading.back().bytes_per_second, 1e9);
}

/// A share of a limit is at most 100 %.
TEST(SessionTest, NoNodeIsQuickerThanItsLimits) {
  const auto session = open_or_fail(smollm2());
  ASSERT_TRUE(session);
  ASSERT_TRUE(measured_limits(*session));
  ASSERT_TRUE(session->chat(raw_request("Once upon a time", 24), {}, {}).ok());
  for (const Phase phase : {Phase::prefill, Phase::decode}) {
    const ProfilePtr profile = session->profile(phase);
    ASSERT_FALSE(profile->fused.rows().empty());
    bool limited = false;
    for (const NodeTimes::Row& row : profile->fused.rows()) {
      const Measured node = profile->measured(row.node, true);
      const std::string path = session->fused_graph()->node(row.node).path();
      EXPECT_LE(node.memory_us, node.timing.us * (1 + 1e-9)) << path;
      EXPECT_LE(node.compute_us, node.timing.us * (1 + 1e-9)) << path;
      limited |= node.memory_us > 0;
    }
    EXPECT_TRUE(limited) << "weights are read";
  }
}

/// Of the whole process, as the system tells it.
uint64_t resident_memory() {
  std::ifstream file("/proc/self/status");
  std::string word;
  while (file >> word)
    if (word == "VmRSS:") {
      uint64_t kilobytes = 0;
      file >> kilobytes;
      return kilobytes << 10;
    }
  return 0;
}

TEST(SessionTest, MemoryGrowsWithTheContextAndIsTold) {
  const auto session = open_or_fail(smollm2());
  ASSERT_TRUE(session);
  ASSERT_TRUE(session->chat(raw_request("Hello", 2), {}, {}).ok());
  const MemoryUse use = session->memory_use();
  EXPECT_GT(use.session(), 50U << 20);
  EXPECT_LT(use.session(), 600U << 20);
  EXPECT_GT(use.program, use.session());
  EXPECT_NEAR(static_cast<double>(use.program), static_cast<double>(resident_memory()), 16U << 20);
}

TEST(SessionTest, BenchMeasuresWhatIsAskedFor) {
  const auto session = open_or_fail(smollm2());
  ASSERT_TRUE(session);
  BenchOptions options;
  options.prompt = 32;
  options.gen = 8;
  options.repeats = 2;
  options.batch = 2;
  const auto bench = session->bench(options, {}, {});
  ASSERT_TRUE(bench.ok()) << bench.error().to_string();
  EXPECT_EQ(bench.value().prefill->tokens, 64);
  EXPECT_EQ(bench.value().decode->tokens, 16);
  EXPECT_GT(bench.value().prefill->tokens_per_second, bench.value().decode->tokens_per_second);
  EXPECT_FALSE(bench.value().encode);
  options.prompt = 0;
  EXPECT_FALSE(session->bench(options, {}, {}).value().prefill);
  options.prompt = 100000;
  EXPECT_FALSE(session->bench(options, {}, {}).ok());
  const auto encoder = open_or_fail(minilm());
  ASSERT_TRUE(encoder);
  options = {};
  options.batch = 4;
  options.tokens = 32;
  options.repeats = 2;
  const auto encode = encoder->bench(options, {}, {});
  ASSERT_TRUE(encode.ok()) << encode.error().to_string();
  EXPECT_GT(encode.value().encode->sequences_per_second, 1);
}

TEST(Library, NamesTheDefaultsAndFindsModelsInFolders) {
  setenv("XDG_CACHE_HOME", testing::TempDir().c_str(), 1);
  EXPECT_TRUE(list_models({}).empty());
  const auto unknown = inspect("smollm2", "", 0, "f16");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code, ErrorCode::not_found);
  unsetenv("XDG_CACHE_HOME");
  const auto listed = list_models({models_folder().string()});
  std::set<std::string> names;
  for (const LibraryEntry& entry : listed) {
    names.insert(entry.name);
    EXPECT_GT(entry.parameters, 1000000U) << entry.name;
    EXPECT_FALSE(entry.architecture.empty());
  }
  EXPECT_GE(listed.size(), 2U);
}

TEST(Library, InspectReadsHeadersOnly) {
  const auto info = inspect(smollm2().model, "", 4096, "f32");
  ASSERT_TRUE(info.ok()) << info.error().to_string();
  EXPECT_EQ(info.value().memory.kv_cache, 4096U * 30 * 2 * 3 * 64 * 4);
  EXPECT_EQ(info.value().tensors.size(), 272U);
  const auto classifier = inspect(sentiment().model, sentiment().adapter, 0, "f16");
  ASSERT_TRUE(classifier.ok()) << classifier.error().to_string();
  EXPECT_EQ(classifier.value().task, Task::classify);
  EXPECT_EQ(classifier.value().memory.kv_cache, 0U);
}

TEST(TextToolsTest, TokenizesAndRendersLikeTheReference) {
  const auto tools = TextTools::open(smollm2().model);
  ASSERT_TRUE(tools.ok()) << tools.error().to_string();
  const nlohmann::json reference = golden("smollm2.json");
  for (const auto& item : reference["chat"]) {
    std::vector<Message> messages;
    for (const auto& message : item["messages"]) messages.push_back({message["role"], message["content"]});
    const auto text = tools.value()->render(messages, {});
    ASSERT_TRUE(text.ok()) << text.error().to_string();
    EXPECT_EQ(text.value(), item["rendered"].get<std::string>());
    EXPECT_EQ(tools.value()->encode(text.value(), false), item["ids"].get<std::vector<int32_t>>());
  }
  const auto rendered =
      render_template("{{ bos_token }}{{ messages[0].content }}", {{"user", "hi"}}, {}, "<s>", "");
  ASSERT_TRUE(rendered.ok()) << rendered.error().to_string();
  EXPECT_EQ(rendered.value(), "<s>hi");
  EXPECT_FALSE(render_template("{% if %}", {}, {}, "", "").ok());
}

}  // namespace
}  // namespace orrery::api
