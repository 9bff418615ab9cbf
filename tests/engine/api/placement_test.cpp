// Parts of a model on another device than the rest, on the test module: what is written, kept, told and
// refused.
#include <gmock/gmock.h>
#include <malloc.h>

#include <algorithm>
#include <cstdio>

#include "engine/api/compare.h"
#include "tests/engine/api/test_models.h"

namespace orrery::api {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr const char* kPrompt = "Once upon a time, in a land far away";

Result<EditRecord> apply(Session& session, const std::string& words) {
  return session.apply(edit::parse_edit(words).value());
}

std::shared_ptr<Session> placed(const OpenOptions& options, const std::vector<std::string>& edits) {
  auto session = open_or_fail(options);
  for (const std::string& words : edits)
    if (const auto applied = apply(*session, words); !applied.ok())
      ADD_FAILURE() << applied.error().to_string();
  return session;
}

std::vector<int32_t> reply_of(Session& session, const std::string& prompt = kPrompt, int64_t tokens = 12) {
  const auto reply = session.chat(raw_request(prompt, tokens), {}, {});
  EXPECT_TRUE(reply.ok()) << (reply.ok() ? "" : reply.error().to_string());
  return reply.ok() ? ids_of(reply.value()) : std::vector<int32_t>{};
}

NodePlacement placement_of(const Session& session, const std::string& path) {
  const NodeId node = session.model_graph()->find_path(path);
  for (const NodePlacement& placement : session.placement())
    if (placement.node == node) return placement;
  return {};
}

TEST(PlacementTest, WritesWhatTheCpuWrites) {
  const auto cpu = open_or_fail(smollm2());
  ASSERT_TRUE(cpu);
  const std::vector<int32_t> expected = reply_of(*cpu);
  EXPECT_THAT(cpu->placement(), IsEmpty());
  const auto front = placed(smollm2(), {"place scope=layers.0-14 device=cuda:0"});
  EXPECT_EQ(reply_of(*front), expected);
  const auto back = placed(on_device(smollm2()), {"place scope=layers.0-14 device=cpu"});
  EXPECT_EQ(reply_of(*back), expected);
  const auto alternating =
      placed(smollm2(), {"place scope=layers.*.mlp device=cuda:1", "bypass scope=layers.7"});
  ASSERT_TRUE(apply(*cpu, "bypass scope=layers.7").ok());
  EXPECT_EQ(reply_of(*alternating), reply_of(*cpu));
}

TEST(PlacementTest, EncodersRunWhereTheyArePlaced) {
  const std::vector<std::string> texts{"I loved every minute of it.", "Dull, and far too long."};
  const auto cpu = open_or_fail(sentiment());
  const auto mixed = placed(sentiment(), {"place scope=layers.1-3 device=cuda:0"});
  ASSERT_TRUE(cpu && mixed);
  const auto here = cpu->classify(texts, {}, {}), there = mixed->classify(texts, {}, {});
  ASSERT_TRUE(here.ok() && there.ok()) << there.error().to_string();
  for (size_t i = 0; i < texts.size(); ++i)
    for (size_t k = 0; k < here.value()[i].logits.size(); ++k)
      EXPECT_NEAR(there.value()[i].logits[k], here.value()[i].logits[k], 1e-4);
}

TEST(PlacementTest, MovingInTheMiddleOfAChatKeepsTheContext) {
  const auto session = open_or_fail(smollm2()), cpu = open_or_fail(smollm2());
  ASSERT_TRUE(session && cpu);
  std::string text = kPrompt;
  const auto turn = [&](const char* then) {
    const auto mixed = session->chat(raw_request(text, 12), {}, {}),
               plain = cpu->chat(raw_request(text, 12), {}, {});
    if (!mixed.ok() || !plain.ok()) {
      ADD_FAILURE() << mixed.error().to_string();
      return int64_t{0};
    }
    EXPECT_EQ(ids_of(mixed.value()), ids_of(plain.value())) << then;
    text += mixed.value().text + " And";
    return mixed.value().reused_tokens;
  };
  turn("all at home");
  const int64_t read = session->context_used();
  const auto moved = apply(*session, "place scope=layers.3-9 device=cuda:0");
  ASSERT_TRUE(moved.ok()) << moved.error().to_string();
  EXPECT_TRUE(moved.value().kv_kept);
  EXPECT_GE(turn("placed"), read - 1);
  const int64_t more = session->context_used();
  const auto back = session->undo();
  ASSERT_TRUE(back.ok()) << back.error().to_string();
  EXPECT_TRUE(back.value().kv_kept);
  EXPECT_GE(turn("undone"), more - 1);
  EXPECT_THAT(session->placement(), IsEmpty());
  const auto again = session->redo();
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again.value().kv_kept);
  turn("redone");
}

