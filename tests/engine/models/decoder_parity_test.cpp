// Tiny decoders with random weights (tests/data/models) against what transformers computes with them: from
// config.json and safetensors, and from GGUF. Run by the scheduler: texts read at once and in chunks of seven
// tokens, and a greedy reply, token by token; some also with an adapter, against peft: opened with it, and
// put on by an edit, whose nodes are merged or run. On the CPU, and on the device that ORRERY_TEST_DEVICE
// names.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/edit/edit.h"
#include "engine/models/builder.h"
#include "engine/passes/passes.h"
#include "engine/runtime/device_scheduler.h"
#include "engine/runtime/devices.h"

namespace orrery::models {
namespace {

constexpr double kTolerance = 2e-4;  // of a log-probability

/// How an adapter is put on.
enum class Put { opened, drawn, merged };

struct Fixture {
  std::string name, file, adapter;  // in the folder of the name; file: "" itself, or "model.gguf"
  Put put = Put::opened;

  std::filesystem::path folder() const { return std::filesystem::path(ORRERY_TEST_DATA "/models") / name; }
  std::string text() const {
    const std::string kind = adapter.empty()      ? ""
                             : put == Put::opened ? "_adapted"
                             : put == Put::drawn  ? "_adapter_drawn"
                                                  : "_adapter_merged";
    return name + (file.empty() ? "_folder" : "_gguf") + kind;
  }
};

void PrintTo(const Fixture& fixture, std::ostream* out) { *out << fixture.text(); }

std::vector<Fixture> fixtures() {
  std::vector<Fixture> found;
  for (const auto& entry : std::filesystem::directory_iterator(ORRERY_TEST_DATA "/models")) {
    if (!std::filesystem::exists(entry.path() / "expected.json")) continue;
    for (const char* file : {"", "model.gguf"})
      for (const char* adapter : {"", "adapter"})
        if (std::filesystem::exists(entry.path() / file) && std::filesystem::exists(entry.path() / adapter)) {
          found.push_back({entry.path().filename(), file, adapter});
          if (*adapter == 0) continue;
          found.push_back({entry.path().filename(), file, adapter, Put::drawn});
          found.push_back({entry.path().filename(), file, adapter, Put::merged});
        }
  }
  return found;
}

struct Text {
  std::vector<int32_t> tokens;
  std::vector<float> logprobs;  // of tokens[1..]
};

class DecoderParity : public testing::TestWithParam<Fixture> {
 protected:
  void SetUp() override {
    if (const char* name = std::getenv("ORRERY_TEST_DEVICE"); name && *name) {
      const auto device = runtime::open_device(std::atoi(name + std::string_view("cuda:").size()));
      ASSERT_TRUE(device.ok()) << "no device to test: " << device.error().to_string();
      device_ = *device;
    }
    scheduler_ = std::make_unique<runtime::DeviceScheduler>(2, device_);
    std::ifstream stream(GetParam().folder() / GetParam().adapter / "expected.json");
    expected_ = nlohmann::json::parse(stream);
    for (size_t i = 0; i < expected_.at("texts").size(); ++i)
      texts_.push_back({expected_["texts"][i], expected_["logprobs"][i]});
  }

