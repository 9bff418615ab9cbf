// From files to the registry, and what stays: the cache, what was added, graphs that have the op.
#include <gmock/gmock.h>

#include <future>

#include "engine/edit/edit.h"
#include "engine/ops/lowering.h"
#include "tests/engine/custom/own_op_testing.h"
#include "tests/engine/runtime/placed.h"

namespace orrery::custom::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char *kTwice = "for (int64_t i = begin; i < end; ++i) dst[i] = 2 * src[i];",
                     *kThrice = "for (int64_t i = begin; i < end; ++i) dst[i] = 3 * src[i];";

class StoreOfOps : public WithStore {
 protected:
  void TearDown() override {
    for (const auto& kept : store().list()) EXPECT_TRUE(store().remove(kept.name, *ops::registry()).ok());
  }
  Report add(const std::string& body, const std::string& name = "own_test") {
    const Sources sources = sources_of({{name + ".cpp", op_of(body, name)}});
    const auto report = store().check(sources, {});
    EXPECT_TRUE(report.ok() && report->passed);
    const auto added = store().add(sources, *report, *ops::registry());
    EXPECT_TRUE(added.ok()) << (added.ok() ? "" : added.error().to_string());
    return *report;
  }
};

TEST_F(StoreOfOps, TheSecondTimeNothingIsCompiled) {
  const std::string source = op_of(kTwice);
  EXPECT_FALSE(report_of(source).cached);
  const Report again = report_of(source);
  EXPECT_TRUE(again.cached);
  EXPECT_TRUE(again.passed);
  EXPECT_EQ(again.name, "mine");
  EXPECT_THAT(again.checks, SizeIs(1));
  EXPECT_FALSE(report_of(source + "// other text\n").cached);

  std::ofstream(again.build / "op.so", std::ios::app) << "x";
  const Report mended = report_of(source);
  EXPECT_TRUE(mended.passed);
  EXPECT_FALSE(mended.cached) << "another hash than the one that passed is not loaded";
}

TEST_F(StoreOfOps, EachCaseIsTimedAndHeldAgainstTheReference) {
  const Report plain = report_of(op_of(kTwice));
  ASSERT_THAT(plain.cases, SizeIs(5));
  for (const TrialCase& one : plain.cases) {
    EXPECT_EQ(one.body, "mine");
    EXPECT_EQ(one.device, "CPU");
    EXPECT_EQ(one.against, "") << "there is nothing to hold it against";
    EXPECT_GT(one.us, 0);
  }
  EXPECT_EQ(plain.cases.front().words, "src f32[3, 7]");
  const auto again = report_of(op_of(kTwice)).cases;
  ASSERT_THAT(again, SizeIs(5)) << "of the cache, too";
  EXPECT_NEAR(again[2].us, plain.cases[2].us, 1e-3 * plain.cases[2].us);

  const auto with_reference = [](const std::string& factor) {
    std::string source = op_of(kTwice, "mine",
                               "static void plain(const orrery_call* call) {\n"
                               "  for (int64_t i = 0; i < call->items; ++i)\n"
                               "    ORRERY_OUT(float, call, 0)[i] = " +
                                   factor + " * ORRERY_IN(float, call, 0)[i];\n}\n");
    return source.replace(source.find(".cpu = cpu"), 10, ".cpu = cpu, .reference = plain");
  };
  const Report held = report_of(with_reference("2.000001f"));
  ASSERT_TRUE(held.passed) << held.failure().to_string();
  EXPECT_EQ(held.cases.front().against, "the reference");
  EXPECT_NEAR(held.cases.front().difference, 5e-7, 2e-7);
  EXPECT_EQ(held.cases.front().allowed, 1e-5);
  EXPECT_THAT(held.checks, SizeIs(2));

  const Report wrong = report_of(with_reference("3"));
  EXPECT_FALSE(wrong.passed);
  ASSERT_THAT(wrong.cases, SizeIs(1));
  EXPECT_TRUE(wrong.cases.front().over());
  EXPECT_THAT(wrong.failure().what, HasSubstr("It differs from its reference: element "));
}

TEST_F(StoreOfOps, WhatIsNoSourceIsRefused) {
  const auto refusal = [](std::vector<SourceFile> files) {
    return Sources::of(std::move(files)).error().what;
  };
  EXPECT_EQ(refusal({}), "There is no file");
  EXPECT_EQ(refusal({{"a.txt", ""}}), "This is neither C, C++, CUDA nor a library");
  EXPECT_EQ(refusal({{"a.cpp", ""}, {"b.c", ""}}), "A second file of its kind");
  EXPECT_EQ(refusal({{"a.so", ""}, {"a.cu", ""}}), "A library launches its own kernels");
  EXPECT_FALSE(read_source("/no/such/file.cpp").ok());
  const Report report = report_of({{"a.so", "no library at all"}});
  EXPECT_FALSE(report.passed);
  EXPECT_THAT(report.failure().what, HasSubstr("The library cannot be opened"));
}

