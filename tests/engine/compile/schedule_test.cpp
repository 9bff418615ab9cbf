// Which steps become a segment, and which segments wait for which: by hand, and of graphs with branches.
#include <gmock/gmock.h>

#include "engine/compile/segments.h"
#include "engine/runtime/devices.h"
#include "tests/engine/runtime/placed.h"

namespace orrery::compile {
namespace {

using kernels::cuda_id;
using kernels::DeviceId;
using kernels::kCpuId;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr DeviceId kA = cuda_id(0), kB = cuda_id(1);

/// Bytes 0 to 99 of a memory are value 0, and so on.
Access reads(DeviceId memory, size_t value) { return {memory, value * 100, value * 100 + 100, false}; }
Access writes(DeviceId memory, size_t value) { return {memory, value * 100, value * 100 + 100, true}; }

class Schedule : public testing::Test {
 protected:
  void add(const std::string& name, DeviceId side, std::vector<Access> accesses) {
    Step step;
    step.op = name;
    segmenter_.add(std::move(step), side, std::move(accesses));
  }
  /// "cuda:0 [copy part] after 0 2", one a segment.
  std::vector<std::string> told() {
    std::vector<Step> steps;
    std::vector<Segment> segments;
    segmenter_.finish(steps, segments);
    std::vector<std::string> lines;
    for (const Segment& segment : segments) {
      std::string line = to_string(segment.device) + " [";
      for (size_t i = segment.begin; i < segment.end; ++i)
        line += (i > segment.begin ? " " : "") + steps[i].op;
      line += "]";
      for (size_t k = 0; k < segment.after.size(); ++k)
        line += (k == 0 ? " after " : " ") + std::to_string(segment.after[k]);
      lines.push_back(line);
    }
    return lines;
  }