  std::shared_ptr<runtime::Model> load(int64_t batch_tokens) {
    auto file = io::open_model(GetParam().folder() / GetParam().file, {}, {});
    EXPECT_TRUE(file.ok()) << file.error().to_string();
    if (!file.ok()) return nullptr;
    std::shared_ptr<const io::Adapter> adapter;
    const bool by_edit = GetParam().put != Put::opened;
    if (!GetParam().adapter.empty() && !by_edit) {
      auto opened = io::open_adapter(GetParam().folder() / GetParam().adapter);
      EXPECT_TRUE(opened.ok()) << opened.error().to_string();
      auto fitted = io::fit_adapter(**file, *opened);
      EXPECT_TRUE(fitted.ok()) << fitted.error().to_string();
      adapter = *fitted;
    }
    auto built = build(**file, adapter.get());
    EXPECT_TRUE(built.ok()) << built.error().to_string();
    if (!built.ok()) return nullptr;
    passes::Options passes;
    if (by_edit) {
      const std::string folder = (GetParam().folder() / GetParam().adapter).string();
      const auto put = edit::apply(built->graph, {"adapter", {{"dir", folder}}});
      EXPECT_TRUE(put.ok()) << put.error().to_string();
      if (GetParam().put == Put::drawn) passes.disabled.insert("merge_low_rank");
    }
    const auto graph = std::make_shared<const graph::Graph>(std::move(built->graph));
    const auto problems = graph::verify(*graph);
    EXPECT_TRUE(problems.empty()) << problems.front().error.to_string();
    auto passed = passes::run_passes(*graph, passes);
    EXPECT_TRUE(passed.ok());
    if (passed.ok() && GetParam().put == Put::merged) expect_no_low_rank(*passed->graph);
    runtime::Model::Options options;
    options.kv_dtype = DType::f32;
    options.precision = kernels::Precision::exact;
    options.device = device_;
    options.threads = 2;
    options.context = built->context_length;
    options.batch_tokens = batch_tokens;
    options.kv_tokens = 256;
    return std::make_shared<runtime::Model>(std::make_shared<weights::WeightStore>(*file, adapter),
                                            runtime::make_version({graph, passed.value().graph}).value(),
                                            options);
  }

  static void expect_no_low_rank(const graph::Graph& graph) {
    for (const NodeId id : graph.order())
      EXPECT_EQ(graph.node(id).path().find("_lora"), std::string::npos) << graph.node(id).path();
  }

  Result<runtime::DecodeOutcome> run(const std::shared_ptr<runtime::Model>& model,
                                     runtime::DecodeRequest request) {
    return scheduler_->decode(model, runtime::DeviceScheduler::new_sequence(model), std::move(request)).get();
  }

  void expect_scores(int64_t batch_tokens) {
    const auto model = load(batch_tokens);
    ASSERT_NE(model, nullptr);
    for (const Text& text : texts_) {
      runtime::DecodeRequest request;
      request.tokens = text.tokens;
      request.score = true;
      const auto outcome = run(model, std::move(request));
      ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
      EXPECT_THAT(outcome->logprobs, testing::Pointwise(testing::FloatNear(kTolerance), text.logprobs));
    }
  }

  weights::DevicePtr device_;
  std::unique_ptr<runtime::DeviceScheduler> scheduler_;
  nlohmann::json expected_;
  std::vector<Text> texts_;
};

TEST_P(DecoderParity, ATextReadAtOnce) { expect_scores(64); }

TEST_P(DecoderParity, ATextReadInChunks) { expect_scores(7); }

TEST_P(DecoderParity, AGreedyReply) {
  const auto model = load(64);
  ASSERT_NE(model, nullptr);
  const nlohmann::json& reply = expected_.at("reply");
  const std::vector<int32_t> ids = reply.at("ids");
  const std::vector<float> logprobs = reply.at("logprobs");
  std::vector<int32_t> got;
  std::vector<float> scores;
  runtime::DecodeRequest request;
  request.tokens = {texts_[0].tokens.begin(), texts_[0].tokens.begin() + reply.at("prompt").get<int>()};
  request.sampling.temperature = 0;
  request.on_token = [&](const runtime::TokenStep& step) {
    got.push_back(step.choice.id);
    scores.push_back(step.choice.logprob);
    return got.size() < ids.size();
  };
  const auto outcome = run(model, std::move(request));
  ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
  EXPECT_EQ(got, ids);
  EXPECT_THAT(scores, testing::Pointwise(testing::FloatNear(kTolerance), logprobs));
}

INSTANTIATE_TEST_SUITE_P(Models, DecoderParity, testing::ValuesIn(fixtures()),
                         [](const auto& info) { return info.param.text(); });

}  // namespace
}  // namespace orrery::models