TEST_F(StoreOfOps, OneOpIsTriedByTwoAtOnce) {
  // As a program that starts and joins it, and a person who verifies the same text.
  const Sources sources = sources_of({{"mine.cpp", op_of(kTwice)}});
  const Sources wrong = sources_of({{"mine.cpp", op_of("*(volatile int*)0 = 1;")}});
  for (const auto& [one, passes] : {std::pair(&sources, true), {&wrong, false}}) {
    std::vector<std::future<Result<Report>>> reports;
    for (int i = 0; i < 3; ++i)
      reports.push_back(std::async(std::launch::async, [&, one = one] { return store().check(*one, {}); }));
    int compiled = 0;
    for (auto& each : reports) {
      const auto report = each.get();
      ASSERT_TRUE(report.ok()) << report.error().to_string();
      compiled += report->cached ? 0 : 1;
      EXPECT_EQ(report->passed, passes) << report->failure().to_string();
      if (!passes) {
        EXPECT_THAT(report->failure().what, HasSubstr("null pointer"));
      }
    }
    EXPECT_EQ(compiled, passes ? 1 : 3);  // what passed is found by those who waited
  }
}

TEST_F(StoreOfOps, StopsWhenItIsAskedTo) {
  std::stop_source stop;
  stop.request_stop();
  const auto report = store().check(sources_of({{"mine.cpp", op_of(kTwice)}}), {{}, stop.get_token()});
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code, ErrorCode::cancelled);
}

TEST_F(StoreOfOps, AnAddedOpIsThereAtTheNextStart) {
  const Report added = add(kTwice);
  EXPECT_TRUE(ops::registry()->find("own_test"));
  EXPECT_TRUE(ops::registry()->remove("own_test").ok());
  EXPECT_THAT(store().join(*ops::registry(), {}), IsEmpty());
  ASSERT_TRUE(ops::registry()->find("own_test"));
  std::filesystem::remove_all(scratch_.path() / "cache");
  EXPECT_TRUE(ops::registry()->remove("own_test").ok());
  EXPECT_THAT(store().join(*ops::registry(), {}), IsEmpty()) << "compiled and tried anew";
  EXPECT_TRUE(ops::registry()->find("own_test"));

  EXPECT_NE(add(kThrice).content, added.content) << "in the place of the first";
  EXPECT_THAT(store().list(), SizeIs(1));
  EXPECT_TRUE(store().remove("own_test", *ops::registry()).ok());
  EXPECT_FALSE(ops::registry()->find("own_test"));
  EXPECT_FALSE(store().remove("own_test", *ops::registry()).ok());
}

TEST_F(StoreOfOps, ADamagedOpIsTold) {
  add(kTwice);
  EXPECT_TRUE(ops::registry()->remove("own_test").ok());
  const std::filesystem::path folder = store().list().front().folder;
  for (const char* text : {"{", "{}", "{\"orrery_op\": 1, \"name\": 3}"}) {
    std::ofstream(folder / "op.json") << text;
    ASSERT_THAT(store().list(), SizeIs(1)) << text;
    EXPECT_EQ(store().list().front().name, "own_test");
    const std::vector<Error> failed = store().join(*ops::registry(), {});
    ASSERT_THAT(failed, SizeIs(1)) << text;
    EXPECT_THAT(failed.front().to_string(), HasSubstr("op.json is damaged, missing or of a later version"));
  }
  EXPECT_TRUE(store().remove("own_test", *ops::registry()).ok());
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST_F(StoreOfOps, TheEnginesNamesAreItsOwn) {
  const Sources sources = sources_of({{"softmax.cpp", op_of(kTwice, "softmax")}});
  const auto report = store().check(sources, {});
  ASSERT_TRUE(report.ok() && report->passed);
  const auto added = store().add(sources, *report, *ops::registry());
  ASSERT_FALSE(added.ok());
  EXPECT_EQ(added.error().what, "The engine has an op softmax of its own");
  EXPECT_THAT(store().list(), IsEmpty());
}

TEST_F(StoreOfOps, ShapesFollowSymbols) {
  add(kTwice);
  const graph::OpPtr op = ops::registry()->find("own_test");
  const auto attributes = graph::complete_attributes(*op, {});
  ASSERT_TRUE(attributes.ok());
  const graph::ValueType src{DType::f32, {Dim(kTokens) * 2 + 1, 64}};
  const auto made = op->infer({&*attributes, {&src}, {}});
  ASSERT_TRUE(made.ok()) << made.error().to_string();
  EXPECT_EQ(made->front(), src);
  const graph::ValueType other{DType::f16, {4}};
  const auto refused = op->infer({&*attributes, {&other}, {}});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().where, "src");
}

