// The sampling node of a model and what a request changes of it: the drawn node is what is sampled by. On the
// CPU, and on the devices of the test module, which draw in the plain order only.
#include "engine/api/sampling.h"

#include <gmock/gmock.h>

#include <set>

#include "tests/engine/api/test_models.h"

namespace orrery::api {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::Field;
using testing::HasSubstr;

using Ids = std::vector<int32_t>;

constexpr const char* kPrompt = "Once upon a time, in a land far away";

constexpr const char* kNode = "sampler.sample";

Result<EditRecord> edit_of(Session& session, const std::string& words) {
  return session.apply(edit::parse_edit(words).value());
}

std::string set(const std::string& attribute, const std::string& value) {
  return std::string("set node=") + kNode + " attribute=" + attribute + " value=" + value;
}

Result<ChatResult> ask(Session& session, SamplingOptions sampling, int64_t tokens) {
  ChatRequest request = raw_request(kPrompt, tokens);
  request.sampling = std::move(sampling);
  if (!request.sampling.seed) request.sampling.seed = 5;
  return session.chat(request, {}, {});
}

Ids reply_of(Session& session, const SamplingOptions& sampling = {}, int64_t tokens = 16) {
  const auto result = ask(session, sampling, tokens);
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().to_string());
  return result.ok() ? ids_of(result.value()) : Ids{};
}

std::string refusal_of(Session& session, const SamplingOptions& sampling) {
  const auto result = ask(session, sampling, 2);
  return result.ok() ? "" : result.error().to_string();
}

/// As the requests of the window were before the node had settings.
SamplingOptions usual() {
  SamplingOptions options;
  options.temperature = 0.8F;
  options.top_k = 40;
  options.top_p = 0.95F;
  options.min_p = 0.05F;
  options.repeat_penalty = 1;
  return options;
}

SamplingOptions greedy() {
  SamplingOptions options;
  options.temperature = 0;
  return options;
}

class Sampling : public testing::Test {
 protected:
  static void SetUpTestSuite() { session_ = open_or_fail(smollm2()); }
  static void TearDownTestSuite() { session_.reset(); }
  void SetUp() override { ASSERT_TRUE(session_); }
  void TearDown() override {
    while (session_->undo().ok()) continue;
  }
  static Ids reply(const SamplingOptions& sampling = {}, int64_t tokens = 16) {
    return reply_of(*session_, sampling, tokens);
  }

  static inline std::shared_ptr<Session> session_;
};

TEST_F(Sampling, AModelThatNobodyEditedDrawsAsUsual) {
  EXPECT_EQ(reply(), reply(usual()));
  for (const SamplingField& field : sampling_fields()) {
    const SamplingFacts facts = sampling_facts(field.name);
    EXPECT_FALSE(facts.doc.empty()) << field.name;
    EXPECT_LE(facts.low, facts.usual) << field.name;
    EXPECT_GE(facts.high, facts.usual) << field.name;
    EXPECT_NE(field.real == nullptr, field.whole == nullptr) << field.name;
  }
}

TEST_F(Sampling, WhatTheNodeIsSetToIsWhatRuns) {
  const Ids likeliest = reply(greedy()), drawn = reply();
  ASSERT_NE(drawn, likeliest);
  const auto edited = edit_of(*session_, set("top_k", "1"));
  ASSERT_TRUE(edited.ok()) << edited.error().to_string();
  EXPECT_TRUE(edited.value().kv_kept) << "nothing is read again";
  EXPECT_EQ(reply(), likeliest);
  EXPECT_EQ(reply(usual()), drawn) << "a request may say otherwise";
  ASSERT_TRUE(session_->undo().ok());
  EXPECT_EQ(reply(), drawn);
  ASSERT_TRUE(edit_of(*session_, set("temperature", "0")).ok());
  EXPECT_EQ(reply(), likeliest);
}

TEST_F(Sampling, TheNodeOfARecipeToo) {
  ASSERT_TRUE(edit_of(*session_, set("top_k", "1")).ok());
  const Ids expected = reply();
  const std::string file = testing::TempDir() + "/sampling_recipe.json";
  std::ofstream(file)
      << R"({"orrery_recipe":1,"edits":[{"op":"set","node":"sampler.sample","attribute":"top_k","value":1}]})";
  OpenOptions options = smollm2();
  options.recipe = file;
  const auto opened = open_or_fail(options);
  ASSERT_TRUE(opened);
  EXPECT_EQ(reply_of(*opened), expected);
  std::filesystem::remove(file);
}

TEST_F(Sampling, ASamplerOfTheNodeDoesWhatTheRequestsDoes) {
  const Ids plain = reply({}, 24);
  SamplingOptions sigma;
  sigma.top_n_sigma = 0.0001F;
  EXPECT_EQ(reply(sigma), reply(greedy())) << "only the largest logit is so near to itself";
  for (const auto& [name, value] : std::vector<std::pair<std::string, double>>{
           {"xtc_probability", 1}, {"frequency_penalty", 2}, {"presence_penalty", 2}, {"mirostat", 2}}) {
    SamplingOptions asked;
    for (const SamplingField& field : sampling_fields()) {
      if (field.name != name) continue;
      if (field.real) asked.*field.real = static_cast<float>(value);
      if (field.whole) asked.*field.whole = static_cast<int32_t>(value);
    }
    const Ids requested = reply(asked, 24);
    EXPECT_EQ(reply(asked, 24), requested) << name << ": the same seed gives the same reply";
    EXPECT_NE(requested, plain) << name;
    const auto edited = edit_of(*session_, set(name, std::to_string(static_cast<int>(value))));
    ASSERT_TRUE(edited.ok()) << edited.error().to_string();
    EXPECT_EQ(reply({}, 24), requested) << name;
    ASSERT_TRUE(session_->undo().ok());
  }
  EXPECT_EQ(reply({}, 24), plain);
}

