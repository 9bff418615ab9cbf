#include "kernels/moe.h"

#include <numeric>

#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

using testing::Guard;
using testing::Guarded;
using testing::random_floats;

struct Chosen {
  std::vector<int32_t> experts;
  std::vector<float> weights;
};

Chosen choose(const Row<TopExperts>& row, const TopExperts::Problem& problem,
              const std::vector<float>& logits, Guard guard = Guard::after) {
  guard = testing::placed(row, guard);
  const auto tokens = static_cast<int64_t>(logits.size()) / problem.experts;
  const auto pairs = static_cast<size_t>(tokens * problem.active);
  const Guarded<float> src(logits, guard);
  Guarded<int32_t> experts(pairs, -1, guard);
  Guarded<float> weights(pairs, -1.0F, guard);
  testing::run_row(row, problem,
                   {.problem = problem,
                    .logits = src.data(),
                    .experts = experts.data(),
                    .weights = weights.data(),
                    .tokens = tokens},
                   2, guard);
  return {experts.values(), weights.values()};
}

TEST(TopExperts, takes_the_likeliest_in_order_and_of_equal_ones_the_first) {
  const std::vector<float> logits = {0, 2, 1, 2, -1};
  const double all = 1 + 2 * std::exp(2.0) + std::exp(1.0) + std::exp(-1.0);
  const double three = 2 * std::exp(2.0) + std::exp(1.0);
  for (const Row<TopExperts>& row : testing::all_rows(top_experts_rows())) {
    SCOPED_TRACE(std::string(row.name));
    const Chosen shares = choose(row, {5, 3, false}, logits);
    EXPECT_EQ(shares.experts, (std::vector<int32_t>{1, 3, 2}));
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
        const Chosen expected = choose(testing::reference_of(top_experts_rows()), problem, logits);
        testing::each_fast_row(top_experts_rows(), problem, [&](const Row<TopExperts>& row) {
          for (const Guard guard : testing::guards()) {
            const Chosen got = choose(row, problem, logits, guard);
            EXPECT_EQ(got.experts, expected.experts) << experts << ", " << active;
            EXPECT_LT(testing::relative_error(got.weights, expected.weights), 2e-6);
          }
        });
      }
}

/// Experts with random matrices in their stored types.
struct Mixture {
  ExpertMlp::Problem problem;
  std::vector<std::byte> gate, up, down;

  explicit Mixture(const ExpertMlp::Problem& asked)
      : problem(asked),
        gate(stored(problem.gate, problem.inner, problem.width, 1)),
        up(stored(problem.up, problem.inner, problem.width, 2)),
        down(stored(problem.down, problem.width, problem.inner, 3)) {}

  std::vector<float> run(const Row<ExpertMlp>& row, const std::vector<float>& src,
                         const std::vector<int32_t>& experts, const std::vector<float>& weights,
                         Guard guard = Guard::after, int threads = 2) const {
    guard = testing::placed(row, guard);
    const Guarded<float> in(src, guard), shares(weights, guard);
    const Guarded<int32_t> chosen(experts, guard);
    const Guarded<std::byte> gates(gate, guard), ups(up, guard), downs(down, guard);
    Guarded<float> dst(src.size(), -9.0F, guard);
    const auto matrices = [&](const Guarded<std::byte>& all) {
      return ExpertMlp::Matrices{all.data(), gate_bytes(all.values().size())};
    };
    testing::run_row(row, problem,
                     {.problem = problem,
                      .src = in.data(),
                      .experts = chosen.data(),
                      .weights = shares.data(),
                      .gate = matrices(gates),
                      .up = matrices(ups),
                      .down = matrices(downs),
                      .dst = dst.data(),
                      .tokens = static_cast<int64_t>(src.size()) / problem.width},
                     threads, guard);
    return dst.values();
  }

 private:
  size_t gate_bytes(size_t all) const { return all / static_cast<size_t>(problem.experts); }

