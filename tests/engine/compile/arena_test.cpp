#include "engine/compile/arena.h"

#include <gmock/gmock.h>

#include <random>

#include "engine/compile/plan.h"

namespace orrery::compile {
namespace {

bool live_together(const Lifetime& a, const Lifetime& b) { return a.first <= b.last && b.first <= a.last; }

/// Bytes that live at one moment at most: no layout can need less.
size_t peak(const std::vector<Lifetime>& lifetimes) {
  size_t most = 0;
  for (const Lifetime& at : lifetimes) {
    size_t sum = 0;
    for (const Lifetime& other : lifetimes)
      if (other.first <= at.first && at.first <= other.last) sum += other.bytes;
    most = std::max(most, sum);
  }
  return most;
}

void expect_disjoint(const std::vector<Lifetime>& lifetimes, const ArenaLayout& layout) {
  ASSERT_EQ(layout.offsets.size(), lifetimes.size());
  for (size_t i = 0; i < lifetimes.size(); ++i) {
    EXPECT_EQ(layout.offsets[i] % kArenaAlignment, 0U);
    EXPECT_LE(layout.offsets[i] + lifetimes[i].bytes, layout.bytes);
    for (size_t j = 0; j < i; ++j) {
      if (!live_together(lifetimes[i], lifetimes[j])) continue;
      const bool apart = layout.offsets[i] + lifetimes[i].bytes <= layout.offsets[j] ||
                         layout.offsets[j] + lifetimes[j].bytes <= layout.offsets[i];
      EXPECT_TRUE(apart) << i << " and " << j;
    }
  }
}

TEST(Arena, NoTwoLiveBuffersOverlap) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<Lifetime> lifetimes;
    const int steps = 1 + static_cast<int>(random() % 40);
    for (int i = 0; i < steps * 2; ++i) {
      const int first = static_cast<int>(random() % static_cast<unsigned>(steps));
      lifetimes.push_back({random() % 5000, first, first + static_cast<int>(random() % 6)});
    }
    const ArenaLayout layout = lay_out(lifetimes);
    expect_disjoint(lifetimes, layout);
  }
}

TEST(Arena, AChainNeedsTwoBuffers) {
  std::vector<Lifetime> lifetimes;
  for (int i = 0; i < 50; ++i) lifetimes.push_back({6400, i, i + 1});
  const ArenaLayout layout = lay_out(lifetimes);
  EXPECT_EQ(layout.bytes, 12800U);
}

TEST(Arena, ALayeredModelComesNearItsPeak) {
  std::vector<Lifetime> lifetimes;
  for (int layer = 0; layer < 30; ++layer) {
    const int s = layer * 8;
    for (const Lifetime& buffer :
         {Lifetime{2304, s, s + 4}, Lifetime{2304, s + 1, s + 3}, Lifetime{768, s + 1, s + 2},
          Lifetime{768, s + 1, s + 2}, Lifetime{2304, s + 3, s + 4}, Lifetime{2304, s + 4, s + 8},
          Lifetime{6144, s + 5, s + 7}, Lifetime{2304, s + 7, s + 8}})
      lifetimes.push_back(buffer);
  }
  const ArenaLayout layout = lay_out(lifetimes);
  expect_disjoint(lifetimes, layout);
  EXPECT_LE(layout.bytes, peak(lifetimes) * 5 / 4);
}

TEST(Arena, AViewLiesWhereItsSourceLiesAndKeepsItAlive) {
  graph::Graph graph(ops::registry());
  const auto add = [&](const char* op, graph::Attributes attributes, std::vector<ValueId> inputs) {
    const auto node = graph.add_node({op,
                                      "",
                                      "n" + std::to_string(graph.order().size()),
                                      std::move(attributes),
                                      std::move(inputs),
                                      {},
                                      {}});
    EXPECT_TRUE(node.ok()) << (node.ok() ? "" : node.error().to_string());
    return graph.node(*node).outputs[0];
  };
  const auto reshape = [&](ValueId src, std::vector<int64_t> shape) {
    return add("reshape", {{"shape", std::move(shape)}}, {src});
  };
  const ValueId positions = add("input", {{"name", std::string("positions")}}, {});
  const ValueId source = reshape(positions, {0, 1});                            // step 0
  const ValueId made = add("cast", {{"dtype", std::string("f16")}}, {source});  // 1
  const ValueId view = reshape(made, {1, -1}), again = reshape(view, {-1});     // 2, 3
  const ValueId last = add("add", {}, {again, again});                          // 4
  graph.set_outputs({last});
  const auto live = liveness(graph, bucket_for(64, 1, 1));
  ASSERT_TRUE(live.ok()) << live.error().to_string();
  EXPECT_THAT(live->values, testing::ElementsAre(source, made, last)) << "of an input there is a copy";
  EXPECT_THAT(live->views, testing::ElementsAre(std::pair(view, made), std::pair(again, made)));
  EXPECT_EQ(live->lifetimes[1].bytes, 128U);
  EXPECT_EQ(live->lifetimes[1].first, 1);
  EXPECT_EQ(live->lifetimes[1].last, 4) << "the view of its view is read there";
}

TEST(Arena, NothingNeedsNothing) { EXPECT_EQ(lay_out({}).bytes, 0U); }

TEST(Arena, EachDeviceHasItsOwnAndNoTwoLiveBuffersOfItOverlap) {
  const kernels::DeviceId kIds[] = {kernels::kCpuId, kernels::cuda_id(0), kernels::cuda_id(2)};
  std::mt19937 random(2);
  for (int round = 0; round < 100; ++round) {
    std::vector<Lifetime> lifetimes;
    std::vector<kernels::DeviceId> devices;
    for (int i = 0; i < 60; ++i) {
      const int first = static_cast<int>(random() % 30);
      lifetimes.push_back({random() % 5000, first, first + static_cast<int>(random() % 6)});
      devices.push_back(kIds[random() % 3]);
    }
    const DeviceArenas arenas = lay_out(lifetimes, devices);
    for (const kernels::DeviceId device : kIds) {
      std::vector<Lifetime> own;
      ArenaLayout layout;
      for (size_t i = 0; i < lifetimes.size(); ++i)
        if (devices[i] == device) {
          own.push_back(lifetimes[i]);
          layout.offsets.push_back(arenas.offsets[i]);
        }
      layout.bytes = arenas.bytes_on(device);
      expect_disjoint(own, layout);
    }
  }
}

TEST(Bucket, HoldsItsTokensAndIsAPowerOfTwo) {
  for (int64_t tokens = 1; tokens <= 5000; ++tokens) {
    const Bucket bucket = bucket_for(tokens, 1, 1);
    ASSERT_LE(bucket.min_tokens, tokens);
    ASSERT_GE(bucket.max_tokens, tokens);
    ASSERT_EQ(bucket.max_tokens & (bucket.max_tokens - 1), 0);
    ASSERT_TRUE(bucket.max_tokens <= 2 || bucket.min_tokens == bucket.max_tokens / 2 + 1);
  }
  EXPECT_EQ(bucket_for(3, 5, 9).max_outputs, 8);
  EXPECT_EQ(bucket_for(3, 5, 9).max_sequences, 16);
  EXPECT_EQ(bucket_for(3, 0, 1).max_outputs, 1);
}

}  // namespace
}  // namespace orrery::compile
