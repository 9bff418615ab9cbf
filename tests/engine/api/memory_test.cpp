// What is told of a model's memory before it is loaded, against what it takes then.
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "engine/api/memory_estimate.h"
#include "tests/engine/api/test_models.h"

namespace orrery::api {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

DeviceEntry card(uint64_t free) { return {"cuda:0", "Test device", "", uint64_t{4} << 30, free}; }

/// 1 MB of weights, 1 kB of KV cache a token.
MemoryDemand small_model() {
  MemoryDemand demand;
  demand.name = "small";
  demand.cpu = demand.cuda = {1'000'000, 500'000, ""};
  demand.model_context = 4096;
  demand.page_tokens = 32;
  demand.page_bytes = {{"f16", 32'000}, {"f32", 64'000}};
  return demand;
}

TEST(MemoryEstimateTest, IsTheSumOfItsPartsAndFollowsTheContext) {
  const DeviceMemory memory = estimate_memory(small_model(), card(10'000'000), 1024, "f16");
  EXPECT_EQ(memory.weights, 1'000'000U);
  EXPECT_EQ(memory.scratch, 500'000U);
  EXPECT_EQ(memory.kv_cache, 1'024'000U);
  EXPECT_EQ(memory.sum(), 2'524'000U);
  EXPECT_EQ(estimate_memory(small_model(), card(1), 33, "f16").kv_cache, 64'000U) << "whole pages";
  EXPECT_EQ(estimate_memory(small_model(), card(1), 1024, "f32").kv_cache, 2'048'000U);
}

TEST(MemoryEstimateTest, SaysWhetherItFitsAndWhatWould) {
  const auto with = [](uint64_t free) { return estimate_memory(small_model(), card(free), 2048, "f16"); };
  EXPECT_EQ(with(10'000'000).fit, Fit::fits);
  EXPECT_EQ(with(3'600'000).fit, Fit::tight);
  EXPECT_EQ(with(3'000'000).fit, Fit::too_large);
  EXPECT_EQ(with(10'000'000).largest_context, 4096) << "no more than the model's own";
  EXPECT_EQ(with(3'000'000).largest_context, 1472) << "46 pages";
  EXPECT_EQ(with(1'400'000).largest_context, 0);
}

TEST(MemoryEstimateTest, ADeviceThatIsNotThereSaysWhy) {
  const DeviceEntry none{"cuda:0", "", "the NVIDIA driver is not loaded", 0, 0};
  EXPECT_EQ(estimate_memory(small_model(), none, 0, "f16").refusal, "the NVIDIA driver is not loaded");
}

OpenOptions on(const std::string& device, OpenOptions options, int64_t context) {
  options.device = device;
  options.context = context;
  options.batch_tokens = 512;
  return options;
}

std::string planets(size_t length) {
  std::string text;
  while (text.size() < length) text += "The planets move around the Sun. ";
  return text;
}

/// The estimate, at the context that was used, against what the session then says of itself.
void expect_told(const Session& session, int64_t context) {
  const auto demand = memory_demand(session.options());
  ASSERT_TRUE(demand.ok()) << demand.error().to_string();
  const DeviceEntry device{session.options().device, "", "", uint64_t{8} << 30, uint64_t{8} << 30};
  const DeviceMemory told = estimate_memory(demand.value(), device, context, "f16");
  const auto used = static_cast<double>(session.memory_use().session());
  EXPECT_NEAR(static_cast<double>(told.sum()), used, 0.1 * used)
      << told.weights << " weights, " << told.kv_cache << " KV cache, " << told.scratch << " scratch";
}

TEST(MemoryEstimateTest, TellsWhatWillBeUsed) {
  for (const char* device : {"cpu", "cuda:0"}) {
    SCOPED_TRACE(device);
    const auto session = open_or_fail(on(device, smollm2(), 1024));
    ASSERT_TRUE(session);
    const auto reply = session->chat(raw_request(planets(2500), 8), {}, {});
    ASSERT_TRUE(reply.ok()) << reply.error().to_string();
    ASSERT_GT(session->context_used(), 512) << "a full step";
    expect_told(*session, session->context_used());
  }
}

/// Whole, so that the system holds the pages of embeddings that no text asks for: they count once they are
/// held.
void read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << path;
  std::vector<char> part(1 << 20);
  while (file.read(part.data(), static_cast<std::streamsize>(part.size()))) {
  }
}

TEST(MemoryEstimateTest, TellsWhatAnEncoderWithAnAdapterWillUse) {
  const auto session = open_or_fail(on("cpu", sentiment(), 0));
  ASSERT_TRUE(session);
  const auto done = session->classify(std::vector<std::string>(32, planets(200)), {}, {});
  ASSERT_TRUE(done.ok()) << done.error().to_string();
  read_file(session->options().model + "/model.safetensors");
  expect_told(*session, 0);
}

bool has(const std::vector<Offer>& offers, const char* option) {
  return std::any_of(offers.begin(), offers.end(),
                     [&](const Offer& offer) { return offer.option == option; });
}

TEST(MemoryOffersTest, AreWhatFits) {
  OpenOptions options;
  options.device = "cuda:0";
  options.context = 4000;
  options.kv_type = "f32";
  const DeviceEntry cpu{"cpu", "", "", 1 << 30, 1 << 30}, none{"cuda:1", "", "no driver", 0, 0};
  const auto offers = memory_offers(small_model(), options, {card(5'600'000), cpu, none});
  EXPECT_EQ(words_of(offers), "use --context 2048, or --kv-type f16, or --device cpu");
  EXPECT_TRUE(memory_offers(small_model(), options, {card(1'000)}).empty());
}

TEST(OutOfMemoryTest, AModelThatDoesNotFitIsRefusedBeforeItIsRead) {
  const auto refusal = [](const OpenOptions& options) {
    const auto opened = Session::open(options, {}, {});
    EXPECT_FALSE(opened.ok());
    return opened.ok() ? Error{} : opened.error();
  };
  {
    const Variable little("ORRERY_FAKE_DEVICE_MB", "64");
    const Error error = refusal(on("cuda:0", smollm2(), 2048));
    EXPECT_EQ(error.code, ErrorCode::out_of_memory);
    EXPECT_THAT(error.what, AllOf(HasSubstr("96.6 MB of weights"), HasSubstr("67.1 MB of 67.1 MB free")));
    EXPECT_THAT(error.advice, AllOf(StartsWith("use --device cpu"), HasSubstr("fewer layers on the card")));
  }
  const Variable tight("ORRERY_FAKE_DEVICE_MB", "128");
  EXPECT_THAT(refusal(on("cuda:0", smollm2(), 2048)).advice, StartsWith("use --context "));
  OpenOptions anyhow = on("cuda:0", smollm2(), 2048);
  anyhow.check_memory = false;
  EXPECT_TRUE(Session::open(anyhow, {}, {}).ok()) << "pages come as they are needed";
}

TEST(OutOfMemoryTest, AReplyThatFindsNoRoomNamesItAndWhatFits) {
  const Variable memory("ORRERY_FAKE_DEVICE_MB", "256");
  const auto session = open_or_fail(on("cuda:0", smollm2(), 4096));
  ASSERT_TRUE(session);
  ASSERT_TRUE(session->chat(raw_request("The sea is", 4), {}, {}).ok());
  const Variable others("ORRERY_FAKE_DEVICE_TAKEN_MB", "135");
  const auto reply = session->chat(raw_request(planets(6000), 2), {}, {});
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, ErrorCode::out_of_memory);
  EXPECT_THAT(reply.error().what, AllOf(HasSubstr(" MB for "), HasSubstr("Test device (cuda:0) has")));
  EXPECT_THAT(reply.error().advice, AllOf(HasSubstr("--context"), HasSubstr("--device cpu")));
  const std::vector<Offer> offers = session->memory_offers();
  ASSERT_TRUE(has(offers, "context") && has(offers, "device"));
  EXPECT_TRUE(session->chat(raw_request("The sky is", 4), {}, {}).ok()) << "the session goes on";
}

TEST(OutOfMemoryTest, AResizedSessionKeepsWeightsAndEdits) {
  const auto session = open_or_fail(on("cuda:0", smollm2(), 2048));
  ASSERT_TRUE(session);
  ASSERT_TRUE(session->apply(edit::parse_edit("bypass scope=layers.12").value()).ok());
  const auto before = session->chat(raw_request("The capital of France is", 6), {}, {});
  ASSERT_TRUE(before.ok());
  const size_t uploaded = session->derived_weights().size();
  const auto resized = session->fork({.context = 512, .kv_type = "f32"}, {});
  ASSERT_TRUE(resized.ok()) << resized.error().to_string();
  Session& smaller = *resized.value();
  EXPECT_EQ(smaller.options().context, 512);
  EXPECT_EQ(smaller.info().memory.context, 512);
  EXPECT_EQ(smaller.edits().size(), 1U);
  const auto after = smaller.chat(raw_request("The capital of France is", 6), {}, {});
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(ids_of(after.value()), ids_of(before.value()));
  EXPECT_EQ(smaller.derived_weights().size(), uploaded) << "nothing was uploaded again";
  ASSERT_TRUE(smaller.undo().ok());
  EXPECT_EQ(session->edits().size(), 1U) << "they are two sessions";
  EXPECT_FALSE(session->fork({.context = 1 << 20}, {}).ok()) << "longer than the model's own";
}

}  // namespace
}  // namespace orrery::api