  std::vector<std::byte> stored(DType dtype, int64_t rows, int64_t cols, uint32_t seed) const {
    rows *= problem.experts;
    const size_t bytes = row_bytes(dtype, cols).value();
    const std::vector<float> values = random_floats(static_cast<size_t>(rows * cols), seed, 0.3F);
    std::vector<std::byte> result(static_cast<size_t>(rows) * bytes);
    for (int64_t r = 0; r < rows; ++r)
      quantise_row(dtype, values.data() + r * cols, cols, result.data() + static_cast<size_t>(r) * bytes);
    return result;
  }
};

struct Step {
  std::vector<float> src, weights;
  std::vector<int32_t> experts;

  Step(const ExpertMlp::Problem& problem, int64_t tokens, uint32_t seed)
      : src(random_floats(static_cast<size_t>(tokens * problem.width), seed)),
        weights(random_floats(static_cast<size_t>(tokens * problem.active), seed + 1)) {
    std::mt19937 random(seed);
    std::vector<int32_t> all(static_cast<size_t>(problem.experts));
    std::iota(all.begin(), all.end(), 0);
    for (int64_t t = 0; t < tokens; ++t) {
      std::shuffle(all.begin(), all.end(), random);
      experts.insert(experts.end(), all.begin(), all.begin() + problem.active);
    }
  }
};

const std::vector<ExpertMlp::Problem> kMixtures = {
    {.tokens = 40, .width = 20, .inner = 13, .experts = 4, .active = 2, .accuracy = Accuracy::exact},
    {.tokens = 40,
     .width = 64,
     .inner = 96,
     .experts = 8,
     .active = 8,
     .gate = DType::bf16,
     .up = DType::f16,
     .down = DType::bf16,
     .accuracy = Accuracy::exact},
    {.tokens = 40,
     .width = 64,
     .inner = 32,
     .experts = 16,
     .active = 3,
     .gate = DType::q4_0,
     .up = DType::q8_0,
     .down = DType::q4_1,
     .activation = Epilogue::gelu_tanh_mul,
     .accuracy = Accuracy::exact},
    {.tokens = 40,
     .width = 96,
     .inner = 64,
     .experts = 5,
     .active = 1,
     .gate = DType::q8_0,
     .up = DType::q8_0,
     .down = DType::q8_0,
     .accuracy = Accuracy::fast},
};

TEST(ExpertMlp, rows_agree_with_the_reference) {
  for (ExpertMlp::Problem problem : kMixtures)
    for (const int64_t tokens : {1, 3, 40}) {
      problem.tokens = tokens;
      const Mixture mixture(problem);
      const Step step(problem, tokens, 7);
      const std::vector<float> expected =
          mixture.run(testing::reference_of(expert_mlp_rows()), step.src, step.experts, step.weights);
      const double tolerance = problem.accuracy == Accuracy::exact ? 1e-5 : 1e-3;
      testing::each_fast_row(expert_mlp_rows(), problem, [&](const Row<ExpertMlp>& row) {
        for (const Guard guard : testing::guards())
          EXPECT_LT(testing::relative_error(mixture.run(row, step.src, step.experts, step.weights, guard),
                                            expected),
                    tolerance)
              << problem.width << ", " << tokens;
      });
    }
}

TEST(ExpertMlp, a_token_does_not_depend_on_the_others_nor_on_the_threads) {
  const ExpertMlp::Problem problem = kMixtures[1];
  const Mixture mixture(problem);
  const Step step(problem, 40, 9);
  const auto last = [](const auto& values, int64_t each) {
    return std::vector(values.end() - each, values.end());
  };
  testing::each_fast_row(expert_mlp_rows(), problem, [&](const Row<ExpertMlp>& row) {
    const std::vector<float> all = mixture.run(row, step.src, step.experts, step.weights);
    EXPECT_EQ(mixture.run(row, step.src, step.experts, step.weights, Guard::after, 1), all);
    EXPECT_EQ(mixture.run(row, last(step.src, problem.width), last(step.experts, problem.active),
                          last(step.weights, problem.active)),
              last(all, problem.width));
  });
}

TEST(ExpertMlp, illegal_problems_are_refused_with_a_reason) {
  for (const Row<ExpertMlp>& row : testing::all_rows(expert_mlp_rows())) {
    const auto reason = [&](auto change) {
      ExpertMlp::Problem problem = kMixtures[0];
      change(problem);
      return row.supports(problem);
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