TEST_F(Sampling, TheOrderCounts) {
  SamplingOptions options;
  options.temperature = 5;
  options.top_k = 0;
  options.top_p = 0.5F;
  options.min_p = 0;
  options.samplers = "top_p,temperature";
  const Ids cut_first = reply(options);
  options.samplers = "temperature,top_p";
  EXPECT_NE(reply(options), cut_first);
  ASSERT_TRUE(edit_of(*session_, set("samplers", "top_p,temperature")).ok());
  options.samplers.reset();
  EXPECT_EQ(reply(options), cut_first);
}

TEST_F(Sampling, ABiasDecidesTheToken) {
  SamplingOptions options;
  options.logit_bias = {{905, 1000.0F}};
  EXPECT_THAT(reply(options, 4), Each(905));
  const Ids likeliest = reply(greedy(), 1);
  options.logit_bias = {{likeliest.at(0), -1000.0F}};
  options.temperature = 0;
  EXPECT_NE(reply(options, 1), likeliest);
}

TEST_F(Sampling, DryKeepsATextFromRepeatingItself) {
  const auto repeats = [](const Ids& ids) {  // places whose last four tokens were there before
    std::set<Ids> seen;
    int count = 0;
    for (size_t i = 4; i <= ids.size(); ++i)
      count += !seen.emplace(ids.begin() + static_cast<std::ptrdiff_t>(i) - 4,
                             ids.begin() + static_cast<std::ptrdiff_t>(i))
                    .second;
    return count;
  };
  const Ids plain = reply(greedy(), 160);
  ASSERT_GT(repeats(plain), 5) << "small models go round in circles";
  SamplingOptions dry = greedy();
  dry.dry_multiplier = 5;
  dry.dry_breakers = std::vector<std::string>{};
  EXPECT_LT(repeats(reply(dry, 160)), repeats(plain) / 2);
}

TEST_F(Sampling, WhatCannotBeIsRefusedByItsName) {
  SamplingOptions none;
  none.top_p = 0.0F;
  EXPECT_THAT(refusal_of(*session_, none), AllOf(HasSubstr("top_p is 0"), HasSubstr("--top-p")));
  SamplingOptions unknown;
  unknown.samplers = "top_k,tail_free";
  EXPECT_THAT(refusal_of(*session_, unknown), AllOf(HasSubstr("tail_free"), HasSubstr("--samplers")));
  SamplingOptions biased;
  biased.logit_bias = {{1'000'000, 1.0F}};
  EXPECT_THAT(refusal_of(*session_, biased), AllOf(HasSubstr("1000000"), HasSubstr("--logit-bias")));
  const auto edited = edit_of(*session_, set("top_p", "2"));
  ASSERT_FALSE(edited.ok());
  EXPECT_THAT(edited.error().to_string(), AllOf(HasSubstr("top_p is 2"), HasSubstr(kNode)));
}

TEST(SamplingOnACard, ANodeThatNeedsAChainRunsOnTheCpuAndSaysWhy) {
  const auto cpu = open_or_fail(smollm2()), card = open_or_fail(on_device(smollm2()));
  ASSERT_TRUE(cpu && card);
  EXPECT_EQ(reply_of(*card), reply_of(*cpu)) << "the plain order is drawn on the card";
  EXPECT_THAT(card->placement(), testing::IsEmpty());
  for (Session* session : {cpu.get(), card.get()})
    ASSERT_TRUE(edit_of(*session, set("dry_multiplier", "1")).ok());
  const auto placement = card->placement();
  ASSERT_EQ(placement.size(), 1U);
  EXPECT_EQ(placement[0].node, card->model_graph()->find_path(kNode));
  EXPECT_EQ(placement[0].asked, "cuda:0");
  EXPECT_EQ(placement[0].device, "cpu");
  EXPECT_THAT(placement[0].reason, HasSubstr("draws in the plain order only"));
  const auto plan = card->plan(Phase::decode);
  ASSERT_TRUE(plan.ok());
  EXPECT_THAT(plan.value().steps,
              Contains(AllOf(Field(&PlanStep::op, "transfer"), Field(&PlanStep::device, "cpu"))));
  EXPECT_EQ(reply_of(*card, {}, 40), reply_of(*cpu, {}, 40));
  ASSERT_TRUE(card->undo().ok());
  EXPECT_THAT(card->placement(), testing::IsEmpty()) << "and back on the card";
}

TEST(SamplingOnACard, ARequestThatNeedsAChainIsToldWhereToDrawIt) {
  const auto cpu = open_or_fail(smollm2()), card = open_or_fail(on_device(smollm2()));
  ASSERT_TRUE(cpu && card);
  SamplingOptions options;
  options.xtc_probability = 1;
  EXPECT_THAT(refusal_of(*card, options),
              AllOf(HasSubstr("runs on cuda:0"), HasSubstr("place scope=sampler.sample device=cpu")));
  ASSERT_TRUE(edit_of(*card, "place scope=sampler.sample device=cpu").ok());
  EXPECT_EQ(reply_of(*card, options), reply_of(*cpu, options));
}

}  // namespace
}  // namespace orrery::api
