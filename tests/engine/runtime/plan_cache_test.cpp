// Plans that several threads ask for at once.
#include "engine/runtime/plan_cache.h"

#include <gmock/gmock.h>

#include <latch>
#include <thread>

#include "tests/engine/runtime/tiny_model.h"

namespace orrery::runtime {
namespace {

using PlanResult = Result<std::shared_ptr<const compile::Plan>>;

class Plans : public testing::Test {
 protected:
  static compile::Options options(int64_t tokens) {
    compile::Options options;
    options.bucket = compile::bucket_for(tokens, 1, 1);
    options.kv_dtype = DType::f32;
    return options;
  }
  PlanResult get(const compile::Options& options) {
    kernels::ThreadTeam team(1);
    return cache_.get(version_->fused, *tiny_.weights, team, options);
  }
  /// Calls `meanwhile` once while the plan is compiled.
  static compile::Options watched(int64_t tokens, std::function<void()> meanwhile) {
    compile::Options watched = options(tokens);
    watched.on_node = [meanwhile = std::move(meanwhile), told = false](size_t, size_t) mutable {
      if (!std::exchange(told, true)) meanwhile();
    };
    return watched;
  }

  TinyModel tiny_;
  std::shared_ptr<const Version> version_ = TinyModel::version(tiny_.graph());
  PlanCache cache_;
};

TEST_F(Plans, ThatSeveralAskForAreCompiledOnce) {
  std::vector<std::jthread> others;
  std::vector<PlanResult> results(4, PlanResult(Error{}));
  const PlanResult first = get(watched(1, [&] {
    std::latch asking(static_cast<ptrdiff_t>(results.size()));
    for (PlanResult& result : results)
      others.emplace_back([&] {
        asking.count_down();
        result = get(options(1));
      });
    asking.wait();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }));
  others.clear();
  ASSERT_TRUE(first.ok());
  for (const PlanResult& result : results) {
    ASSERT_TRUE(result.ok());
    EXPECT_EQ(*result, *first);
  }
  EXPECT_EQ(cache_.size(), 1U);
}

TEST_F(Plans, OfOtherBucketsDoNotWait) {
  PlanResult other = Error{};
  ASSERT_TRUE(get(watched(1, [&] { std::jthread([&] { other = get(options(4)); }).join(); })).ok());
  EXPECT_TRUE(other.ok());
  EXPECT_EQ(cache_.size(), 2U);
}

TEST_F(Plans, ThatOneThreadGivesUpAreCompiledByTheNext) {
  std::stop_source stop;
  std::jthread other;
  PlanResult result = Error{};
  std::latch asking(1);
  compile::Options given_up = watched(1, [&] {
    other = std::jthread([&] {
      asking.count_down();
      result = get(options(1));
    });
    asking.wait();
    stop.request_stop();
  });
  given_up.stop = stop.get_token();
  const PlanResult first = get(given_up);
  other.join();
  ASSERT_FALSE(first.ok());
  EXPECT_EQ(first.error().code, ErrorCode::cancelled);
  EXPECT_TRUE(result.ok());
}

TEST_F(Plans, AreWaitedForAsLongAsTheyAreWanted) {
  PlanResult result = Error{};
  std::stop_source stop;
  ASSERT_TRUE(get(watched(1, [&] {
                std::jthread other([&] {
                  compile::Options impatient = options(1);
                  impatient.stop = stop.get_token();
                  result = get(impatient);
                });
                stop.request_stop();
                other.join();
              })).ok());
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::cancelled);
}

}  // namespace
}  // namespace orrery::runtime