TEST(PlacementTest, ToldByThePlan) {
  const auto session = placed(smollm2(), {"place scope=layers.4 device=cuda:0"});
  EXPECT_THAT(session->placement(),
              AllOf(testing::SizeIs(17), Each(Field(&NodePlacement::device, "cuda:0"))));
  const auto plan = session->plan(Phase::decode);
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  int transfers = 0;
  for (const PlanStep& step : plan.value().steps) {
    EXPECT_EQ(step.asked, step.device) << step.path;
    EXPECT_EQ(step.reason, "");
    if (step.op == "transfer") {
      ++transfers;
      EXPECT_EQ(step.kernel, step.device == "cpu" ? "transfer.to_host" : "transfer.to_device");
      EXPECT_EQ(step.bytes, 576 * 4);
      continue;
    }
    const bool there = step.path.starts_with("layers.4.");
    EXPECT_EQ(step.device, there ? "cuda:0" : "cpu") << step.path;
    EXPECT_THAT(step.kernel, StartsWith(there ? "cuda.test." : "cpu.")) << step.path;
    EXPECT_THAT(step.not_asked, Each(StartsWith(there ? "cuda.test." : "cpu."))) << step.path;
  }
  EXPECT_EQ(transfers, 2);
}

TEST(PlacementTest, WhatTheCardCannotRunRunsOnTheCpuAndSaysWhy) {
  const Variable lacking("ORRERY_FAKE_DEVICE_LACKS", "attention");
  const auto session = placed(smollm2(), {"place scope=layers.2 device=cuda:0"});
  const auto cpu = open_or_fail(smollm2());
  ASSERT_TRUE(session && cpu);
  EXPECT_EQ(reply_of(*session), reply_of(*cpu));
  const NodePlacement attention = placement_of(*session, "layers.2.attention.sdpa");
  EXPECT_EQ(attention.asked, "cuda:0");
  EXPECT_EQ(attention.device, "cpu");
  EXPECT_THAT(attention.reason, HasSubstr("the test device has no attention"));
  EXPECT_EQ(placement_of(*session, "layers.2.attention.kv_append").device, "cpu") << "it shares the state";
  EXPECT_EQ(placement_of(*session, "layers.2.attention.q_proj").device, "cuda:0");
  const auto plan = session->plan(Phase::prefill);
  ASSERT_TRUE(plan.ok());
  EXPECT_THAT(plan.value().steps,
              testing::Contains(AllOf(Field(&PlanStep::op, "attention"), Field(&PlanStep::asked, "cuda:0"),
                                      Field(&PlanStep::device, "cpu"),
                                      Field(&PlanStep::reason, HasSubstr("has no attention")))));
  const auto card = open_or_fail(on_device(smollm2()));
  ASSERT_TRUE(card) << "a session of a card goes to the CPU for it too";
  EXPECT_EQ(placement_of(*card, "layers.2.attention.sdpa").device, "cpu");
  EXPECT_EQ(reply_of(*card), reply_of(*cpu));
}

