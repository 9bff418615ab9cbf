#include "kernels/moe.h"

#include "kernels/lab/moe_case.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

using lab::ExpertMlpCase;
using lab::TopExpertsCase;
using testing::random_floats;

struct Chosen {
  std::vector<float> experts, weights;
};

Chosen choose(const Row<TopExperts>& row, const TopExperts::Problem& problem,
              const std::vector<float>& logits) {
  const std::vector<lab::Output> outputs = testing::run(TopExpertsCase(problem, logits), row);
  return {outputs[0].values, outputs[1].values};
}

TEST(TopExperts, takes_the_likeliest_in_order_and_of_equal_ones_the_first) {
  const std::vector<float> logits = {0, 2, 1, 2, -1};
  const double all = 1 + 2 * std::exp(2.0) + std::exp(1.0) + std::exp(-1.0);
  const double three = 2 * std::exp(2.0) + std::exp(1.0);
  for (const Row<TopExperts>& row : testing::all_rows(top_experts_rows())) {
    SCOPED_TRACE(std::string(row.name));
    const Chosen shares = choose(row, {5, 3, false}, logits);
    EXPECT_EQ(shares.experts, (std::vector<float>{1, 3, 2}));
    EXPECT_NEAR(shares.weights[0], std::exp(2.0) / all, 1e-6);
    EXPECT_NEAR(shares.weights[2], std::exp(1.0) / all, 1e-6);
    const Chosen normal = choose(row, {5, 3, true}, logits);
    EXPECT_EQ(normal.experts, shares.experts);
    EXPECT_NEAR(normal.weights[0], std::exp(2.0) / three, 1e-6);
    EXPECT_NEAR(normal.weights[2], std::exp(1.0) / three, 1e-6);
  }
}

TEST(TopExperts, rows_agree_with_the_reference) {
  for (const int64_t experts : {1, 8, 31, 33, 128})
    for (const bool normalise : {false, true})
      for (const int64_t active : {int64_t{1}, std::min<int64_t>(8, experts), experts}) {
        const TopExperts::Problem problem{experts, active, normalise};
        const std::vector<float> logits = random_floats(static_cast<size_t>(70 * experts), 5, 3.0F);
        SCOPED_TRACE(std::to_string(experts) + ", " + std::to_string(active));
        testing::expect_rows_agree(TopExpertsCase(problem, logits), top_experts_rows());
      }
}

const std::vector<ExpertMlp::Problem> kMixtures = {
    {.tokens = 40, .width = 20, .inner = 13, .experts = 4, .active = 2, .precision = Precision::exact},
    {.tokens = 40,
     .width = 64,
     .inner = 96,
     .experts = 8,
     .active = 8,
     .gate = DType::bf16,
     .up = DType::f16,
     .down = DType::bf16,
     .precision = Precision::exact},
    {.tokens = 40,
     .width = 64,
     .inner = 32,
     .experts = 16,
     .active = 3,
     .gate = DType::q4_0,
     .up = DType::q8_0,
     .down = DType::q4_1,
     .activation = Epilogue::gelu_tanh_mul,
     .precision = Precision::exact},
    {.tokens = 40,
     .width = 96,
     .inner = 64,
     .experts = 5,
     .active = 1,
     .gate = DType::q8_0,
     .up = DType::q8_0,
     .down = DType::q8_0,
     .precision = Precision::balanced},
    {.tokens = 40,
     .width = 96,
     .inner = 64,
     .experts = 5,
     .active = 1,
     .gate = DType::q8_0,
     .up = DType::q8_0,
     .down = DType::q4_0,
     .precision = Precision::int8},
};

TEST(ExpertMlp, rows_agree_with_the_reference) {
  for (ExpertMlp::Problem problem : kMixtures)
    for (const int64_t tokens : {1, 3, 40}) {
      SCOPED_TRACE(std::to_string(problem.width) + ", " + std::to_string(tokens));
      problem.tokens = tokens;
      testing::expect_rows_agree(ExpertMlpCase(problem, tokens), expert_mlp_rows());
    }
}

TEST(ExpertMlp, a_token_does_not_depend_on_the_others_nor_on_the_threads) {
  const ExpertMlpCase c(kMixtures[1], 40, 9);
  testing::each_fast_row(expert_mlp_rows(), c.problem, [&](const Row<ExpertMlp>& row) {
    const std::vector<float> all = testing::run(c, row)[0].values;
    EXPECT_EQ(testing::run(c, row, 1)[0].values, all);
    EXPECT_EQ(testing::run(c.last(1), row)[0].values, std::vector(all.end() - c.problem.width, all.end()));
  });
}

TEST(ExpertMlp, illegal_problems_are_refused_with_a_reason) {
  for (const Row<ExpertMlp>& row : testing::all_rows(expert_mlp_rows())) {
    const auto reason = [&](auto change) {
      ExpertMlp::Problem problem = kMixtures[0];
      change(problem);
      return lab::refusal_of(row, problem);
    };
    EXPECT_EQ(reason([](auto&) {}), "") << row.name;
    EXPECT_NE(reason([](auto& p) { p.active = 5; }), "") << row.name;
    EXPECT_NE(reason([](auto& p) { p.experts = 0; }), "") << row.name;
    EXPECT_NE(reason([](auto& p) { p.down = DType::q4_0; }), "") << row.name;
    EXPECT_NE(reason([](auto& p) { p.activation = Epilogue::relu; }), "") << row.name;
  }
}

}  // namespace
}  // namespace orrery::kernels
