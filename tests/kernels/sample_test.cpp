#include "kernels/sample.h"

#include <limits>
#include <map>

#include "kernels/lab/sample_case.h"
#include "kernels/philox.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

using Choice = Sample::Choice;
using Request = Sample::Request;
using testing::Guard;
using testing::random_floats;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
const float kNan = std::nanf("");

std::vector<Choice> run(const Row<Sample>& row, const std::vector<float>& logits,
                        const std::vector<Request>& requests, int threads = 2) {
  const lab::SampleCase c(logits, requests);
  ThreadTeam team(threads);
  testing::GuardedPlace place(team, testing::placed(row, Guard::after));
  const lab::Call<Sample> call = c.place(row, place);
  row.run(call.args, place.launch(lab::put_workspace(row, c.problem, place)));
  place.wait();
  return c.choices(call, place);
}

/// body(row) for every row, the reference too.
template <class Body>
void each_row(Body&& body) {
  testing::each_fast_row(sample_rows(), {100}, body);
  SCOPED_TRACE("reference");
  body(testing::reference_of(sample_rows()));
}

SamplingParams params(float temperature, int32_t top_k, float top_p, float min_p) {
  SamplingParams result;
  result.temperature = temperature;
  result.top_k = top_k;
  result.top_p = top_p;
  result.min_p = min_p;
  return result;
}