  Segmenter segmenter_;
};

TEST_F(Schedule, StepsOfOneDeviceAreOneSegment) {
  add("a", kA, {writes(kA, 0)});
  add("b", kA, {reads(kA, 0), writes(kA, 1)});
  add("c", kA, {reads(kA, 1), writes(kA, 0)});
  EXPECT_THAT(told(), ElementsAre("cuda:0 [a b c]"));
}

TEST_F(Schedule, AChainWaitsLinkByLink) {
  add("embed", kCpuId, {writes(kCpuId, 0)});
  add("over", kA, {reads(kCpuId, 0), writes(kA, 0)});
  add("layer", kA, {reads(kA, 0), writes(kA, 1)});
  add("across", kB, {reads(kA, 1), writes(kB, 0)});
  add("layer", kB, {reads(kB, 0), writes(kB, 1)});
  add("back", kB, {reads(kB, 1), writes(kCpuId, 1)});
  add("head", kCpuId, {reads(kCpuId, 1), writes(kCpuId, 2)});
  EXPECT_THAT(told(), ElementsAre("cpu [embed]", "cuda:0 [over layer] after 0",
                                  "cuda:1 [across layer back] after 1", "cpu [head] after 2"));
}

TEST_F(Schedule, BranchesOnTwoCardsDoNotWaitForEachOther) {
  add("x", kCpuId, {writes(kCpuId, 0)});
  add("over", kA, {reads(kCpuId, 0), writes(kA, 0)});
  add("part", kA, {reads(kA, 0), writes(kA, 1)});
  add("over", kB, {reads(kCpuId, 0), writes(kB, 0)});
  add("part", kB, {reads(kB, 0), writes(kB, 1)});
  add("back", kA, {reads(kA, 1), writes(kCpuId, 1)});
  add("back", kB, {reads(kB, 1), writes(kCpuId, 2)});
  add("join", kCpuId, {reads(kCpuId, 1), reads(kCpuId, 2), writes(kCpuId, 3)});
  EXPECT_THAT(told(), ElementsAre("cpu [x]", "cuda:0 [over part back] after 0",
                                  "cuda:1 [over part back] after 0", "cpu [join] after 1 2"));
}

TEST_F(Schedule, TheProgramsOwnBranchIsNotHeldUpByACards) {
  add("x", kCpuId, {writes(kCpuId, 0)});
  add("over", kA, {reads(kCpuId, 0), writes(kA, 0)});
  add("back", kA, {reads(kA, 0), writes(kCpuId, 1)});
  add("own", kCpuId, {reads(kCpuId, 0), writes(kCpuId, 2)});
  add("join", kCpuId, {reads(kCpuId, 1), reads(kCpuId, 2), writes(kCpuId, 3)});
  EXPECT_THAT(told(),
              ElementsAre("cpu [x]", "cuda:0 [over back] after 0", "cpu [own]", "cpu [join] after 1"));
}

TEST_F(Schedule, WhatOthersWaitForIsNotMadeLonger) {
  add("first", kA, {writes(kA, 0)});
  add("across", kB, {reads(kA, 0), writes(kB, 0)});
  add("later", kA, {reads(kA, 0), writes(kA, 1)});
  EXPECT_THAT(told(), ElementsAre("cuda:0 [first]", "cuda:1 [across] after 0", "cuda:0 [later]"));
}

TEST_F(Schedule, BytesThatAnotherStillReadsAreNotOverwritten) {
  add("x", kA, {writes(kA, 0)});
  add("across", kB, {reads(kA, 0), writes(kB, 0)});
  add("anew", kA, {writes(kA, 0)});
  add("beside", kA, {writes(kA, 1)});
  EXPECT_THAT(told(), ElementsAre("cuda:0 [x]", "cuda:1 [across] after 0", "cuda:0 [anew beside] after 1"));
}

TEST_F(Schedule, BytesThatAnotherHasStillToReadAreNotOverwrittenByATransfer) {
  add("x", kCpuId, {writes(kCpuId, 0)});
  add("part", kA, {writes(kA, 0)});
  add("read", kCpuId, {reads(kCpuId, 0), writes(kCpuId, 1)});
  add("back", kA, {reads(kA, 0), writes(kCpuId, 0)});
  EXPECT_THAT(told(), ElementsAre("cpu [x read]", "cuda:0 [part]", "cuda:0 [back] after 0"));
}

TEST_F(Schedule, NobodyWaitsTwice) {
  add("a", kA, {writes(kA, 0)});
  add("b", kB, {reads(kA, 0), writes(kB, 0)});
  add("c", kCpuId, {reads(kA, 0), reads(kB, 0), writes(kCpuId, 0)});
  add("d", kA, {reads(kCpuId, 0), writes(kA, 1)});
  add("e", kB, {reads(kA, 0), reads(kA, 1), writes(kB, 1)});
  EXPECT_THAT(told(), ElementsAre("cuda:0 [a]", "cuda:1 [b] after 0", "cpu [c] after 1", "cuda:0 [d] after 2",
                                  "cuda:1 [e] after 3"));
}

/// The tiny model with its layers on three cards.
TEST(PlanSchedule, LayersOnThreeCards) {
  runtime::TinyModel tiny(4);
  Options options;
  options.bucket = bucket_for(4, 1, 1);
  for (int i = 0; i < 3; ++i) {
    auto card = runtime::open_device(2 - i);
    ASSERT_TRUE(card.ok()) << card.error().to_string();
    options.cards.push_back(card.value());
  }
  const auto version = runtime::placed_version(
      tiny.graph(), {{"layers.0", "cuda:0"}, {"layers.1", "cuda:1"}, {"layers.3", "cuda:2"}}, "cpu");
  kernels::ThreadTeam team(1);
  const auto compiled = compile(version->fused, *tiny.weights, team, options);
  ASSERT_TRUE(compiled.ok()) << compiled.error().to_string();
  const Plan& plan = *compiled.value();
  std::vector<std::string> devices;
  std::vector<std::vector<size_t>> after;
  for (const Segment& segment : plan.segments) {
    devices.push_back(to_string(segment.device));
    after.push_back(segment.after);
  }
  EXPECT_THAT(devices, ElementsAre("cpu", "cuda:0", "cuda:1", "cpu", "cuda:2", "cpu"));
  EXPECT_THAT(after, ElementsAre(IsEmpty(), ElementsAre(0), ElementsAre(1), ElementsAre(2), ElementsAre(3),
                                 ElementsAre(4)));
  ASSERT_EQ(plan.cards.size(), 3U);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(plan.cards[static_cast<size_t>(i)].card->id(), cuda_id(i));
    EXPECT_GT(plan.cards[static_cast<size_t>(i)].arena_bytes, 0U);
  }
  size_t peers = 0;
  for (const Step& step : plan.steps) peers += step.kernel == "transfer.to_peer" ? 1 : 0;
  EXPECT_GE(peers, 1U) << "from cuda:0 to cuda:1";
}

}  // namespace
}  // namespace orrery::compile
