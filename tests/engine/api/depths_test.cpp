// What a token and its context take after long texts: Fastmax beside a softmax, on few layers of the default
// model, further than it was made for.
#include "engine/api/depths.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "engine/api/metadata.h"
#include "tests/engine/api/test_models.h"

namespace orrery::api {
namespace {

using testing::HasSubstr;

edit::Edit depth_edit(const std::string& words) { return edit::parse_edit(words).value(); }

class DepthsTest : public testing::Test {
 protected:
  /// Two layers that attend by Fastmax, and the same ones by softmax beside them.
  void SetUp() override { prepare(smollm2()); }
  void prepare(const OpenOptions& options) {
    session = open_or_fail(options);
    ASSERT_TRUE(session);
    ASSERT_TRUE(session->apply(depth_edit("bypass scope=layers.2-29")).ok());
    ASSERT_TRUE(session->apply(depth_edit("attention scope=layers.0-1 kind=fastmax")).ok());
    request.sides = {{}, {.edits = {depth_edit("attention scope=layers.0-1 kind=softmax")}}};
    request.gen = 4;
    request.repeats = 2;
  }
  Result<void> measure(std::stop_token stop = {}) {
    points.clear();
    return measure_depths(*session, request,
                          {.on_point = [this](const DepthPoint& point) { points.push_back(point); },
                           .on_progress =
                               [this](const DepthProgress& progress) {
                                 EXPECT_LE(progress.read, progress.to_read);
                                 read += progress.read == progress.to_read ? 1 : 0;
                               }},
                          stop);
  }
  std::shared_ptr<Session> session;
  DepthsRequest request;
  std::vector<DepthPoint> points;
  int read = 0;  // stretches, to their end
};

TEST_F(DepthsTest, AContextOfFixedSizeBesideOneThatGrows) {
  OpenOptions options = smollm2();
  const std::string copy = testing::TempDir() + "depths_short_context.gguf";
  const MetadataEdit words[] = {{.key = "llama.context_length", .value = "512", .type = "u32"}};
  std::filesystem::remove(copy);
  ASSERT_TRUE(save_metadata(options.model, words, copy, {}, {}).ok());
  options.model = copy;
  options.context = 512;
  ASSERT_NO_FATAL_FAILURE(prepare(options));
  request.depths = {64, 1024, 6000};
  const auto demand = depths_demand(*session, request, {});
  ASSERT_TRUE(demand.ok()) << demand.error().to_string();
  EXPECT_EQ(demand->made_for, 512);
  ASSERT_EQ(demand->context_bytes.size(), 2U);
  DepthsRequest shorter = request;
  shorter.depths = {64, 1024};
  const auto demand_before = depths_demand(*session, shorter, {});
  ASSERT_TRUE(demand_before.ok()) << demand_before.error().to_string();
  EXPECT_EQ(demand->context_bytes[0], demand_before->context_bytes[0]);
  EXPECT_GT(demand->context_bytes[1], demand_before->context_bytes[1]);
  EXPECT_GT(demand->free_bytes, demand->context_bytes[1]);
  const auto done = measure();
  ASSERT_TRUE(done.ok()) << done.error().to_string();
  ASSERT_EQ(points.size(), 6U);
  EXPECT_EQ(read, 6);
  for (size_t i = 0; i < points.size(); ++i) {
    EXPECT_EQ(points[i].side, i % 2) << "depth by depth, side beside side";
    EXPECT_EQ(points[i].at.tokens, request.depths[i / 2]);
    EXPECT_GT(points[i].at.ms, 0);
    EXPECT_GT(points[i].at.read_ms, 0);
  }
  EXPECT_NEAR(static_cast<double>(points[4].at.read), 6000 - 1024, 20) << "the rest was written";
  EXPECT_EQ(points[2].at.context_bytes, points[4].at.context_bytes) << "a state of fixed size";
  EXPECT_GT(points[5].at.context_bytes, points[3].at.context_bytes) << "keys and values of every token";
  const double told = static_cast<double>(demand->context_bytes[1]),
               taken = static_cast<double>(points[5].at.context_bytes);
  EXPECT_GT(taken, 0.9 * told) << "as it was told before";
  EXPECT_LT(taken, 2 * told) << "memory is taken ahead of the tokens";
  EXPECT_EQ(session->edits().size(), 2U);
  EXPECT_EQ(session->context_used(), 0);
  std::filesystem::remove(copy);
}

TEST_F(DepthsTest, AsItWasOpenedIsASideToo) {
  request.depths = {32};
  request.sides = {{}, {.opened = true}};
  ASSERT_TRUE(measure().ok());
  ASSERT_EQ(points.size(), 2U);
  EXPECT_GT(points[1].at.ms, points[0].at.ms) << "thirty layers beside two";
}

TEST_F(DepthsTest, AStopKeepsWhatWasTold) {
  request.depths = {32, 8000};
  std::stop_source stop;
  const auto done = measure_depths(*session, request,
                                   {.on_point =
                                        [&](const DepthPoint& point) {
                                          points.push_back(point);
                                          if (points.size() == 2) stop.request_stop();
                                        }},
                                   stop.get_token());
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code, ErrorCode::cancelled);
  EXPECT_EQ(points.size(), 2U);
}

TEST_F(DepthsTest, RefusesWhatCannotBe) {
  request.depths = {64, 32};
  EXPECT_EQ(measure().error().code, ErrorCode::invalid_argument);
  request.depths = {};
  EXPECT_EQ(measure().error().code, ErrorCode::invalid_argument);
  request.depths = {1 << 30};
  const auto full = measure();
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.error().code, ErrorCode::out_of_memory);
  EXPECT_THAT(full.error().what, HasSubstr("are free"));
  const auto encoder = open_or_fail(minilm());
  ASSERT_TRUE(encoder);
  request.depths = {32};
  EXPECT_EQ(depths_demand(*encoder, request, {}).error().code, ErrorCode::unsupported);
}

TEST_F(DepthsTest, ATableOfPositionsEndsWithItsRows) {
  OpenOptions options;
  options.model = testing::TempDir() + "depths_gpt2.gguf";
  const MetadataEdit words[] = {{.key = "tokenizer.ggml.model", .value = "no_vocab", .type = "string"}};
  std::filesystem::remove(options.model);
  const auto saved = save_metadata(ORRERY_TEST_DATA "/models/gpt2/model.gguf", words, options.model, {}, {});
  ASSERT_TRUE(saved.ok()) << saved.error().to_string();
  const auto small = open_or_fail(options);
  ASSERT_TRUE(small);
  request.sides = {{}};
  request.depths = {small->info().context_length - 20};
  const auto within = depths_demand(*small, request, {});
  EXPECT_TRUE(within.ok()) << within.error().to_string();
  request.depths = {small->info().context_length};
  EXPECT_EQ(depths_demand(*small, request, {}).error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace orrery::api