TEST(PlacementTest, ACardThatCannotBeUsedIsRefusedAndNothingChanges) {
  const auto session = open_or_fail(smollm2());
  ASSERT_TRUE(session);
  const std::string before = graph::print(*session->model_graph());
  EXPECT_THAT(apply(*session, "place scope=layers.0 device=cuda:7").error().to_string(),
              AllOf(HasSubstr("cuda:7 cannot be used"), HasSubstr("there are cuda:0 to cuda:2"),
                    HasSubstr("layers.0")));
  {
    const Variable none("ORRERY_FAKE_DEVICE_REFUSES", "the NVIDIA driver is not loaded");
    EXPECT_THAT(apply(*session, "place scope=layers.0 device=cuda:0").error().to_string(),
                AllOf(HasSubstr("driver is not loaded"), testing::Not(HasSubstr("--device"))));
  }
  EXPECT_EQ(graph::print(*session->model_graph()), before);
  EXPECT_THAT(session->edits(), IsEmpty());
}

TEST(PlacementTest, LayersOnThreeCardsAndTheCpuWriteWhatTheCpuWrites) {
  const auto cpu = open_or_fail(smollm2());
  ASSERT_TRUE(cpu);
  const std::vector<std::string> edits{"place scope=layers.0-9 device=cuda:0",
                                       "place scope=layers.10-19 device=cuda:1",
                                       "place scope=layers.25-29 device=cuda:2"};
  const auto spread = placed(smollm2(), edits);
  ASSERT_TRUE(spread);
  EXPECT_EQ(reply_of(*spread), reply_of(*cpu));
  EXPECT_EQ(placement_of(*spread, "layers.9.mlp.act").device, "cuda:0");
  EXPECT_EQ(placement_of(*spread, "layers.10.mlp.act").device, "cuda:1");
  EXPECT_EQ(placement_of(*spread, "layers.29.mlp.act").device, "cuda:2");
  const auto plan = spread->plan(Phase::decode);
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  std::vector<std::string> transfers;
  for (const PlanStep& step : plan->steps)
    if (step.op == "transfer") transfers.push_back(step.kernel + " " + step.device);
  EXPECT_THAT(transfers,
              ElementsAre("transfer.to_device cuda:0", "transfer.to_peer cuda:1", "transfer.to_host cpu",
                          "transfer.to_device cuda:2", "transfer.to_host cpu"));
  const std::vector<DeviceVitals> vitals = spread->vitals();
  ASSERT_EQ(vitals.size(), 3U);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(vitals[i].device, "cuda:" + std::to_string(i));
  for (const DeviceVitals& card : vitals) EXPECT_GT(card.memory_used, uint64_t{1} << 20) << card.device;
}

TEST(PlacementTest, WhatACardTellsOfMemoryIsOfThatCard) {
  const auto session = open_or_fail(smollm2());
  ASSERT_TRUE(session);
  const auto preview = session->preview({edit::parse_edit("place scope=layers.0-9 device=cuda:0").value(),
                                         edit::parse_edit("place scope=layers.10-11 device=cuda:2").value()},
                                        {});
  ASSERT_TRUE(preview.ok()) << preview.error().to_string();
  ASSERT_EQ(preview->memory.size(), 3U);
  const auto of = [&](const std::string& device) {
    const auto it = std::ranges::find(preview->memory, device, &MemoryChange::device);
    return it == preview->memory.end() ? MemoryUse{} : it->after;
  };
  EXPECT_GT(of("cuda:2").weights, 0U);
  EXPECT_NEAR(static_cast<double>(of("cuda:0").weights), 5.0 * static_cast<double>(of("cuda:2").weights),
              0.1 * static_cast<double>(of("cuda:0").weights))
      << "ten layers and two";
  EXPECT_EQ(of("cuda:0").kv_cache, 5 * of("cuda:2").kv_cache);
}