class InAModel : public StoreOfOps {
 protected:
  runtime::TinyReply reply(const graph::GraphVersion& graph) {
    using runtime::TinyModel;
    return tiny_reply(scheduler_,
                      std::make_shared<runtime::Model>(tiny_.weights, TinyModel::version(graph),
                                                       TinyModel::exact_options()),
                      runtime::tiny_text(17, 3), 12);
  }
  /// The tiny model with an edit made.
  Result<graph::GraphVersion> edited(const std::string& words) const {
    auto graph = std::make_shared<graph::Graph>(*tiny_.graph());
    ORRERY_ASSIGN(const edit::Edit edit, edit::parse_edit(words));
    ORRERY_TRY(edit::apply(*graph, edit));
    return graph::GraphVersion(graph);
  }

  runtime::TinyModel tiny_;
  runtime::DeviceScheduler scheduler_{2};
};

TEST_F(InAModel, ItRunsAsTheEnginesOwnDo) {
  add(kTwice);
  const auto own = edited("custom op=own_test as=layers.0.more after=layers.0.mlp_residual:dst");
  const auto scaled = edited("scale node=layers.0.mlp_residual factor=2");
  ASSERT_TRUE(own.ok()) << own.error().to_string();
  ASSERT_TRUE(scaled.ok()) << scaled.error().to_string();
  EXPECT_EQ(reply(*own).logprobs, reply(*scaled).logprobs) << "bit for bit";
  EXPECT_NE(reply(*own).logprobs, reply(tiny_.graph()).logprobs);
}

TEST_F(InAModel, RecipesNameWhatTheOpIsMadeOf) {
  const std::string words = "custom op=own_test as=layers.0.more after=layers.0.mlp_residual:dst";
  EXPECT_EQ(edited(words).error().what, "There is no op own_test here");
  const Report first = add(kTwice);
  std::vector<edit::Edit> edits = {edit::parse_edit(words).value()};
  edit::name_contents(*ops::registry(), edits);
  EXPECT_EQ(edits[0].fields["content"], first.content);
  EXPECT_TRUE(edited(edits[0].to_string()).ok());
  const std::string recipe = edit::write_recipe({edits});
  EXPECT_EQ(edit::parse_recipe(recipe)->edits, edits);

  const graph::GraphVersion made = *edited(words);
  const auto before = reply(made).logprobs;
  const Report second = add(kThrice);
  EXPECT_EQ(reply(made).logprobs, before) << "a graph keeps the op that it has";
  const auto refused = edited(edits[0].to_string());
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().what, HasSubstr("has the content " + second.content +
                                              ", and this was made with one of "
                                              "content " +
                                              first.content));
  EXPECT_EQ(edited("custom op=softmax as=x after=layers.0.mlp_residual:dst").error().what,
            "softmax is an op of the engine's");
}

TEST_F(InAModel, WhatThrowsLaterIsTheStepsFailure) {
  // Rows as long as the model's are none of the trial's.
  const graph::GraphVersion plain = tiny_.graph();
  const ValueId value = plain->node(plain->find_path("layers.0.mlp_residual")).outputs.front();
  const int64_t cols = plain->value(value).type.shape.back().constant();
  add("if (ORRERY_COLS(call->inputs[0]) == " + std::to_string(cols) + ") throw 1;\n" + kTwice);
  const auto own = edited("custom op=own_test as=layers.0.more after=layers.0.mlp_residual:dst");
  ASSERT_TRUE(own.ok()) << own.error().to_string();
  const auto model = std::make_shared<runtime::Model>(tiny_.weights, runtime::TinyModel::version(*own),
                                                      runtime::TinyModel::exact_options());
  const auto outcome = scheduler_
                           .decode(model, runtime::DeviceScheduler::new_sequence(model),
                                   runtime::tiny_request(runtime::tiny_text(17, 3), 12, nullptr))
                           .get();
  ASSERT_FALSE(outcome.ok());
  EXPECT_THAT(outcome.error().to_string(), HasSubstr("own_test threw: an exception"));
  EXPECT_FALSE(reply(tiny_.graph()).ids.empty()) << "the scheduler goes on";
}

}  // namespace
}  // namespace orrery::custom::test
