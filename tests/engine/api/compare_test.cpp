// Two sessions beside each other: equal ones agree in every number, others part where they were changed.
#include "engine/api/compare.h"

#include <gmock/gmock.h>

#include <cmath>

#include "engine/api/compare_values.h"
#include "kernels/cpu/isa.h"
#include "tests/engine/api/test_models.h"

namespace orrery::api {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

CompareRequest request(int64_t tokens = 12) {
  CompareRequest request;
  request.raw = "The capital of France is";
  request.max_tokens = tokens;
  return request;
}

CompareResult compare_or_fail(const OpenOptions& base, const std::string& a, const std::string& b,
                              const CompareRequest& request, const CompareEvents& events = {}) {
  const auto options_a = with_spec(base, a), options_b = with_spec(base, b);
  EXPECT_TRUE(options_a.ok() && options_b.ok());
  const auto session_a = open_or_fail(options_a.value()), session_b = open_or_fail(options_b.value());
  if (!session_a || !session_b) return {};
  const auto result = compare(*session_a, *session_b, request, events, {}, {});
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().to_string());
  return result.ok() ? result.value() : CompareResult{};
}

size_t differing(const CompareResult& result) {
  size_t count = 0;
  for (const NodeComparison& node : result.nodes) count += node.difference && node.difference->max_abs > 0;
  return count;
}

/// Nodes that make a state or token ids.
bool without_floats(const std::string& path) {
  return path.ends_with("sample") || path.find("kv_append") != std::string::npos;
}

TEST(CompareTest, EqualSidesAgreeInEveryNumber) {
  const CompareResult result = compare_or_fail(smollm2(), "", "fusion=on", request());
  EXPECT_EQ(result.kl, 0.0);
  EXPECT_EQ(result.top1_agreement, 1.0);
  EXPECT_EQ(result.first_divergent, "");
  EXPECT_EQ(result.first_different_token, -1);
  EXPECT_EQ(result.a.text, result.b.text);
  EXPECT_GT(result.nodes.size(), 300U);
  EXPECT_EQ(result.positions, result.a.prompt_tokens + 12);
  EXPECT_EQ(differing(result), 0U);
  for (const NodeComparison& node : result.nodes) {
    EXPECT_GT(node.a_us, 0) << node.node;
    EXPECT_GT(node.b_us, 0) << node.node;
    EXPECT_EQ(node.difference.has_value(), !without_floats(node.node)) << node.node;
  }
}

TEST(CompareTest, ADeviceAgreesWithTheCpuAndBothStream) {
  int64_t prefills = 0, told[2] = {0, 0};
  std::mutex mutex;
  CompareEvents events;
  events.on_prefill = [&](Side, const PrefillEvent&) {
    const std::scoped_lock lock(mutex);
    ++prefills;
  };
  events.on_token = [&](Side side, const TokenEvent&) {
    const std::scoped_lock lock(mutex);
    ++told[side == Side::b];
  };
  const CompareResult result = compare_or_fail(smollm2(), "device=cpu", "device=cuda:0", request(), events);
  EXPECT_EQ(told[0], 12);
  EXPECT_EQ(told[1], 12);
  EXPECT_GE(prefills, 2);
  EXPECT_EQ(result.first_divergent, "");
  EXPECT_LT(*result.kl, 1e-6);
  EXPECT_GT(result.nodes.size(), 300U);
  EXPECT_GT(result.total_a_ms, 0);
  EXPECT_GT(result.total_b_ms, 0);
}

TEST(CompareTest, RoundedArithmeticDiffersALittle) {
  const CompareResult result = compare_or_fail(smollm2(), "precision=exact", "precision=balanced", request());
  EXPECT_GT(*result.kl, 0);
  EXPECT_LT(*result.kl, 2e-3);
  EXPECT_GT(differing(result), 100U);
  EXPECT_EQ(result.first_divergent, "");
  CompareRequest strict = request();
  strict.divergent_nmse = 0;
  const CompareResult at_once = compare_or_fail(smollm2(), "precision=exact", "precision=balanced", strict);
  EXPECT_THAT(at_once.first_divergent, StartsWith("layers.0."));
}