TEST(PlacementTest, MemoryOfBothSidesCounts) {
  const auto session = open_or_fail(smollm2());
  ASSERT_TRUE(session);
  reply_of(*session);
  const uint64_t before = session->memory_use().session();
  ASSERT_TRUE(apply(*session, "place scope=layers.0-9.mlp device=cuda:0").ok());
  reply_of(*session);
  uint64_t on_card = 0;
  for (const DerivedWeight& row : session->derived_weights())
    if (row.transform.find("on Test device") != std::string::npos) on_card += row.bytes;
  EXPECT_GT(on_card, 10U << 20) << "a megabyte and a half a layer";
  EXPECT_NEAR(static_cast<double>(session->memory_use().session()), static_cast<double>(before), 10U << 20)
      << "what lies on the card is given back here";
  const auto card = open_or_fail(on_device(smollm2()));
  ASSERT_TRUE(card);
  reply_of(*card);
  const uint64_t all_there = card->memory_use().session();
  ASSERT_TRUE(apply(*card, "place scope=layers.0-9.mlp device=cpu").ok());
  reply_of(*card);
  EXPECT_NEAR(static_cast<double>(card->memory_use().session()), static_cast<double>(all_there), 10U << 20)
      << "what the CPU reads is freed there";
}

/// The test device's memory is the program's, so that the program's own size tells of both sides.
TEST(PlacementTest, UndoneEditsLeaveMemoryWhereItWas) {
  mallopt(M_MMAP_THRESHOLD, 64 << 10);  // the test device's heap gives back what is freed
  const auto session = open_or_fail(smollm2());
  ASSERT_TRUE(session);
  const auto try_and_undo = [&] {
    for (const char* edit : {"place scope=layers.* device=cuda:0", "bypass scope=layers.3"}) {
      ASSERT_TRUE(apply(*session, edit).ok()) << edit;
      reply_of(*session);
    }
    while (session->undo().ok()) reply_of(*session);
  };
  const auto forms = [&] {
    uint64_t bytes = 0;
    for (const DerivedWeight& row : session->derived_weights()) bytes += row.bytes;
    return bytes;
  };
  reply_of(*session);
  const uint64_t derived = forms();
  try_and_undo();
  EXPECT_EQ(forms(), derived);
  const uint64_t before = session->memory_use().program;
  for (int round = 0; round < 3; ++round) try_and_undo();
  EXPECT_EQ(forms(), derived);
#if defined(__SANITIZE_ADDRESS__)
  constexpr double kNear = 40 << 20;  // the sanitizer holds back what was freed
#else
  constexpr double kNear = 8 << 20;
#endif
  EXPECT_NEAR(static_cast<double>(session->memory_use().program), static_cast<double>(before), kNear)
      << "all layers are some 100 MB";
}

TEST(PlacementTest, ARecipePlacesAtOpen) {
  const std::string path = testing::TempDir() + "placed.orrery.json";
  const auto session =
      placed(smollm2(), {"place scope=layers.0-1 device=cuda:0", "place scope=layers.1 device=home"});
  std::ofstream(path) << edit::write_recipe({session->recipe()});
  OpenOptions options = smollm2();
  options.recipe = path;
  const auto again = open_or_fail(options);
  ASSERT_TRUE(again);
  EXPECT_EQ(graph::print(*again->model_graph()), graph::print(*session->model_graph()));
  EXPECT_EQ(placement_of(*again, "layers.0.mlp.act").device, "cuda:0");
  EXPECT_EQ(placement_of(*again, "layers.1.mlp.act").device, "");
  EXPECT_EQ(reply_of(*again), reply_of(*session));
  std::remove(path.c_str());
}

TEST(PlacementTest, ComparesAPlacedSideNodeByNode) {
  const auto mixed = placed(smollm2(), {"place scope=layers.3-5 device=cuda:0"}),
             cpu = open_or_fail(smollm2());
  ASSERT_TRUE(mixed && cpu);
  CompareRequest request;
  request.raw = kPrompt;
  request.max_tokens = 8;
  const auto result = compare(*cpu, *mixed, request, {}, {}, {});
  ASSERT_TRUE(result.ok()) << result.error().to_string();
  EXPECT_EQ(result.value().first_divergent, "");
  EXPECT_EQ(result.value().first_different_token, -1);
  for (const NodeComparison& node : result.value().nodes)
    EXPECT_TRUE(cpu->model_graph()->find_path(node.node).valid()) << node.node << " is in the drawn graph";
}

}  // namespace
}  // namespace orrery::api
