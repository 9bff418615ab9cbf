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

TEST(Sample, frequency_counts_and_presence_does_not) {
  const std::vector<float> logits = {2.0F, 1.9F, 1.1F, 1.0F};
  const std::vector<int32_t> recent = {0, 0, 1, -1, 7};
  each_row([&](const Row<Sample>& row) {
    Request request{.params = params(0, 0, 1, 0), .recent = recent.data(), .recent_count = 5};
    const auto drawn = [&](float repeat, float frequency, float presence) {
      request.params.repeat_penalty = repeat;
      request.params.frequency_penalty = frequency;
      request.params.presence_penalty = presence;
      return run(row, logits, {request})[0].id;
    };
    EXPECT_EQ(drawn(1, 0, 0), 0);
    EXPECT_EQ(drawn(1, 0.25F, 0), 1) << "1.5, 1.65";
    EXPECT_EQ(drawn(1, 0, 0.5F), 0) << "1.5, 1.4";
    EXPECT_EQ(drawn(1, 0, 1.0F), 2) << "1.0, 0.9";
    EXPECT_EQ(drawn(1, 0.25F, 0.5F), 1) << "1.0, 1.15";
    EXPECT_EQ(drawn(2, 0.02F, 0), 2) << "0.96, 0.93: the quotient is taken first";
    EXPECT_EQ(drawn(1, kNan, kInfinity), 0) << "what is no number is off";
    EXPECT_EQ(drawn(1, -1.0F, 0), 0) << "4.0, 2.9";
    request.params.frequency_penalty = 0.25F;
    const Choice choice = run(row, logits, {request})[0];
    double sum = 0;
    for (const float logit : logits) sum += std::exp(static_cast<double>(logit));
    EXPECT_NEAR(choice.logprob, 1.9 - std::log(sum), 1e-6) << "of the untouched logits";
  });
}

TEST(Sample, bias_is_added_after_the_penalties) {
  const std::vector<int32_t> recent = {0};
  each_row([&](const Row<Sample>& row) {
    std::vector<float> bias = {0.5F, 0, 0, 0};
    Request request{.params = params(0, 0, 1, 0),
                    .recent = recent.data(),
                    .recent_count = 1,
                    .top = 2,
                    .bias = bias.data()};
    request.params.repeat_penalty = 2;
    const std::vector<float> logits = {2.0F, 1.6F, 1.0F, kNan};
    Choice choice = run(row, logits, {request})[0];
    EXPECT_EQ(choice.id, 1) << "2 / 2 + 0.5, not (2 + 0.5) / 2 = 1.25 nor 2.5";
    EXPECT_EQ(choice.top_ids[0], 0) << "of the untouched logits";
    bias[0] = 0.7F;
    EXPECT_EQ(run(row, logits, {request})[0].id, 0);
    bias = {-kInfinity, kNan, 0, 100};
    EXPECT_EQ(run(row, logits, {request})[0].id, 2) << "banned, no number, and a logit that is none";
    bias = {0, 0, kInfinity, 0};
    EXPECT_EQ(run(row, logits, {request})[0].id, 2);
    for (const float temperature : {0.0F, 1.0F}) {
      request.params.temperature = temperature;
      bias.assign(4, -kInfinity);
      choice = run(row, logits, {request})[0];
      EXPECT_EQ(choice.id, -1);
      EXPECT_EQ(choice.logprob, -kInfinity);
      EXPECT_EQ(choice.top_count, 2);
    }
  });
}

TEST(Sample, the_first_infinity_is_drawn) {
  each_row([](const Row<Sample>& row) {
    std::vector<float> logits(700, 1.0F);
    logits[300] = logits[301] = logits[650] = kInfinity;
    for (uint64_t position = 0; position < 20; ++position)
      for (const int32_t top_k : {0, 3})
        EXPECT_EQ(run(row, logits, {{.params = params(1, top_k, 1, 0), .position = position}})[0].id, 300);
  });
}

