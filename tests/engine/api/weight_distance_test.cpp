// How far weights are apart, against numbers that are worked out here.
#include "engine/api/weight_distance.h"

#include <gmock/gmock.h>

#include <cmath>

#include "engine/api/side_times.h"
#include "engine/weights/requantise.h"
#include "tests/engine/api/tiny_session.h"

namespace orrery::api {
namespace {

/// A session of the same weights after an edit.
std::shared_ptr<Session> after(const TinySession& tiny, const std::string& words) {
  const auto fork = tiny->fork({.edits = std::vector{edit_of(words)}}, {});
  EXPECT_TRUE(fork.ok()) << (fork.ok() ? "" : fork.error().to_string());
  return fork.ok() ? *fork : nullptr;
}

WeightDistances distances(const Session& a, const Session& b) {
  const auto all = weight_distances(a, b, {}, {});
  EXPECT_TRUE(all.ok()) << (all.ok() ? "" : all.error().to_string());
  return all.ok() ? *all : WeightDistances{};
}

const WeightDistance* find(const WeightDistances& all, const std::string& part) {
  const auto found = std::ranges::find_if(
      all.weights, [&](const WeightDistance& weight) { return weight.path.find(part) != std::string::npos; });
  return found == all.weights.end() ? nullptr : &*found;
}

/// A model whose weights are those of the tiny one after `change`.
struct ChangedModel {
  explicit ChangedModel(const std::string& tensor, const std::function<void(std::vector<float>&)>& change)
      : tiny(2) {
    auto copy = std::make_shared<io::ModelFile>(*whole);
    io::Tensor& changed = copy->tensors[copy->by_name.at(tensor)];
    elements = weights::decoded(changed);
    change(elements);
    changed.data = std::as_bytes(std::span<const float>(elements));
    tiny.file = copy;
    tiny.weights = std::make_shared<weights::WeightStore>(copy, nullptr);
  }
  runtime::TinyModel tiny;
  std::shared_ptr<const io::ModelFile> whole = tiny.file;  // the other tensors lie there
  std::vector<float> elements;
};

TEST(WeightDistance, OfAModelAndItselfIsNothing) {
  const TinySession a(2), b(2);
  const WeightDistances all = distances(*a.session, *b.session);
  EXPECT_EQ(all.weights.size(), a.session->source().file->tensors.size());
  EXPECT_EQ(all.only_a + all.only_b, 0U);
  for (const WeightDistance& weight : all.weights) {
    EXPECT_EQ(weight.relative, 0) << weight.path;
    EXPECT_EQ(weight.cosine, 1) << weight.path;
    EXPECT_EQ(weight.refusal, "") << weight.path;
  }
}

TEST(WeightDistance, OfAKnownChangeIsThatChange) {
  const ChangedModel larger("layers.1.gate", [](auto& elements) {
    for (float& element : elements) element *= 1.25F;
  });
  const TinySession a(2), b(larger.tiny);
  const WeightDistances all = distances(*a.session, *b.session);
  const auto moved =
      std::ranges::count_if(all.weights, [](const auto& weight) { return weight.relative > 0; });
  EXPECT_EQ(moved, 1);
  const WeightDistance* gate = find(all, "layers.1.gate");
  ASSERT_TRUE(gate);
  EXPECT_NEAR(gate->relative, 0.25, 1e-6);
  EXPECT_NEAR(gate->cosine, 1, 1e-12);
  EXPECT_EQ(gate->a.bytes, gate->b.bytes);
  EXPECT_THAT(gate->readers, testing::Contains(testing::HasSubstr("layers.1")));
}

TEST(WeightDistance, OfOneElementIsSeenInItsRow) {
  const ChangedModel moved("layers.0.down", [](auto& elements) { elements[777] += 3; });
  const TinySession a(2), b(moved.tiny);
  const WeightDistances all = distances(*a.session, *b.session);
  const WeightDistance* down = find(all, "layers.0.down");
  ASSERT_TRUE(down);
  double squares = 0;
  for (const float element : weights::decoded(
           a.session->source().file->tensors.at(a.session->source().file->by_name.at("layers.0.down"))))
    squares += double(element) * element;
  EXPECT_NEAR(down->max_abs, 3, 1e-5);
  EXPECT_NEAR(down->relative, 3 / std::sqrt(squares), 1e-6);
}

TEST(WeightDistance, OfAnotherTypeIsThatOfWhatItStores) {
  const TinySession a(2);
  const auto b = after(a, "quantise scope=layers.0.down type=q8_0");
  ASSERT_TRUE(b);
  const WeightDistances all = distances(*a.session, *b);
  const WeightDistance* down = find(all, "layers.0.down");
  ASSERT_TRUE(down);
  EXPECT_EQ(down->a.dtype, "f32");
  EXPECT_THAT(down->b.dtype, testing::StrCaseEq("q8_0"));
  EXPECT_EQ(down->a.bytes, 64U * 96 * 4);
  EXPECT_EQ(down->b.bytes, 64U * 96 / 32 * 34);
  // By the format's own words: 32 elements share a scale of f16, of which each is a multiple.
  const std::vector<float> before = weights::decoded(
      a.session->source().file->tensors.at(a.session->source().file->by_name.at("layers.0.down")));
  double error = 0, squares = 0, furthest = 0;
  for (size_t block = 0; block < before.size(); block += 32) {
    float largest = 0;
    for (size_t i = block; i < block + 32; ++i) largest = std::max(largest, std::abs(before[i]));
    const auto scale = static_cast<float>(static_cast<_Float16>(largest / 127));
    for (size_t i = block; i < block + 32; ++i) {
      const double apart = std::abs(before[i] - std::round(before[i] * 127 / largest) * scale);
      error += apart * apart;
      squares += double(before[i]) * before[i];
      furthest = std::max(furthest, apart);
    }
  }
  EXPECT_NEAR(down->relative, std::sqrt(error / squares), 1e-4 * down->relative);
  EXPECT_NEAR(down->max_abs, furthest, 1e-4 * furthest);
}

TEST(WeightDistance, WhatOneSideAloneHasIsCounted) {
  const TinySession a(2), b(3);
  const WeightDistances all = distances(*a.session, *b.session);
  EXPECT_EQ(all.only_a, 0U);
  EXPECT_EQ(all.only_b, 9U) << "the third layer's";
  const auto shorter = after(a, "bypass scope=layers.1");
  ASSERT_TRUE(shorter);
  EXPECT_EQ(distances(*a.session, *shorter).only_a, 9U) << "what is bypassed is not there";
  EXPECT_EQ(distances(*a.session, *shorter).only_b, 0U);
  EXPECT_EQ(distances(*shorter, *a.session).only_b, 9U);
  std::stop_source stop;
  stop.request_stop();
  const auto stopped = weight_distances(*a.session, *b.session, {}, stop.get_token());
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code, ErrorCode::cancelled);
}

TEST(SideTimes, BothSidesAreMeasured) {
  const TinySession a(2);
  const auto b = after(a, "bypass scope=layers.1");
  ASSERT_TRUE(b);
  const auto times = side_times(*a.session, *b, {}, {});
  ASSERT_TRUE(times.ok()) << times.error().to_string();
  EXPECT_GT(times->step_a_us, 0);
  EXPECT_GT(times->step_b_us, 0);
  size_t alone = 0, both = 0;
  for (const NodeComparison& node : times->nodes) {
    EXPECT_GT(node.a_us, 0) << node.node;
    (node.b_us > 0 ? both : alone) += 1;
    EXPECT_EQ(node.b_us == 0, node.node.starts_with("layers.1")) << node.node;
  }
  EXPECT_GT(alone, 5U);
  EXPECT_GT(both, 10U);
}

}  // namespace
}  // namespace orrery::api
