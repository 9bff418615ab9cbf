// Rows of Linear give the same bits whatever thread takes what and wherever chunks end: teams of one thread
// and of several, again and again, beside a thread that is always busy.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "linear_testing.h"

namespace orrery::kernels {
namespace {

using lab::LinearCase;

class Chunks : public ::testing::TestWithParam<DType> {
 protected:
  Chunks()
      : busy_([this] {
          while (!stop_.load(std::memory_order_relaxed)) {
          }
        }) {}
  ~Chunks() override {
    stop_ = true;
    busy_.join();
  }

  static void same_bits(const LinearCase& c) {
    for (const Row<Linear>& row : testing::fast_rows(linear_rows())) {
      if (!lab::refusal_of(row, c.problem).empty()) continue;
      const auto expected = testing::values_of(testing::run(c, row, 1));
      for (const int threads : {2, 3}) {
        std::thread([&] {  // which a team of all cores keeps to one of them
          ThreadTeam team(threads);
          team.pin();
          for (int i = 0; i < 3; ++i) {
            const auto found = testing::values_of(testing::run(c, row, team, testing::Guard::after));
            ASSERT_EQ(found, expected) << row.name << ", " << threads << " threads";
          }
        })
            .join();
      }
    }
  }

 private:
  std::atomic<bool> stop_{false};
  std::thread busy_;
};

TEST_P(Chunks, SameBitsWhoeverTakesThem) {
  std::thread([] {  // which the full team keeps to one core
    for (const int64_t tokens : {1, 3, 40, 130}) {
      SCOPED_TRACE(std::to_string(tokens) + " tokens");
      same_bits(testing::linear_case(tokens, 256, {{1021, GetParam()}, {333, GetParam(), true}}));
      same_bits(
          testing::linear_case(tokens, 256, {{577, GetParam()}, {577, GetParam()}}, Epilogue::silu_mul));
    }
  })
      .join();
}

INSTANTIATE_TEST_SUITE_P(Weights, Chunks,
                         ::testing::Values(DType::q8_0, DType::q4_1, DType::q4_k, DType::f16, DType::f32),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace orrery::kernels