TEST(Philox, known_answers) {  // Random123, tests/kat_vectors, philox4x32 10
  using Words = std::array<uint32_t, 4>;
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({~0U, ~0U, ~0U, ~0U}, {~0U, ~0U}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, uniform_is_below_one_and_differs_by_seed_and_position) {
  double sum = 0;
  for (uint64_t i = 0; i < 100'000; ++i) {
    const double u = philox_uniform(7, i);
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
  }
  EXPECT_NEAR(sum / 1e5, 0.5, 0.005);
  EXPECT_NE(philox_uniform(7, 1), philox_uniform(8, 1));
  EXPECT_NE(philox_uniform(7, 1), philox_uniform(7, 1ULL << 32));
  EXPECT_NE(philox_uniform(7, 1), philox_uniform(7ULL << 32, 1));
}

TEST(Sample, rows_choose_what_the_reference_chooses) {
  const std::vector<SamplingParams> settings = {
      SamplingParams{},           params(0, 0, 1, 0),          params(1, 0, 1, 0),
      params(1, 0, 0.9F, 0),      params(1, 0, 1, 0.1F),       params(0.7F, 1, 0.5F, 0),
      params(1, 1000, 1, 0),      params(1.5F, 5, 0.3F, 0.5F), params(1, 0, 1e-6F, 0),
      params(1, 0, 1, 1),         params(5, 0, 0.99F, 0),      params(1e-3F, 0, 1, 0),
      params(1, 100'000, 0.9F, 0)};
  const std::vector<int32_t> recent = {3, 5, 3, -1, 1'000'000, 0};
  for (const int64_t vocabulary : {1, 2, 15, 16, 17, 127, 128, 129, 1000, 5003, 49152}) {
    std::vector<float> logits;
    std::vector<Request> requests;
    for (size_t i = 0; i < settings.size(); ++i) {
      std::vector<float> row = random_floats(static_cast<size_t>(vocabulary), static_cast<uint32_t>(i), 4.0F);
      if (i % 3 == 1) {  // many ties
        for (float& logit : row) logit = std::round(logit);
      }
      logits.insert(logits.end(), row.begin(), row.end());
      Request request{.params = settings[i], .position = 17 * i, .top = static_cast<int32_t>(i % 21)};
      request.params.seed = 1000 + i;
      if (i % 2 == 0) {
        request.params.repeat_penalty = 1.3F;
        request.recent = recent.data();
        request.recent_count = 6;
      }
      requests.push_back(request);
    }
    SCOPED_TRACE("vocabulary " + std::to_string(vocabulary));
    testing::expect_rows_agree(lab::SampleCase(logits, requests), sample_rows());
  }
}

TEST(Sample, ties_go_to_the_lower_id) {
  each_row([](const Row<Sample>& row) {
    std::vector<float> logits(300, 1.0F);
    Request request{.params = params(0, 0, 1, 0), .top = 3};
    Choice choice = run(row, logits, {request})[0];
    EXPECT_EQ(choice.id, 0);
    EXPECT_EQ(choice.top_ids[1], 1);
    EXPECT_EQ(choice.top_ids[2], 2);
    EXPECT_NEAR(choice.logprob, -std::log(300.0), 1e-5);
    logits[7] = logits[250] = 2.0F;
    logits[0] = -0.0F;
    choice = run(row, logits, {request})[0];
    EXPECT_EQ(choice.id, 7);
    EXPECT_EQ(choice.top_ids[1], 250);
    request.params = params(1, 1, 1, 0);  // top-k keeps the lower id of a tie
    EXPECT_EQ(run(row, logits, {request})[0].id, 7);
    EXPECT_EQ(run(row, {0.0F, -0.0F}, {{.params = params(0, 0, 1, 0)}})[0].id, 0);
    EXPECT_EQ(run(row, {-0.0F, 0.0F}, {{.params = params(1, 1, 1, 0)}})[0].id, 0);
  });
}

TEST(Sample, all_equal_logits_are_drawn_in_id_order) {
  each_row([](const Row<Sample>& row) {
    for (uint64_t position = 0; position < 20; ++position) {
      const Request request{.params = params(1, 0, 1, 0), .position = position};
      const int32_t expected = static_cast<int32_t>(philox_uniform(0, position) * 200);
      EXPECT_EQ(run(row, std::vector<float>(200, -3.0F), {request})[0].id, expected);
    }
  });
}

TEST(Sample, nan_and_infinities) {
  each_row([](const Row<Sample>& row) {
    for (const float temperature : {0.0F, 1.0F}) {
      const Request request{.params = params(temperature, 0, 1, 0), .top = 4};
      Choice choice = run(row, {kNan, 1.0F, -kInfinity, kNan}, {request})[0];
      EXPECT_EQ(choice.id, 1);
      EXPECT_NEAR(choice.logprob, 0.0, 1e-6);
      EXPECT_EQ(choice.top_count, 1) << "tokens that cannot be drawn are not listed";
      choice = run(row, {1.0F, kInfinity, 2.0F}, {request})[0];
      EXPECT_EQ(choice.id, 1) << "infinity counts as the largest float";
      for (const std::vector<float>& hopeless :
           {std::vector<float>(40, kNan), std::vector<float>(40, -kInfinity),
            std::vector<float>(40, kInfinity)}) {
        choice = run(row, hopeless, {request})[0];
        EXPECT_EQ(choice.id, -1);
        EXPECT_EQ(choice.logprob, -kInfinity);
        EXPECT_EQ(choice.top_count, 0);
      }
    }
  });
}

TEST(Sample, target_is_scored_and_not_drawn) {
  const std::vector<float> logits = {0.0F, std::log(2.0F), std::log(5.0F), -kInfinity};
  each_row([&](const Row<Sample>& row) {
    const auto score = [&](int32_t target) {
      return run(row, logits, {{.params = {}, .top = 2, .target = target}})[0];
    };
    EXPECT_EQ(score(1).id, 1);
    EXPECT_NEAR(score(1).logprob, std::log(0.25), 1e-6);
    EXPECT_EQ(score(1).top_ids[0], 2);
    EXPECT_NEAR(score(1).top_logprobs[0], std::log(0.625), 1e-6);
    EXPECT_EQ(score(3).logprob, -kInfinity);
    EXPECT_EQ(score(4).id, -1) << "a target outside the vocabulary";
  });
}

TEST(Sample, top_p_keeps_the_token_that_crosses) {
  const std::vector<float> logits = {std::log(0.2F), std::log(0.5F), std::log(0.3F)};
  each_row([&](const Row<Sample>& row) {
    const auto drawn = [&](const SamplingParams& p) {
      std::map<int32_t, int> counts;
      for (uint64_t i = 0; i < 400; ++i) ++counts[run(row, logits, {{.params = p, .position = i}}, 1)[0].id];
      return counts;
    };
    EXPECT_EQ(drawn(params(1, 0, 0.4F, 0)).size(), 1U);
    EXPECT_EQ(drawn(params(1, 0, 0.6F, 0)).size(), 2U);
    EXPECT_EQ(drawn(params(1, 0, 0.95F, 0)).size(), 3U);
    EXPECT_EQ(drawn(params(1, 0, 1e-9F, 0)).size(), 1U);
    EXPECT_EQ(drawn(params(1, 2, 0.7F, 0)).size(), 2U) << "of the top 2 the first has 0.625";
    EXPECT_EQ(drawn(params(1, 2, 0.6F, 0)).size(), 1U);
    EXPECT_EQ(drawn(params(1, 0, 1, 0.55F)).size(), 2U);
    EXPECT_EQ(drawn(params(1, 0, 1, 1.0F)).size(), 1U);
  });
}

TEST(Sample, limits_that_are_met_exactly) {
  each_row([](const Row<Sample>& row) {
    const std::vector<float> tied = {1.0F, 1.0F, 0.0F};
    int second = 0;
    for (uint64_t i = 0; i < 100; ++i) {
      const auto drawn = [&](const std::vector<float>& logits, const SamplingParams& p) {
        return run(row, logits, {{.params = p, .position = i}}, 1)[0].id;
      };
      second += drawn(tied, params(1, 0, 1, 1.0F)) == 1 ? 1 : 0;
      EXPECT_NE(drawn(tied, params(1, 0, 1, 1.0F)), 2);
      EXPECT_EQ(drawn({1.0F, 1.0F}, params(1, 0, 0.5F, 0)), 0) << "half of the mass is reached by the first";
    }
    EXPECT_GT(second, 0) << "min-p 1 keeps all that tie with the best";
  });
}

TEST(Sample, repetition_penalty_divides_positive_and_multiplies_negative_logits) {
  const std::vector<float> logits = {2.0F, 1.9F, -1.0F, -1.1F};
  const std::vector<int32_t> recent = {0, 0, 0, 2};
  each_row([&](const Row<Sample>& row) {
    Request request{.params = params(0, 0, 1, 0), .recent = recent.data(), .recent_count = 4};
    EXPECT_EQ(run(row, logits, {request})[0].id, 0);
    request.params.repeat_penalty = 1.1F;  // 2 / 1.1 < 1.9, once however often it was seen
    const Choice choice = run(row, logits, {request})[0];
    EXPECT_EQ(choice.id, 1);
    const double sum = std::exp(2.0) + std::exp(1.9) + std::exp(-1.0) + std::exp(-1.1);
    EXPECT_NEAR(choice.logprob, 1.9 - std::log(sum), 1e-6) << "of the untouched logits";
    EXPECT_EQ(run(row, {-1.0F, -1.05F}, {request})[0].id, 1);
    EXPECT_EQ(run(row, {2.0F, 1.7F}, {request})[0].id, 0) << "2 / 1.1 > 1.7 > 2 / 1.1^2";
  });
}

TEST(Sample, a_draw_does_not_depend_on_the_batch_or_the_threads) {
  constexpr int64_t kVocabulary = 3001;
  std::vector<float> logits;
  std::vector<Request> requests;
  for (uint32_t i = 0; i < 9; ++i) {
    const std::vector<float> row = random_floats(kVocabulary, 50 + i, 2.0F);
    logits.insert(logits.end(), row.begin(), row.end());
    requests.push_back({.params = params(1, i % 2 == 0 ? 0 : 40, 0.9F, 0), .position = i});
  }
  each_row([&](const Row<Sample>& row) {
    const std::vector<Choice> together = run(row, logits, requests, 3);
    for (size_t i = 0; i < requests.size(); ++i) {
      const auto begin = logits.begin() + static_cast<int64_t>(i) * kVocabulary;
      const Choice alone = run(row, {begin, begin + kVocabulary}, {requests[i]}, 1)[0];
      EXPECT_EQ(alone.id, together[i].id);
      EXPECT_EQ(alone.logprob, together[i].logprob);
    }
  });
}

TEST(Sample, draws_follow_the_distribution) {
  const std::vector<double> shares = {0.4, 0.25, 0.15, 0.1, 0.06, 0.03, 0.008, 0.002};
  constexpr int64_t kDraws = 1'000'000;
  constexpr int64_t kBatch = 10'000;
  std::vector<float> logits;
  for (int64_t i = 0; i < kBatch; ++i) {
    for (const double share : shares) logits.push_back(static_cast<float>(std::log(share)));
  }
  const Row<Sample>& row = *select<Sample>(testing::all_rows(sample_rows()), {8},
                                           machine_of(testing::all_rows(sample_rows())[0].device))
                                .row;
  std::vector<int64_t> counts(shares.size());
  for (int64_t first = 0; first < kDraws; first += kBatch) {
    std::vector<Request> requests;
    for (int64_t i = 0; i < kBatch; ++i) {
      Request request{.params = params(1, 0, 1, 0), .position = static_cast<uint64_t>(first + i)};
      request.params.seed = 2026;
      requests.push_back(request);
    }
    for (const Choice& choice : run(row, logits, requests)) ++counts[static_cast<size_t>(choice.id)];
  }
  double chi_square = 0;
  for (size_t i = 0; i < shares.size(); ++i) {
    const double expected = shares[i] * kDraws;
    chi_square += std::pow(static_cast<double>(counts[i]) - expected, 2) / expected;
  }
  EXPECT_LT(chi_square, 24.32);  // 7 degrees of freedom, p = 0.001; the seed is fixed
}

}  // namespace
}  // namespace orrery::kernels
