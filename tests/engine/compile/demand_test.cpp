// What plans are told to take, against what they then take.
#include "engine/compile/demand.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/engine/runtime/tiny_model.h"

namespace orrery::compile {
namespace {

using runtime::TinyModel;

class DemandTest : public testing::Test {
 protected:
  Demand demand(std::vector<Bucket> buckets) {
    DemandOptions options;
    options.precision = kernels::Precision::exact;
    options.threads = team_.size();
    const auto asked = demand_of(graph_, buckets, options);
    EXPECT_TRUE(asked.ok()) << (asked.ok() ? "" : asked.error().to_string());
    return asked.ok() ? asked.value() : Demand{};
  }
  std::shared_ptr<const Plan> plan(const Bucket& bucket) {
    Options options;
    options.bucket = bucket;
    options.precision = kernels::Precision::exact;
    const auto made = compile(graph_, *tiny_.weights, team_, options);
    EXPECT_TRUE(made.ok());
    return made.ok() ? made.value() : nullptr;
  }

  TinyModel tiny_;
  kernels::ThreadTeam team_{2};
  graph::GraphVersion graph_ = TinyModel::version(tiny_.graph())->fused;
};

TEST_F(DemandTest, ScratchIsThatOfThePlan) {
  for (const int64_t tokens : {1, 16, 100}) {
    const Bucket bucket = bucket_for(tokens, 1, 1);
    const auto made = plan(bucket);
    ASSERT_TRUE(made);
    const Demand asked = demand({bucket});
    EXPECT_EQ(asked.arena_bytes, made->host_arena_bytes) << tokens;
    EXPECT_EQ(asked.workspace_bytes, made->host_workspace_bytes) << tokens;
  }
}

TEST_F(DemandTest, TheLargestPlanCountsAndEachFormOnce) {
  const Bucket one = bucket_for(1, 1, 1), many = bucket_for(64, 1, 1);
  const Demand asked = demand({one, many, one});
  EXPECT_EQ(asked.arena_bytes, demand({many}).arena_bytes);
  std::set<std::pair<std::string, std::string>> forms;
  for (const WeightForm& form : asked.weights) {
    EXPECT_TRUE(forms.emplace(form.tensor, form.packing).second) << form.tensor;
    EXPECT_GT(form.bytes, 0U) << form.tensor;
  }
  EXPECT_GE(asked.weights.size(), demand({one}).weights.size());
}

TEST_F(DemandTest, PackedFormsAreThoseThatTheStoreBuilds) {
  const Bucket bucket = bucket_for(64, 1, 1);
  const auto made = plan(bucket);
  ASSERT_TRUE(made);
  uint64_t packed = 0, built = 0;
  for (const WeightForm& form : demand({bucket}).weights)
    if (!form.packing.empty()) packed += form.bytes;
  for (const weights::DerivedWeight& weight : tiny_.weights->derived()) built += weight.bytes;
  EXPECT_EQ(packed, built);
}

}  // namespace
}  // namespace orrery::compile
