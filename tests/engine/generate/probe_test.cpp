// Steps beside a model's own that are given what they read: graphs of one's own, and values put into a model.
// On the CPU and on the test module's card.
#include "engine/generate/probe.h"

#include <gmock/gmock.h>

#include <cstring>
#include <numeric>

#include "tests/engine/runtime/placed.h"
#include "tests/support/counting_device.h"

namespace orrery::generate {
namespace {

using graph::Attributes;
using runtime::TinyModel;
using testing::ElementsAre;
using testing::HasSubstr;

/// Elements of any type where a step takes them.
template <class T>
class Elements {
 public:
  explicit Elements(const std::vector<T>& values)
      : buffer_(weights::Buffer::allocate(values.size() * sizeof(T)).value()), count_(values.size()) {
    set(values);
  }
  void set(const std::vector<T>& values) { std::memcpy(buffer_.data(), values.data(), count_ * sizeof(T)); }
  std::span<const std::byte> bytes() const { return {buffer_.data(), count_ * sizeof(T)}; }

 private:
  weights::Buffer buffer_;
  size_t count_;
};

template <class T>
std::vector<T> values_of(Probe& probe, size_t point) {
  const auto bytes = probe.read_bytes(point);
  EXPECT_TRUE(bytes.ok()) << (bytes.ok() ? "" : bytes.error().to_string());
  if (!bytes.ok()) return {};
  std::vector<T> values(bytes->size() / sizeof(T));
  std::memcpy(values.data(), bytes->data(), bytes->size());
  return values;
}

ValueId add(graph::Graph& graph, const std::string& op, const std::string& name, std::vector<ValueId> inputs,
            Attributes attributes = {}) {
  const auto node = graph.add_node({op, "", name, std::move(attributes), std::move(inputs), {}, {}});
  EXPECT_TRUE(node.ok()) << (node.ok() ? "" : node.error().to_string());
  return node.ok() ? graph.node(*node).outputs.front() : ValueId{};
}
ValueId given(graph::Graph& graph, const std::string& name, const std::string& dtype,
              const std::string& shape) {
  return add(graph, "input", name, {}, {{"name", name}, {"dtype", dtype}, {"shape", shape}});
}

/// On the CPU and on a card.
class GivenInputs : public testing::TestWithParam<bool> {
 protected:
  GivenInputs() {
    if (!GetParam()) return;
    auto opened = runtime::open_device(0);
    EXPECT_TRUE(opened.ok()) << (opened.ok() ? "" : opened.error().to_string());
    card_ = std::make_shared<kernels::CountingDevice>(opened.value());
  }
  runtime::Model::Options options() const {
    runtime::Model::Options options = TinyModel::exact_options();
    options.device = card_;
    options.threads = 1;
    return options;
  }
  Result<std::unique_ptr<Probe>> run(const std::shared_ptr<const runtime::Version>& version,
                                     const std::vector<ValueId>& keep, const Probe::Step& step) {
    model_ = std::make_shared<runtime::Model>(tiny_.weights, version, options());
    return Probe::run({scheduler_, model_, nullptr}, *version, keep, step);
  }
  /// Without passes: what runs has the ids of what was made.
  Result<std::unique_ptr<Probe>> run(graph::Graph graph, const std::vector<ValueId>& keep,
                                     std::vector<runtime::Given> given, Probe::Step step = {}) {
    graph.set_outputs(keep);
    const auto shared = std::make_shared<const graph::Graph>(std::move(graph));
    step.given = std::move(given);
    return run(runtime::make_version({shared, shared}).value(), keep, step);
  }
  std::string refusal(graph::Graph graph, ValueId keep, std::vector<runtime::Given> given) {
    const auto probe = run(std::move(graph), {keep}, std::move(given));
    return probe.ok() ? std::string("it ran") : probe.error().to_string();
  }

