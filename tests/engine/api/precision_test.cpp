// What nodes compute in: the model's default, what a scope is asked for, what comes of it, and what it costs.
#include <gmock/gmock.h>

#include "kernels/cpu/isa.h"
#include "kernels/machine.h"
#include "tests/engine/api/test_models.h"
#include "tests/engine/api/tiny_session.h"

namespace orrery::api {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kPrompt = "Once upon a time, in a land far away";

bool has(kernels::CpuFeatures features) { return kernels::this_machine().cpu.features.has(features); }

/// Of dense weights where nothing finer is asked for.
std::string dense() { return has(kernels::kAvx512Bf16) ? "bf16" : "float32"; }
/// Of quantised weights where int8 is asked for.
std::string narrow() { return has(kernels::kAvx512Vnni) || has(kernels::kAvx2Vnni) ? "int8" : "int16"; }

Result<EditRecord> apply(Session& session, const std::string& words) {
  ORRERY_ASSIGN(const edit::Edit edit, edit::parse_edit(words));
  return session.apply(edit);
}

void apply_or_fail(Session& session, const std::string& words) {
  const auto applied = apply(session, words);
  ASSERT_TRUE(applied.ok()) << applied.error().to_string();
}

std::shared_ptr<Session> opened(OpenOptions options, const std::string& precision) {
  options.precision = precision;
  return open_or_fail(options);
}

/// The steps of the nodes below a path that multiply.
std::vector<PlanStep> products(Session& session, const std::string& path = "") {
  const auto plan = session.plan(Phase::prefill);
  EXPECT_TRUE(plan.ok()) << (plan.ok() ? "" : plan.error().to_string());
  std::vector<PlanStep> steps;
  if (plan.ok())
    for (const PlanStep& step : plan->steps)
      if (!step.computes.empty() && step.op.ends_with("linear") && step.path.starts_with(path))
        steps.push_back(step);
  EXPECT_FALSE(steps.empty()) << path;
  return steps;
}

std::vector<int32_t> reply_of(Session& session, int64_t tokens = 12) {
  const auto reply = session.chat(raw_request(kPrompt, tokens), {}, {});
  EXPECT_TRUE(reply.ok()) << (reply.ok() ? "" : reply.error().to_string());
  return reply.ok() ? ids_of(reply.value()) : std::vector<int32_t>{};
}

double nll(Session& session) {
  const auto score = session.score("The capital of France is Paris, and that of Italy is Rome.", 0, {});
  EXPECT_TRUE(score.ok()) << (score.ok() ? "" : score.error().to_string());
  return score.ok() ? score->nll_per_token : 0;
}

MeasuredChange measured(const Session& session, const std::string& words) {
  const auto change = session.measure({edit::parse_edit(words).value()}, {}, {});
  EXPECT_TRUE(change.ok()) << (change.ok() ? "" : change.error().to_string());
  return change.ok() ? *change : MeasuredChange{};
}

TEST(PrecisionTest, TheDefaultIsBalanced) {
  const auto encoder = open_or_fail(minilm());
  const auto decoder = open_or_fail(smollm2());
  ASSERT_TRUE(encoder && decoder);
  EXPECT_EQ(encoder->options().precision, "balanced");
  for (const PlanStep& step : products(*encoder)) {
    EXPECT_EQ(step.precision, "balanced");
    EXPECT_EQ(step.computes, dense()) << step.path;
    EXPECT_EQ(step.precision_reason, "");
  }
  for (const PlanStep& step : products(*decoder)) EXPECT_EQ(step.computes, "int16") << step.path;
}

TEST(PrecisionTest, ExactIsFloat32Throughout) {
  const auto encoder = opened(minilm(), "exact");
  const auto decoder = opened(smollm2(), "exact");
  ASSERT_TRUE(encoder && decoder);
  for (const auto& session : {encoder, decoder})
    for (const PlanStep& step : products(*session)) {
      EXPECT_EQ(step.precision, "exact");
      EXPECT_EQ(step.computes, "float32") << step.path;
      EXPECT_EQ(step.precision_reason, "");
    }
}

TEST(PrecisionTest, AScopeComputesAsItIsAskedTheOthersAsTheModel) {
  const auto session = open_or_fail(smollm2());
  ASSERT_TRUE(session);
  apply_or_fail(*session, "precision scope=layers.3 dtype=int8");
  apply_or_fail(*session, "precision scope=layers.5 dtype=exact");
  for (const PlanStep& step : products(*session, "layers.3.")) {
    EXPECT_EQ(step.precision, "int8");
    EXPECT_EQ(step.computes, narrow()) << step.path;
    EXPECT_EQ(step.precision_reason.empty(), narrow() == "int8") << step.precision_reason;
  }
  for (const PlanStep& step : products(*session, "layers.4.")) EXPECT_EQ(step.computes, "int16");
  for (const PlanStep& step : products(*session, "layers.5.")) EXPECT_EQ(step.computes, "float32");
}

TEST(PrecisionTest, WhatCannotComputeAsAskedSaysWhyAndIsFiner) {
  const auto decoder = opened(smollm2(), "bf16");
  ASSERT_TRUE(decoder);
  for (const PlanStep& step : products(*decoder)) {
    EXPECT_EQ(step.precision, "bf16");
    EXPECT_EQ(step.computes, "int16") << step.path;
    EXPECT_THAT(step.precision_reason, HasSubstr("weights are not dense")) << step.path;
  }
  const auto encoder = opened(minilm(), "int8");
  ASSERT_TRUE(encoder);
  for (const PlanStep& step : products(*encoder)) {
    EXPECT_EQ(step.computes, dense());
    EXPECT_THAT(step.precision_reason, HasSubstr("f32 weights")) << step.path;
  }
}

TEST(PrecisionTest, FusionsJoinWhatIsAskedAlike) {
  const auto session = open_or_fail(smollm2());
  ASSERT_TRUE(session);
  const size_t before = products(*session, "layers.3.").size();
  apply_or_fail(*session, "precision scope=layers.3 dtype=int8");
  EXPECT_EQ(products(*session, "layers.3.").size(), before) << "all of it is asked alike";
  apply_or_fail(*session, "precision scope=layers.3.attention.q_proj dtype=exact");
  const std::vector<PlanStep> steps = products(*session, "layers.3.");
  EXPECT_EQ(steps.size(), before + 1);
  EXPECT_EQ(
      std::count_if(steps.begin(), steps.end(), [](const PlanStep& s) { return s.precision == "exact"; }), 1);
}

TEST(PrecisionTest, UndoBringsTheNumbersBack) {
  const auto session = open_or_fail(smollm2());
  ASSERT_TRUE(session);
  const double before = nll(*session);
  apply_or_fail(*session, "precision scope=* dtype=int8");
  const double rounded = nll(*session);
  EXPECT_NEAR(rounded, before, 0.1);
  if (narrow() == "int8") {
    EXPECT_NE(rounded, before);
  }
  ASSERT_TRUE(session->undo().ok());
  EXPECT_EQ(nll(*session), before);
  ASSERT_TRUE(session->redo().ok());
  EXPECT_EQ(nll(*session), rounded);
}

TEST(PrecisionTest, TheContextIsReadAgainWhereItsNumbersDependOnIt) {
  const auto session = open_or_fail(smollm2());
  ASSERT_TRUE(session);
  reply_of(*session);
  const auto head = apply(*session, "precision scope=output.lm_head dtype=exact");
  ASSERT_TRUE(head.ok()) << head.error().to_string();
  EXPECT_TRUE(head->kv_kept) << "no key or value is made of what the head gives";
  const auto layer = apply(*session, "precision scope=layers.3 dtype=exact");
  ASSERT_TRUE(layer.ok()) << layer.error().to_string();
  EXPECT_FALSE(layer->kv_kept);
  const auto fresh = open_or_fail(smollm2());
  ASSERT_TRUE(fresh);
  ASSERT_TRUE(fresh->replay(session->recipe()).ok());
  EXPECT_EQ(reply_of(*session), reply_of(*fresh));
}

TEST(PrecisionTest, TheDefaultIsPartOfWhatAContextDependsOn) {
  const auto session = open_or_fail(smollm2());
  ASSERT_TRUE(session);
  reply_of(*session);
  const auto same = apply(*session, "precision scope=layers.0-9 dtype=balanced");
  ASSERT_TRUE(same.ok()) << same.error().to_string();
  EXPECT_TRUE(same->kv_kept) << "it is what they compute in already";
  const auto resized = session->fork({.context = 512}, {});
  ASSERT_TRUE(resized.ok()) << resized.error().to_string();
  reply_of(**resized);
  const auto again = apply(**resized, "precision scope=layers.10-19 dtype=balanced");
  ASSERT_TRUE(again.ok()) << again.error().to_string();
  EXPECT_TRUE(again->kv_kept) << "in a session of another context too";

  const runtime::TinyModel tiny;
  const auto hash = [&](kernels::Precision precision) {
    runtime::Model::Options options = runtime::TinyModel::exact_options();
    options.precision = precision;
    const auto version = prepare_version(tiny.graph(), preparation_of(options, "cpu", {}));
    EXPECT_TRUE(version.ok()) << (version.ok() ? "" : version.error().to_string());
    return version.ok() ? (*version)->states.front().hash : 0;
  };
  EXPECT_EQ(hash(kernels::Precision::exact), hash(kernels::Precision::exact));
  EXPECT_NE(hash(kernels::Precision::exact), hash(kernels::Precision::int16));
}

TEST(PrecisionTest, ARecipeCarriesIt) {
  const auto session = open_or_fail(smollm2());
  ASSERT_TRUE(session);
  apply_or_fail(*session, "precision scope=layers.0-14 dtype=int8");
  const std::string json = edit::write_recipe({session->recipe()});
  EXPECT_THAT(json, AllOf(HasSubstr("\"precision\""), HasSubstr("\"dtype\": \"int8\"")));
  const auto read = edit::parse_recipe(json);
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  EXPECT_EQ(read->edits, session->recipe());
  const auto other = open_or_fail(smollm2());
  ASSERT_TRUE(other && other->replay(read->edits).ok());
  EXPECT_EQ(reply_of(*other), reply_of(*session));
}

TEST(PrecisionTest, RefusalsNameTheWords) {
  OpenOptions options = minilm();
  options.precision = "fast";
  const auto refused = Session::open(options, {}, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().to_string(), AllOf(HasSubstr("There is no precision \"fast\""),
                                                 HasSubstr("use one of balanced, exact, bf16, int16, int8")));
  const auto session = open_or_fail(minilm());
  ASSERT_TRUE(session);
  const auto edit = apply(*session, "precision scope=layers.1 dtype=fp8");
  ASSERT_FALSE(edit.ok());
  EXPECT_THAT(edit.error().to_string(), HasSubstr("use one of balanced, exact, bf16, int16, int8, default"));
  EXPECT_THAT(session->recipe(), IsEmpty());
}

TEST(PrecisionTest, WhatItCostsIsMeasuredAndNothingIsDone) {
  const auto decoder = opened(smollm2(), "exact");
  ASSERT_TRUE(decoder);
  const MeasuredChange int16 = measured(*decoder, "precision scope=* dtype=int16");
  const MeasuredChange int8 = measured(*decoder, "precision scope=* dtype=int8");
  ASSERT_TRUE(int16.kl && int8.kl && int8.top1_agreement);
  EXPECT_FALSE(int8.cosine);
  EXPECT_GT(int8.tokens, 100);
  EXPECT_EQ(int8.positions, 128);
  EXPECT_LT(*int16.kl, 1e-4);
  EXPECT_GE(*int16.top1_agreement, 0.98);
  if (narrow() == "int8") {
    EXPECT_GT(*int8.kl, *int16.kl);
    EXPECT_LT(*int8.kl, 0.05);
    EXPECT_GT(*int8.top1_agreement, 0.85);
  }
  EXPECT_THAT(decoder->recipe(), IsEmpty());
  for (const PlanStep& step : products(*decoder)) EXPECT_EQ(step.computes, "float32");

  const auto encoder = opened(minilm(), "exact");
  ASSERT_TRUE(encoder);
  const MeasuredChange bf16 = measured(*encoder, "precision scope=* dtype=bf16");
  ASSERT_TRUE(bf16.cosine);
  EXPECT_FALSE(bf16.kl);
  EXPECT_GE(*bf16.cosine, 0.9995);
  if (dense() == "bf16") {
    EXPECT_LT(*bf16.cosine, 1.0);
  }
  const auto misfit =
      encoder->measure({edit::parse_edit("precision scope=layers.99 dtype=bf16").value()}, {}, {});
  ASSERT_FALSE(misfit.ok());
  EXPECT_THAT(misfit.error().to_string(), HasSubstr("layers.99"));
}

}  // namespace
}  // namespace orrery::api