// More equal ones than are sorted at a time: the first k are those of the lowest ids.
TEST(Sample, of_equal_logits_the_lowest_ids_are_the_first) {
  each_row([](const Row<Sample>& row) {
    std::vector<float> logits(9000, -1.0F);
    logits[8000] = 5.0F;  // and a spike far behind
    for (uint64_t position = 0; position < 30; ++position) {
      Request request{.params = params(1, 50, 1, 0), .position = position, .top = 3};
      request.params.temperature = 1e6F;  // all of them alike
      const Choice choice = run(row, logits, {request})[0];
      EXPECT_TRUE(choice.id == 8000 || choice.id < 49) << choice.id;
      EXPECT_EQ(choice.top_ids[0], 8000);
      EXPECT_EQ(choice.top_ids[1], 0);
      EXPECT_EQ(choice.top_ids[2], 1);
      request.params = params(1, 0, 0.5F, 0);
      EXPECT_EQ(run(row, logits, {request})[0].id < 9000, true);
    }
  });
}

/// Logits of the type, (count, vocabulary), with requests that a batch may have.
lab::SampleCase batch_of(DType dtype, size_t count, int64_t vocabulary, const SamplingParams& settings,
                         lab::Distribution inputs = lab::Distribution::normal) {
  static const std::vector<int32_t> recent = {3, 5, 3, -1, 1'000'000'000, 0, 3, 70'000, 5};
  static std::vector<float> bias;
  bias = random_floats(static_cast<size_t>(vocabulary), 77);
  std::vector<Request> requests;
  for (size_t i = 0; i < count; ++i) {
    Request request{.params = settings,
                    .position = 5 * i,
                    .recent = recent.data(),
                    .recent_count = 9,
                    .top = 6,
                    .bias = bias.data()};
    request.params.seed = 1000 + i;
    requests.push_back(request);
  }
  lab::SampleCase c(
      lab::random_floats(count * static_cast<size_t>(vocabulary), static_cast<uint32_t>(count), 3.0F, inputs),
      std::move(requests), dtype);
  c.as_batch = true;
  return c;
}

TEST(Sample, tensors_of_a_batch_and_logits_of_any_float) {
  SamplingParams penalised = params(0.9F, 40, 0.95F, 0.02F);
  penalised.repeat_penalty = 1.2F;
  penalised.frequency_penalty = 0.3F;
  penalised.presence_penalty = -0.2F;
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16})
    for (const int64_t vocabulary : {1, 255, 257, 5003, 33'000}) {
      SCOPED_TRACE(std::string(name_of(dtype)) + ", vocabulary " + std::to_string(vocabulary));
      testing::expect_rows_agree(batch_of(dtype, 3, vocabulary, penalised), sample_rows(),
                                 testing::kOneGuard);
      testing::expect_rows_agree(
          batch_of(dtype, 2, vocabulary, params(1, 0, 0.9F, 0), lab::Distribution::broken), sample_rows(),
          testing::kOneGuard);
    }
}

// On a card rows are owned by eight blocks, by two or by one, as they are few or many.
TEST(Sample, few_rows_and_many) {
  for (const size_t count : {1, 70, 300})
    for (const int32_t top_k : {0, 50, 700})
      testing::expect_rows_agree(batch_of(DType::bf16, count, 2311, params(1, top_k, 0.95F, 0)),
                                 sample_rows(), testing::kOneGuard);
}

TEST(Sample, large_vocabularies) {
  for (const int64_t vocabulary : {128'256, 262'145, 600'001})
    for (const int32_t top_k : {1, 50, 1000, 0})
      testing::expect_rows_agree(batch_of(DType::f32, 1, vocabulary, params(1, top_k, 0.9F, 0.001F)),
                                 sample_rows(), testing::kOneGuard);
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
  // Beside them so many that a card deals its blocks otherwise.
  std::vector<float> more = logits;
  std::vector<Request> crowd = requests;
  for (int copies = 0; copies < 33; ++copies) {
    more.insert(more.end(), logits.begin(), logits.end());
    crowd.insert(crowd.end(), requests.begin(), requests.end());
  }
  each_row([&](const Row<Sample>& row) {
    const std::vector<Choice> together = run(row, more, crowd, 3);
    for (size_t i = requests.size(); i < crowd.size(); ++i) {
      EXPECT_EQ(together[i].id, together[i - requests.size()].id);
      EXPECT_EQ(together[i].logprob, together[i - requests.size()].logprob);
    }
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