TEST(CompareTest, AnEditPartsTheSidesWhereItWasMade) {
  const std::string recipe = testing::TempDir() + "compare_recipe.json";
  std::ofstream(recipe) << R"({"orrery_recipe": 1, "edits": [{"op": "bypass", "scope": "layers.7"}]})";
  const CompareResult result = compare_or_fail(smollm2(), "", "recipe=" + recipe, request());
  EXPECT_THAT(result.first_divergent, StartsWith("layers.8."));
  EXPECT_GT(*result.kl, 1e-2);
  for (const NodeComparison& node : result.nodes) {
    if (node.node.starts_with("layers.6.") && node.difference) {
      EXPECT_EQ(node.difference->max_abs, 0) << node.node;
    }
    if (!node.node.starts_with("layers.7.")) continue;
    EXPECT_GT(node.a_us, 0) << node.node;
    EXPECT_EQ(node.b_us, 0) << node.node;
    EXPECT_FALSE(node.difference) << node.node;
  }
}

TEST(CompareTest, EncodersAreCompared) {
  CompareRequest text;
  text.raw = "I loved every minute of it.";
  const CompareResult result = compare_or_fail(sentiment(), "", "precision=exact", text);
  EXPECT_FALSE(result.kl);
  EXPECT_GT(result.nodes.size(), 50U);
  EXPECT_EQ(result.first_divergent, "");
  EXPECT_GT(result.total_b_ms, 0);
  // Balanced rounds where the machine multiplies bf16.
  const bool rounds = kernels::this_machine().cpu.features.has(kernels::kAvx512Bf16);
  EXPECT_EQ(differing(result) > 0, rounds);
}

TEST(CompareTest, RefusesWhatCannotBeCompared) {
  const auto chat = open_or_fail(smollm2()), encoder = open_or_fail(minilm());
  ASSERT_TRUE(chat && encoder);
  const auto mixed = compare(*chat, *encoder, request(), {}, {}, {});
  ASSERT_FALSE(mixed.ok());
  EXPECT_THAT(mixed.error().to_string(), HasSubstr("same kind"));
  EXPECT_FALSE(compare(*chat, *chat, {}, {}, {}, {}).ok()) << "nothing to read";
  std::stop_source stop;
  CompareEvents events;
  events.on_token = [&](Side, const TokenEvent&) { stop.request_stop(); };
  const auto stopped = compare(*chat, *chat, request(2000), events, {}, stop.get_token());
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code, ErrorCode::cancelled);
}

TEST(CompareTest, SpecsChangeWhatTheyName) {
  OpenOptions base = smollm2();
  base.threads = 2;
  const auto options = with_spec(
      base, "device=cuda:1,fusion=off,disable-pass=store_rounded,precision=exact,kv-type=f32,context=512");
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->device, "cuda:1");
  EXPECT_FALSE(options->fusion);
  EXPECT_EQ(options->disabled_passes, std::vector<std::string>{"store_rounded"});
  EXPECT_EQ(options->precision, "exact");
  EXPECT_EQ(options->kv_type, "f32");
  EXPECT_EQ(options->context, 512);
  EXPECT_EQ(options->threads, 2);
  EXPECT_EQ(options->model, base.model);
  for (const char* wrong : {"speed=9", "fusion=maybe", "threads=x", "threads=-1", "context=", "fusion", "=3"})
    EXPECT_FALSE(with_spec(base, wrong).ok()) << wrong;
}

TEST(CompareTest, FiguresAreThoseOfTheirFormulas) {
  const std::vector<float> a{3, 4}, b{3, 3};
  const Difference difference = difference_of(a, b);
  EXPECT_DOUBLE_EQ(difference.max_abs, 1);
  EXPECT_DOUBLE_EQ(difference.nmse, 1.0 / 25);
  EXPECT_NEAR(difference.cosine, 21 / (5 * std::sqrt(18.0)), 1e-12);
  const std::vector<float> broken{3, NAN};
  EXPECT_FALSE(difference_of(a, broken).nmse <= 1e9);
  // p = (1/2, 1/2) and q = (3/4, 1/4): KL = ln(2 / sqrt(3)).
  const Distributions p = distributions_of({1, 1, 0, 5}, 2),
                      q = distributions_of({std::log(3.0F), 0, 0, 5}, 2);
  const Agreement agreement = agreement_of(p, q);
  EXPECT_NEAR(agreement.kl, std::log(2 / std::sqrt(3.0)) / 2, 1e-6);
  EXPECT_EQ(agreement.top1, 1.0);
  EXPECT_EQ(agreement_of(p, distributions_of({0, 1, 5, 0}, 2)).top1, 0.0);
  const std::vector<int32_t> next{1};
  EXPECT_NEAR(q.nll_of(next), std::log(4.0), 1e-6) << "of the first position alone";
}

}  // namespace
}  // namespace orrery::api
