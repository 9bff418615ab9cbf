// The samplers of a chain against their definitions, worked out by hand for small rows, and through the rows
// of Sample: any order, values at and beyond their bounds, and draws that depend on seed and position only.
#include "kernels/sampler_chain.h"

#include <algorithm>
#include <limits>
#include <random>
#include <set>

#include "kernels/philox.h"
#include "tests/kernels/row_testing.h"
#include "tests/kernels/sampler_reference.h"

namespace orrery::kernels {
namespace {

using testing::random_floats;

const float kNan = std::nanf("");
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// All samplers off: a softmax at temperature 1.
struct Settings {
  SamplingParams params{.temperature = 1, .top_k = 0, .top_p = 1, .min_p = 0};
  SamplerChain chain{};

  int32_t draw(const std::vector<float>& logits, uint64_t position = 0) const {
    return draw_by_chain(params, chain, position, logits);
  }
  /// The tokens that come up in many draws: what was kept.
  std::set<int32_t> kept(const std::vector<float>& logits, int draws = 600) const {
    std::set<int32_t> ids;
    for (int i = 0; i < draws; ++i) ids.insert(draw(logits, static_cast<uint64_t>(i)));
    return ids;
  }
  void order(std::initializer_list<Sampler> samplers) {
    std::copy(samplers.begin(), samplers.end(), chain.order);
    chain.order_count = static_cast<int32_t>(samplers.size());
  }
  void history(const std::vector<int32_t>& tokens) {
    chain.history = tokens.data();
    chain.history_count = static_cast<int32_t>(tokens.size());
  }
};

std::vector<float> logs(std::initializer_list<double> shares) {
  std::vector<float> result;
  for (const double share : shares) result.push_back(static_cast<float>(std::log(share)));
  return result;
}

using Ids = std::set<int32_t>;

TEST(SamplerChain, NothingOnDrawsFromTheSoftmax) {
  const Settings settings;
  const std::vector<double> shares = {0.5, 0.3, 0.15, 0.05};
  const std::vector<float> logits = logs({0.5, 0.3, 0.15, 0.05});
  std::vector<int> counts(4);
  constexpr int kDraws = 40'000;
  for (int i = 0; i < kDraws; ++i)
    ++counts[static_cast<size_t>(settings.draw(logits, static_cast<uint64_t>(i)))];
  double chi_square = 0;
  for (size_t i = 0; i < 4; ++i)
    chi_square += std::pow(counts[i] - kDraws * shares[i], 2) / (kDraws * shares[i]);
  EXPECT_LT(chi_square, 16.27);  // 3 degrees of freedom, p = 0.001; the seed is fixed
}

TEST(SamplerChain, PlainSamplersInTheirOrderDrawWhatThePlainPathDraws) {
  for (uint32_t i = 0; i < 60; ++i) {
    const std::vector<float> logits = random_floats(500, i, 4.0F);
    Settings settings;
    settings.params = {.temperature = 0.3F * static_cast<float>(i % 5),
                       .top_k = static_cast<int32_t>(i % 3) * 20,
                       .top_p = i % 4 == 0 ? 1.0F : 0.8F,
                       .min_p = i % 2 == 0 ? 0.0F : 0.05F,
                       .repeat_penalty = i % 7 == 0 ? 1.2F : 1.0F,
                       .seed = i,
                       .frequency_penalty = i % 11 == 0 ? 0.7F : 0.0F,
                       .presence_penalty = i % 13 == 0 ? -0.4F : 0.0F};
    const std::vector<int32_t> recent = {1, 2, 3, 1};
    settings.history(recent);
    const Sample::Request plain{
        .params = settings.params, .position = i, .recent = recent.data(), .recent_count = 4};
    Sample::Request chained = plain;
    chained.chain = &settings.chain;
    for (const auto& row : sample_rows()) {
      if (!row.supports({500}, machine_of(row.device)).empty()) continue;
      Sample::Choice choices[2];
      const Sample::Request requests[2] = {plain, chained};
      std::vector<float> twice = logits;
      twice.insert(twice.end(), logits.begin(), logits.end());
      testing::run_row(
          row, {500},
          {.logits = twice.data(), .requests = requests, .choices = choices, .outputs = 2, .vocabulary = 500},
          2, testing::Guard::after);
      EXPECT_EQ(choices[0].id, choices[1].id) << row.name << ", setting " << i;
      EXPECT_EQ(choices[0].logprob, choices[1].logprob) << row.name;
    }
  }
}

TEST(SamplerChain, FrequencyAndPresence) {
  Settings settings;
  settings.params.temperature = 0;
  settings.params.frequency_penalty = 0.25F;
  settings.params.presence_penalty = 0.5F;
  const std::vector<int32_t> seen = {0, 0, 1};  // 0 loses 0.5 + 0.5, 1 loses 0.25 + 0.5
  settings.history(seen);
  EXPECT_EQ(settings.draw({2.0F, 1.9F, 1.1F}), 1);
  EXPECT_EQ(settings.draw({2.0F, 1.7F, 1.01F}), 2);
  settings.chain.penalty_range = 1;  // only the last token
  EXPECT_EQ(settings.draw({2.0F, 1.9F, 1.1F}), 0);
  settings.chain.penalty_range = 0;
  EXPECT_EQ(settings.draw({2.0F, 2.1F, 1.1F}), 1);
  settings.chain.penalty_range = -1;
  settings.params.frequency_penalty = settings.params.presence_penalty = kNan;
  EXPECT_EQ(settings.draw({2.0F, 1.9F, 1.1F}), 0) << "what is not a number is off";
}

TEST(SamplerChain, DryLowersWhatWouldGoOnRepeating) {
  Settings settings;
  settings.params.temperature = 0;
  settings.chain.dry_multiplier = 1;
  settings.chain.dry_base = 2;
  settings.chain.dry_allowed = 2;
  // ... 1 2 3 [4] ... 1 2 3: three tokens repeat, so 4 loses 2^(3 - 2); 2 3 [9] would lose 2^0.
  const std::vector<int32_t> tokens = {1, 2, 3, 4, 0, 2, 3, 9, 1, 2, 3};
  settings.history(tokens);
  std::vector<float> logits(10, 0.0F);
  logits[4] = 3.0F, logits[5] = 0.99F;
  EXPECT_EQ(settings.draw(logits), 4);
  logits[5] = 1.01F;  // 4 is at 1
  EXPECT_EQ(settings.draw(logits), 5);
  logits[9] = 2.0F;  // at 1: less than 1.01
  EXPECT_EQ(settings.draw(logits), 5);
  logits[9] = 2.02F;
  EXPECT_EQ(settings.draw(logits), 9);
  settings.chain.dry_range = 6;  // the place of 4 is out of sight
  EXPECT_EQ(settings.draw(logits), 4);
  settings.chain.dry_range = -1;
  settings.chain.dry_allowed = 4;
  EXPECT_EQ(settings.draw(logits), 4) << "three tokens may repeat";
}

TEST(SamplerChain, NoRepetitionGoesAcrossABreaker) {
  Settings settings;
  settings.params.temperature = 0;
  settings.chain.dry_multiplier = 4;
  settings.chain.dry_base = 2;
  const std::vector<int32_t> tokens = {1, 2, 3, 4, 0, 1, 2, 3};
  settings.history(tokens);
  const auto penalty_of_4_with = [&](std::vector<std::vector<int32_t>> breakers) {
    settings.chain.dry_breakers = breakers.data();
    settings.chain.dry_breaker_count = static_cast<int32_t>(breakers.size());
    std::vector<float> logits(10, -100.0F);
    logits[4] = 0.0F;
    for (const float penalty : {0.0F, 4.0F, 8.0F}) {
      logits[5] = -penalty - 0.5F;
      if (settings.draw(logits) == 4) return penalty;
    }
    return -1.0F;
  };
  EXPECT_EQ(penalty_of_4_with({}), 8) << "1 2 3 repeats: 4 * 2^(3 - 2)";
  EXPECT_EQ(penalty_of_4_with({{1}}), 4) << "2 3 is left";
  EXPECT_EQ(penalty_of_4_with({{2}, {9}}), 0) << "3 is left, and one token may repeat";
  EXPECT_EQ(penalty_of_4_with({{3}}), 0);
  EXPECT_EQ(penalty_of_4_with({{0, 1}}), 4) << "a breaker of two tokens";
  EXPECT_EQ(penalty_of_4_with({{0}, {0, 1, 2}}), 0) << "the longest that stands there";
  EXPECT_EQ(penalty_of_4_with({{0, 9}, {3, 4}}), 8)
      << "not all of it stands there, or not behind the last place";
  EXPECT_EQ(penalty_of_4_with({{4}}), 0) << "what breaks repetitions may be repeated";
  EXPECT_EQ(penalty_of_4_with({{4, 9}}), 8) << "but not what only begins such a text";
}

TEST(SamplerChain, DryOfOneTokenRepeatedIsFastAndBounded) {
  Settings settings;
  settings.params.temperature = 0;
  settings.chain.dry_multiplier = 1;
  const std::vector<int32_t> tokens(200'000, 7);
  settings.history(tokens);
  std::vector<float> logits(10, 0.0F);
  logits[7] = 100.0F;
  EXPECT_EQ(settings.draw(logits), 0);
}

TEST(SamplerChain, TopNSigma) {
  Settings settings;
  // mean 1, sigma sqrt((4 + 1 + 1 + 4 + 0) / 5) = 1.414
  const std::vector<float> logits = {3.0F, 2.0F, 0.0F, -1.0F, 1.0F};
  settings.chain.top_n_sigma = 1.0F;  // l >= 1.586
  EXPECT_EQ(settings.kept(logits), (Ids{0, 1}));
  settings.chain.top_n_sigma = 1.42F;  // l >= 0.992
  EXPECT_EQ(settings.kept(logits), (Ids{0, 1, 4}));
  settings.chain.top_n_sigma = 1e-6F;
  EXPECT_EQ(settings.kept(logits), (Ids{0}));
}

TEST(SamplerChain, TypicalKeepsWhatIsNearTheEntropy) {
  Settings settings;
  // H = 1.2206 nats; |-log p - H| of 0.5: 0.527, of 0.2: 0.389, of 0.1: 1.082
  const std::vector<float> logits = logs({0.5, 0.2, 0.2, 0.1});
  settings.chain.typical_p = 0.15F;
  EXPECT_EQ(settings.kept(logits), (Ids{1})) << "ties go to the lower id";
  settings.chain.typical_p = 0.35F;
  EXPECT_EQ(settings.kept(logits), (Ids{1, 2})) << "the likeliest is not among the typical";
  settings.chain.typical_p = 0.6F;
  EXPECT_EQ(settings.kept(logits), (Ids{0, 1, 2}));
  settings.chain.typical_p = 0.95F;
  EXPECT_EQ(settings.kept(logits), (Ids{0, 1, 2, 3}));
}

TEST(SamplerChain, XtcTakesAwayTheLikeliest) {
  Settings settings;
  const std::vector<float> logits = logs({0.4, 0.3, 0.2, 0.1});
  settings.chain.xtc_probability = 1;
  settings.chain.xtc_threshold = 0.15F;
  EXPECT_EQ(settings.kept(logits), (Ids{2, 3}));
  settings.chain.xtc_threshold = 0.35F;
  EXPECT_EQ(settings.kept(logits), (Ids{0, 1, 2, 3})) << "one token over the threshold stays";
  settings.chain.xtc_threshold = 0.0F;
  EXPECT_EQ(settings.kept(logits), (Ids{0, 1, 2, 3}));
  settings.chain.xtc_threshold = 0.25F;
  settings.chain.xtc_probability = 0.5F;
  int first = 0;
  for (uint64_t i = 0; i < 4000; ++i) first += settings.draw(logits, i) == 0;
  EXPECT_NEAR(first / 4000.0, 0.5 * 0.4, 0.03);
}

TEST(SamplerChain, DynamicTemperature) {
  Settings settings;
  settings.params.temperature = 1;
  settings.chain.dynamic_range = 0.5F;
  // Equal logits: the entropy is the largest there is, t = 1.5. Then {l, 0} is drawn at 1.5 only if l = 0, so
  // one token of a skewed row is compared: H/log 2 of (0.9, 0.1) is 0.469, t = 0.5 + 0.469 = 0.969.
  const double t = 0.969, expected = 1 / (1 + std::pow(1.0 / 9, 1 / t));
  const std::vector<float> logits = logs({0.9, 0.1});
  int first = 0;
  for (uint64_t i = 0; i < 20'000; ++i) first += settings.draw(logits, i) == 0;
  EXPECT_NEAR(first / 20'000.0, expected, 0.006);
  settings.chain.dynamic_exponent = 50;  // 0.469^50 is nothing: t = 0.5
  first = 0;
  for (uint64_t i = 0; i < 20'000; ++i) first += settings.draw(logits, i) == 0;
  EXPECT_NEAR(first / 20'000.0, 81.0 / 82, 0.004);
  settings.chain.dynamic_range = 1;  // t = 0: the likeliest
  EXPECT_EQ(settings.kept(logits), (Ids{0}));
}

TEST(SamplerChain, TheOrderIsTheRequests) {
  Settings settings;
  settings.params.temperature = 4;
  settings.params.top_p = 0.7F;
  const std::vector<float> logits = logs({0.6, 0.2, 0.1, 0.1});
  settings.order({Sampler::top_p, Sampler::temperature});
  EXPECT_EQ(settings.kept(logits), (Ids{0, 1})) << "0.6 + 0.2 of the untouched probabilities";
  settings.order({Sampler::temperature, Sampler::top_p});
  EXPECT_EQ(settings.kept(logits), (Ids{0, 1, 2})) << "at temperature 4 they are 0.32 0.24 0.21 0.21";
  settings.order({Sampler::temperature});
  EXPECT_EQ(settings.kept(logits), (Ids{0, 1, 2, 3})) << "what is not in the order does not run";
  settings.order({});
  int first = 0;
  for (uint64_t i = 0; i < 4000; ++i) first += settings.draw(logits, i) == 0;
  EXPECT_NEAR(first / 4000.0, 0.6, 0.03);
}

/// Any settings in any order, most of them on.
void shuffle(Settings& settings, std::mt19937& random) {
  const auto real = [&](double low, double high) {
    return static_cast<float>(std::uniform_real_distribution<double>(low, high)(random));
  };
  const auto often = [&] { return random() % 4 != 0; };
  settings.params = {.temperature = real(0.3, 2),
                     .top_k = often() ? static_cast<int32_t>(random() % 40 + 1) : 0,
                     .top_p = often() ? real(0.3, 1) : 1,
                     .min_p = often() ? real(0, 0.2) : 0,
                     .repeat_penalty = real(0.8, 1.5),
                     .seed = random(),
                     .frequency_penalty = real(-0.5, 0.5),
                     .presence_penalty = real(-0.5, 0.5)};
  SamplerChain& chain = settings.chain;
  chain.penalty_range = static_cast<int32_t>(random() % 40) - 1;
  chain.dry_multiplier = often() ? real(0.1, 1) : 0;
  chain.dry_base = real(1, 2);
  chain.dry_allowed = static_cast<int32_t>(random() % 3 + 1);
  chain.dry_range = static_cast<int32_t>(random() % 40) - 1;
  chain.top_n_sigma = often() ? real(0.5, 3) : 0;
  chain.dynamic_range = often() ? real(0.1, 1) : 0;
  chain.dynamic_exponent = real(0.5, 2);
  chain.typical_p = often() ? real(0.3, 1) : 1;
  chain.xtc_probability = often() ? real(0.2, 1) : 0;
  chain.xtc_threshold = real(0.02, 0.3);
  std::shuffle(std::begin(chain.order), std::end(chain.order), random);
  chain.order_count = static_cast<int32_t>(random() % (kSamplers + 1));
}

TEST(SamplerChain, AnySettingsInAnyOrderDrawWhatThePlainReferenceDraws) {
  std::mt19937 random(7);
  std::set<int32_t> drawn;
  for (uint32_t i = 0; i < 3000; ++i) {
    Settings settings;
    shuffle(settings, random);
    std::vector<int32_t> tokens;
    for (uint32_t k = random() % 60; k > 0; --k) tokens.push_back(static_cast<int32_t>(random() % 6));
    settings.history(tokens);
    const std::vector<float> logits = random_floats(50, i, 4.0F);
    const int32_t id = settings.draw(logits, i);
    ASSERT_EQ(id, testing::PlainChain(settings.params, settings.chain).draw(logits, i)) << "settings " << i;
    drawn.insert(id);
  }
  EXPECT_EQ(drawn.size(), 50U);
}

TEST(SamplerChain, Mirostat2KeepsWhatDoesNotSurprise) {
  Settings settings;
  const std::vector<float> logits = logs({0.5, 0.25, 0.125, 0.125});  // surprises 1, 2, 3, 3 bits
  settings.chain.mirostat = 2;
  settings.chain.mirostat_tau = 1.05F;
  double mu = 2.1;
  settings.chain.mirostat_mu = &mu;
  settings.chain.mirostat_eta = 0;
  EXPECT_EQ(settings.kept(logits), (Ids{0, 1}));
  EXPECT_EQ(mu, 2.1);
  mu = 0.1;
  EXPECT_EQ(settings.kept(logits), (Ids{0})) << "one stays";
  mu = 1.5;  // 0 alone: no surprise, so that mu grows by eta * tau
  settings.chain.mirostat_eta = 0.25F;
  EXPECT_EQ(settings.draw(logits), 0);
  EXPECT_NEAR(mu, 1.5 + 0.25 * 1.05, 1e-6);
  settings.chain.mirostat_mu = nullptr;  // 2 tau = 2.1
  EXPECT_EQ(settings.kept(logits), (Ids{0, 1}));
}

TEST(SamplerChain, Mirostat1CutsAtTheZipfRank) {
  Settings settings;
  // p_i ~ 1 / (i + 1)^2: the exponent is 2 exactly, so that k = sqrt(2^mu / (1 - 1/n)).
  std::vector<float> logits;
  for (int i = 0; i < 64; ++i) logits.push_back(static_cast<float>(-2 * std::log(i + 1.0)));
  settings.chain.mirostat = 1;
  settings.chain.mirostat_eta = 0;
  double mu = 4;  // k = sqrt(16 / (63 / 64)) = 4.03
  settings.chain.mirostat_mu = &mu;
  EXPECT_EQ(settings.kept(logits, 3000), (Ids{0, 1, 2, 3}));
  mu = 2;
  EXPECT_EQ(settings.kept(logits, 3000), (Ids{0, 1}));
  mu = -50;
  EXPECT_EQ(settings.kept(logits), (Ids{0}));
}

TEST(SamplerChain, MirostatHoldsTheSurprise) {
  for (const int version : {1, 2}) {
    Settings settings;
    const std::vector<float> logits = random_floats(2000, 5, 3.0F);
    settings.chain.mirostat = version;
    settings.chain.mirostat_tau = 4;
    double mu = 8;
    settings.chain.mirostat_mu = &mu;
    for (uint64_t i = 0; i < 300; ++i) (void)settings.draw(logits, i);
    double end = 0;
    for (uint64_t i = 300; i < 900; ++i) {
      const double previous = mu;
      (void)settings.draw(logits, i);
      end += (previous - mu) / 0.1 / 600;  // surprise - tau
    }
    EXPECT_NEAR(end, 0, 0.1) << "mirostat " << version;
  }
}

TEST(SamplerChain, BiasAndMaskComeFirst) {
  Settings settings;
  const std::vector<int32_t> ids = {2, 0, 99, -1};
  const std::vector<float> biases = {3.0F, -kInfinity, 1.0F, 1.0F};
  settings.chain.bias_ids = ids.data();
  settings.chain.biases = biases.data();
  settings.chain.bias_count = 4;
  settings.params.temperature = 0;
  EXPECT_EQ(settings.draw({5.0F, 1.0F, 0.0F}), 2);
  const uint32_t allowed[2] = {0b010, 0b1};
  settings.chain.allowed = allowed;
  EXPECT_EQ(settings.draw({5.0F, 1.0F, 0.0F}), 1);
  std::vector<float> wide(40, 0.0F);
  settings.params.temperature = 1;
  EXPECT_EQ(settings.kept(wide), (Ids{1, 32}));
  const uint32_t none[2] = {0, 0};
  settings.chain.allowed = none;
  EXPECT_EQ(settings.draw(wide), -1) << "nothing is allowed";
}

TEST(SamplerChain, GreedyNeedsNoneOfTheOthers) {
  Settings settings;
  settings.params.temperature = 0;
  settings.params.top_k = 1;
  settings.chain.xtc_probability = 1;
  settings.chain.xtc_threshold = 0.01F;
  settings.chain.typical_p = 0.01F;
  settings.chain.mirostat = 2;
  EXPECT_EQ(settings.draw(logs({0.2, 0.5, 0.3})), 1);
  EXPECT_EQ(settings.draw({kNan, 1.0F, 1.0F}), 1) << "ties go to the lower id";
  settings.params.temperature = kNan;
  EXPECT_EQ(settings.draw(logs({0.2, 0.5, 0.3})), 1);
}

TEST(SamplerChain, BoundsAndWhatIsNoNumber) {
  const std::vector<float> logits = {kNan, 1.0F, kInfinity, -kInfinity, 2.0F};
  for (const float value : {0.0F, 1.0F, -1.0F, 1e30F, kNan, kInfinity, -kInfinity}) {
    Settings settings;
    const std::vector<int32_t> tokens = {1, 4, 1, 4, 1};
    settings.history(tokens);
    settings.params = {.temperature = 1,
                       .top_k = -1,
                       .top_p = value,
                       .min_p = value,
                       .repeat_penalty = value,
                       .frequency_penalty = value,
                       .presence_penalty = value};
    SamplerChain& chain = settings.chain;
    chain.dry_multiplier = chain.dry_base = value;
    chain.top_n_sigma = chain.dynamic_range = chain.dynamic_exponent = chain.typical_p = value;
    chain.xtc_probability = chain.xtc_threshold = value;
    chain.mirostat_tau = chain.mirostat_eta = value;
    for (const int mirostat : {0, 1, 2}) {
      double mu = value;
      chain.mirostat = mirostat;
      chain.mirostat_mu = &mu;
      for (uint64_t i = 0; i < 20; ++i) {
        const int32_t id = settings.draw(logits, i);
        EXPECT_TRUE(id == 1 || id == 2 || id == 4) << value << ", mirostat " << mirostat;
      }
    }
    EXPECT_EQ(settings.draw({kNan, -kInfinity}), -1);
    EXPECT_EQ(settings.draw({}), -1);
  }
}

TEST(SamplerChain, ADrawDependsOnSeedAndPositionOnly) {
  Settings settings;
  settings.chain.xtc_probability = 0.5F;
  settings.chain.typical_p = 0.9F;
  const std::vector<float> logits = random_floats(1000, 3, 2.0F);
  std::vector<int32_t> first;
  for (uint64_t i = 0; i < 50; ++i) first.push_back(settings.draw(logits, i));
  for (uint64_t i = 50; i-- > 0;) EXPECT_EQ(settings.draw(logits, i), first[i]);
  settings.params.seed = 1;
  int same = 0;
  for (uint64_t i = 0; i < 50; ++i) same += settings.draw(logits, i) == first[i];
  EXPECT_LT(same, 25);
}

}  // namespace
}  // namespace orrery::kernels