  std::shared_ptr<kernels::CountingDevice> card_;  // null: the CPU
  TinyModel tiny_;
  runtime::DeviceScheduler scheduler_{1, card_};
  std::shared_ptr<runtime::Model> model_;
};
INSTANTIATE_TEST_SUITE_P(, GivenInputs, testing::Bool(),
                         [](const auto& info) { return info.param ? "OnTheCard" : "OnTheCpu"; });

TEST_P(GivenInputs, AGraphOfOnesOwnRunsOnThem) {
  graph::Graph graph(ops::registry());
  const ValueId x = given(graph, "x", "f32", "2, 3"), y = given(graph, "y", "f32", "3");
  const ValueId product = add(graph, "mul", "product", {x, y});
  const ValueId sum = add(graph, "add", "sum", {product, x});
  Elements<float> xs({1, 2, 3, 4, 5, 6}), ys({10, 20, 30});
  const auto probe = run(graph, {product, sum, x}, {{"y", ys.bytes()}, {"x", xs.bytes()}});
  ASSERT_TRUE(probe.ok()) << probe.error().to_string();
  EXPECT_THAT(values_of<float>(**probe, 0), ElementsAre(10, 40, 90, 40, 100, 180));
  EXPECT_THAT(values_of<float>(**probe, 1), ElementsAre(11, 42, 93, 44, 105, 186));
  EXPECT_THAT(values_of<float>(**probe, 2), ElementsAre(1, 2, 3, 4, 5, 6)) << "a source can be kept too";
  EXPECT_EQ(to_string(probe.value()->points()[1].type), "f32[2, 3]");
}

TEST_P(GivenInputs, OtherBytesAreReadWhenItRunsAgain) {
  graph::Graph graph(ops::registry());
  const ValueId twice = add(graph, "scale", "twice", {given(graph, "x", "f32", "1, 2")}, {{"factor", 2.0}});
  Elements<float> xs({1, 2});
  Probe::Step step;
  step.timed = true;
  const auto probe = run(graph, {twice}, {{"x", xs.bytes()}}, step);
  ASSERT_TRUE(probe.ok()) << probe.error().to_string();
  for (float i = 1; i <= 4; ++i) {
    xs.set({i, 10 * i});
    ASSERT_TRUE(probe.value()->run_again().ok());
    EXPECT_THAT(values_of<float>(**probe, 0), ElementsAre(2 * i, 20 * i));
  }
  EXPECT_EQ(probe.value()->profile().runs, 5U) << "each is measured";
  if (card_) {
    EXPECT_EQ(card_->launches, 3) << "the first two ran directly, the others were replayed";
  }
}

TEST_P(GivenInputs, TheyMayBeOfAnyTypeAndRank) {
  graph::Graph graph(ops::registry());
  const ValueId a = given(graph, "a", "i64", ""), b = given(graph, "b", "i64", "2, 1, 2");
  const ValueId chosen = given(graph, "chosen", "bool", "2, 1, 1");
  const ValueId sum = add(graph, "where", "sum", {chosen, add(graph, "add", "both", {a, b}), b});
  Elements<int64_t> as({int64_t{1} << 40}), bs({1, 2, 3, 4});
  Elements<uint8_t> cs({0, 1});
  const auto probe = run(graph, {sum}, {{"a", as.bytes()}, {"b", bs.bytes()}, {"chosen", cs.bytes()}});
  ASSERT_TRUE(probe.ok()) << probe.error().to_string();
  EXPECT_THAT(values_of<int64_t>(**probe, 0),
              ElementsAre(1, 2, (int64_t{1} << 40) + 3, (int64_t{1} << 40) + 4));
}

TEST_P(GivenInputs, OpsOfLayersFindTheRowsThatTheyAreGiven) {
  graph::Graph graph(ops::registry());
  const ValueId x = given(graph, "x", "f32", "5, 4"), starts = given(graph, "starts", "i32", "3");
  const ValueId pooled = add(graph, "pool", "pooled", {x, starts}, {{"kind", std::string("last")}});
  const ValueId attended = add(graph, "packed_attention", "attended", {x, x, x, starts},
                               {{"heads", int64_t{1}}, {"kv_heads", int64_t{1}}, {"scale", 0.0}});
  const ValueId picked = add(graph, "select_rows", "picked", {x, given(graph, "rows", "i32", "2")});
  std::vector<float> values(20);
  std::iota(values.begin(), values.end(), 0.0F);
  Elements<float> xs(values);
  Elements<int32_t> first({0, 2, 5}), rows({4, 0});
  Probe::Step step;
  const std::vector<int32_t> tokens(5), runs{0, 2, 5};
  step.tokens = tokens;
  step.starts = runs;
  const std::vector<runtime::Given> all{{"x", xs.bytes()}, {"starts", first.bytes()}, {"rows", rows.bytes()}};
  const auto probe = run(graph, {pooled, attended, picked}, all, step);
  ASSERT_TRUE(probe.ok()) << probe.error().to_string();
  EXPECT_THAT(values_of<float>(**probe, 0), ElementsAre(4, 5, 6, 7, 16, 17, 18, 19));
  const std::vector<float> mean = values_of<float>(**probe, 1);
  EXPECT_NEAR(mean[0], 2, 1e-5) << "all scores are equal: the mean of the text's rows";
  EXPECT_NEAR(mean[8], 12, 1e-5);
  EXPECT_THAT(values_of<float>(**probe, 2), ElementsAre(16, 17, 18, 19, 0, 1, 2, 3));
}

TEST_P(GivenInputs, NumbersThatWouldLeadPastTheRowsAreRefused) {
  graph::Graph graph(ops::registry());
  const ValueId x = given(graph, "x", "f32", "5, 4"), numbers = given(graph, "numbers", "i32", "3");
  const ValueId picked = add(graph, "select_rows", "picked", {x, numbers});
  const ValueId pooled = add(graph, "pool", "pooled", {x, numbers}, {{"kind", std::string("mean")}});
  const ValueId attended = add(graph, "packed_attention", "attended", {x, x, x, numbers},
                               {{"heads", int64_t{1}}, {"kv_heads", int64_t{1}}, {"scale", 1.0}});
  Elements<float> xs(std::vector<float>(20));
  const auto with = [&](ValueId keep, std::vector<int32_t> given) {
    Elements<int32_t> elements(given);
    return refusal(graph, keep, {{"x", xs.bytes()}, {"numbers", elements.bytes()}});
  };
  EXPECT_EQ(with(picked, {0, 4, 4}), "it ran");
  EXPECT_THAT(with(picked, {0, 5, 1}), HasSubstr("Number 1 is 5, but there are 5 rows"));
  EXPECT_THAT(with(picked, {0, 1, -1}), HasSubstr("Number 2 is -1"));
  EXPECT_EQ(with(pooled, {0, 2, 5}), "it ran");
  for (const std::vector<int32_t>& bad :
       std::vector<std::vector<int32_t>>{{1, 2, 5}, {0, 2, 6}, {0, 5, 5}, {0, 7, 5}, {0, -1, 5}})
    EXPECT_THAT(with(pooled, bad), HasSubstr("rise from 0 to the 5 rows"));
  EXPECT_THAT(with(attended, {0, 2, 5}), HasSubstr("other sequences than those of the step"));
}

// Plans serve steps of 3 and of 4 tokens alike.
TEST_P(GivenInputs, AStepWithFewerThanAreTakenIsRefused) {
  graph::Graph graph(ops::registry());
  const ValueId x = given(graph, "x", "f32", "tokens, 2");
  const ValueId first = add(graph, "top_k", "first", {x}, {{"k", int64_t{4}}, {"axis", int64_t{0}}});
  const auto with = [&](size_t tokens) {
    const std::vector<int32_t> ids(tokens);
    std::vector<float> values(2 * tokens);
    std::iota(values.begin(), values.end(), 0.0F);
    Elements<float> xs(values);
    Probe::Step step;
    step.tokens = ids;
    return run(graph, {first}, {{"x", xs.bytes()}}, step);
  };
  const auto refused = with(3);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().to_string(), HasSubstr("has 3 elements in this step, and 4 are taken (first)"));
  const auto probe = with(4);
  ASSERT_TRUE(probe.ok()) << probe.error().to_string();
  EXPECT_THAT(values_of<float>(**probe, 0), ElementsAre(6, 7, 4, 5, 2, 3, 0, 1));
}

TEST_P(GivenInputs, MissingOrOtherBytesAreRefused) {
  graph::Graph graph(ops::registry());
  const ValueId same = add(graph, "scale", "same", {given(graph, "x", "f32", "1, 4")}, {{"factor", 2.0}});
  Elements<float> xs({1, 2, 3, 4, 5});
  EXPECT_EQ(refusal(graph, same, {}),
            "Nothing is given for f32[1, 4] (input \"x\"): give it, or connect another value");
  EXPECT_THAT(refusal(graph, same, {{"x", xs.bytes()}}),
              HasSubstr("20 bytes are given for f32[1, 4], which takes 16"));
  EXPECT_THAT(refusal(graph, same, {{"x", xs.bytes().subspan(4)}}), HasSubstr("not aligned"));
}

TEST_P(GivenInputs, AValueIsPutIntoAModel) {
  const std::vector<int32_t> text = runtime::tiny_text(21, 1);
  const auto whole = TinyModel::version(tiny_.graph(), false);
  const ValueId stream = whole->fused->node(whole->fused->find_path("layers.0.mlp_residual")).outputs.front();
  const ValueId logits = logits_of(*whole->fused);
  auto probe = run(whole, {stream, logits}, {text, 3});
  ASSERT_TRUE(probe.ok()) << probe.error().to_string();
  Elements<float> value(probe.value()->read(0).value());
  const std::vector<float> wanted = probe.value()->read(1).value();

  auto patched = std::make_shared<graph::Graph>(*tiny_.graph());
  const ValueId patch = given(*patched, "patch", "f32", "tokens, 64");
  for (const graph::Use& use : patched->users(stream))
    ASSERT_TRUE(patched->set_input(use.node, use.input, patch).ok());
  const auto version = TinyModel::version(patched, false);
  Probe::Step step{text, 3, {{"patch", value.bytes()}}};
  probe = run(version, {logits}, step);
  ASSERT_TRUE(probe.ok()) << probe.error().to_string();
  EXPECT_EQ(probe.value()->read(0).value(), wanted) << "bit for bit";

  value.set(std::vector<float>(21 * 64, 0.5F));
  ASSERT_TRUE(probe.value()->run_again().ok());
  EXPECT_NE(probe.value()->read(0).value(), wanted);
}

TEST_P(GivenInputs, EachDeviceOfAModelReadsThem) {
  const std::string home = GetParam() ? "cuda:0" : "cpu", other = GetParam() ? "cpu" : "cuda:1";
  std::vector<weights::DevicePtr> cards;
  if (!GetParam()) cards.push_back(runtime::open_device(1).value());
  graph::Graph graph(ops::registry());
  const ValueId x = given(graph, "x", "f32", "2, 2");
  const ValueId here = add(graph, "scale", "here", {x}, {{"factor", 2.0}});
  const ValueId there = add(graph, "add", "there", {here, x});
  graph.set_outputs({there});
  const auto version = runtime::placed_version(std::make_shared<const graph::Graph>(graph),
                                               {{"there", other}}, home, std::move(cards));
  Elements<float> xs({1, 2, 3, 4});
  Probe::Step step;
  step.given = {{"x", xs.bytes()}};
  const auto probe = run(version, {there}, step);
  ASSERT_TRUE(probe.ok()) << probe.error().to_string();
  for (float i = 1; i <= 4; ++i) {
    xs.set({i, 0, 0, -i});
    ASSERT_TRUE(probe.value()->run_again().ok());
    EXPECT_THAT(values_of<float>(**probe, 0), ElementsAre(3 * i, 0, 0, -3 * i));
  }
}

}  // namespace
}  // namespace orrery::generate
