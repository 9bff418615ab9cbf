// Where the nodes of a small generator run: as asked, or on the CPU with the reason; what is carried across.
#include "engine/compile/placement.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <set>

#include "engine/edit/edit.h"
#include "tests/engine/runtime/tiny_model.h"

namespace orrery::compile {
namespace {

using runtime::TinyModel;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class PlacementTest : public testing::Test {
 protected:
  ~PlacementTest() override { unsetenv("ORRERY_FAKE_DEVICE_LACKS"); }
  static void lacks(const char* kind) { setenv("ORRERY_FAKE_DEVICE_LACKS", kind, 1); }

  /// The tiny model after the edits, as it would run.
  Placement placed(const std::vector<std::string>& words, const std::string& home = "cpu",
                   bool fusion = true) {
    auto model = std::make_shared<graph::Graph>(*tiny_.graph());
    for (const std::string& edit : words) {
      const auto applied = edit::apply(*model, edit::parse_edit(edit).value());
      EXPECT_TRUE(applied.ok()) << edit;
    }
    passes::Options options;
    options.fusion = fusion;
    fused_ = passes::run_passes(*without_home(model, home), options).value().graph;
    PlacementOptions place_options;
    place_options.home = home;
    auto placement = place(fused_, place_options);
    EXPECT_TRUE(placement.ok()) << (placement.ok() ? "" : placement.error().to_string());
    check(*placement->graph, home);
    return std::move(placement).value();
  }

  /// Every value is read where it lies, and carried to a device once.
  static void check(const graph::Graph& graph, const std::string& home) {
    EXPECT_THAT(verify(graph), IsEmpty());
    std::set<std::pair<ValueId, std::string>> copies;
    for (const NodeId id : graph.order()) {
      const graph::Node& node = graph.node(id);
      if (node.is_source()) continue;
      EXPECT_TRUE(is_transfer(node) || device_of(node) != home) << "home is not named: " << node.path();
      const std::string device = device_in(graph, id, home);
      for (const ValueId input : node.inputs) {
        if (!input.valid() || graph.node(graph.value(input).producer).is_source()) continue;
        const bool same = device_in(graph, graph.value(input).producer, home) == device;
        EXPECT_NE(same, is_transfer(node)) << node.path() << " reads " << graph.value_path(input);
        EXPECT_TRUE(!is_transfer(node) || copies.emplace(input, device).second) << node.path();
      }
    }
  }

  static std::string device_in(const graph::Graph& graph, NodeId id, const std::string& home) {
    const std::string_view device = device_of(graph.node(id));
    return device.empty() ? home : std::string(device);
  }

  static std::vector<std::string> transfers(const graph::Graph& graph) {
    std::vector<std::string> found;
    for (const NodeId id : graph.order())
      if (const graph::Node& node = graph.node(id); is_transfer(node))
        found.push_back(node.path() + " " + std::string(device_of(node)));
    return found;
  }

  static const Moved* moved(const Placement& placement, std::string_view op) {
    for (const Moved& entry : placement.moved)
      if (placement.graph->node(entry.node).op->name == op) return &entry;
    return nullptr;
  }

  TinyModel tiny_;
  graph::GraphVersion fused_;
};

TEST_F(PlacementTest, AllAtHomeIsTheSameGraph) {
  for (const char* home : {"cpu", "cuda:0"}) {
    const Placement placement = placed({}, home);
    EXPECT_EQ(placement.graph, fused_);
    EXPECT_THAT(placement.moved, IsEmpty());
  }
  EXPECT_THAT(placed({}).cards, IsEmpty());
  EXPECT_THAT(placed({}, "cuda:1").cards, ElementsAre(kernels::cuda_id(1)));
  EXPECT_EQ(placed({"place scope=* device=cpu"}).graph, fused_) << "home by its name is home";
}

TEST_F(PlacementTest, ALayerOnTheCardIsEnteredAndLeftByOneTransferEach) {
  const Placement placement = placed({"place scope=layers.0 device=cuda:0"});
  EXPECT_THAT(placement.cards, ElementsAre(kernels::cuda_id(0)));
  EXPECT_THAT(placement.moved, IsEmpty());
  EXPECT_THAT(transfers(*placement.graph),
              ElementsAre("layers.0.embed_to_cuda0 cuda:0", "layers.1.mlp_residual_to_cpu cpu"));
  for (const NodeId id : placement.graph->order()) {
    const graph::Node& node = placement.graph->node(id);
    if (node.is_source() || is_transfer(node)) continue;
    EXPECT_EQ(device_of(node), node.scope.starts_with("layers.0") ? "cuda:0" : "") << node.path();
  }
}

TEST_F(PlacementTest, ALayerOfTheCardsModelOnTheCpu) {
  const Placement placement = placed({"place scope=layers.1 device=cpu"}, "cuda:0");
  EXPECT_THAT(placement.cards, ElementsAre(kernels::cuda_id(0)));
  EXPECT_THAT(transfers(*placement.graph),
              ElementsAre("layers.1.mlp_residual_to_cpu cpu", "output.mlp_residual_to_cuda0 cuda:0"));
}

TEST_F(PlacementTest, WhatTheCardHasNoKernelForRunsOnTheCpuAndSaysWhy) {
  lacks("sample");
  for (const char* home : {"cpu", "cuda:0"}) {
    const Placement placement = placed({"place scope=* device=cuda:0"}, home);
    ASSERT_EQ(placement.moved.size(), 1U);
    const Moved& sampler = placement.moved.front();
    EXPECT_EQ(placement.graph->node(sampler.node).op->name, "sample");
    EXPECT_EQ(sampler.asked, "cuda:0");
    EXPECT_EQ(sampler.device, "cpu");
    EXPECT_THAT(sampler.reason, AllOf(HasSubstr("No CUDA kernel can run this sample: cuda.test."),
                                      HasSubstr("the test device has no sample")));
    EXPECT_THAT(transfers(*placement.graph), ElementsAre("sampler.head_to_cpu cpu"));
  }
}

TEST_F(PlacementTest, KernelsForAllStepsAreNeeded) {
  lacks("linear.prefill");
  const Placement placement = placed({"place scope=output.head device=cuda:0"});
  const Moved* head = moved(placement, "linear");
  ASSERT_NE(head, nullptr) << "one token would run, a prompt would not";
  EXPECT_THAT(head->reason, HasSubstr("the test device takes one token in linear"));
  EXPECT_THAT(placement.cards, IsEmpty());
  EXPECT_EQ(placement.graph->node(head->node).attributes.count("device"), 0U) << "home is the CPU";
}

TEST_F(PlacementTest, AStateIsReadWhereItIsWritten) {
  const Placement placement = placed({"place scope=layers.0.append device=cuda:0"}, "cpu", false);
  const Moved* reader = moved(placement, "attention");
  ASSERT_NE(reader, nullptr);
  EXPECT_EQ(reader->asked, "cpu");
  EXPECT_EQ(reader->device, "cuda:0");
  EXPECT_THAT(reader->reason,
              HasSubstr("the state that it reads lies there, where layers.0.append writes it"));
}

TEST_F(PlacementTest, AStateThatTheCardCannotReadStaysOnTheCpu) {
  lacks("attention");
  const Placement placement = placed({"place scope=layers.0 device=cuda:0"});
  const Moved *reader = moved(placement, "attention"), *writer = moved(placement, "kv_append");
  ASSERT_TRUE(reader && writer);
  EXPECT_EQ(placement.moved.size(), 2U) << "the rest of the layer runs on the card";
  EXPECT_THAT(placement.cards, ElementsAre(kernels::cuda_id(0)));
  EXPECT_EQ(reader->device, "cpu");
  EXPECT_THAT(reader->reason, HasSubstr("the test device has no attention"));
  EXPECT_EQ(writer->device, "cpu");
  EXPECT_THAT(writer->reason,
              AllOf(HasSubstr("shares its state with layers.0."), HasSubstr("has no attention")));
}

TEST_F(PlacementTest, LayersOnTwoCardsAreJoinedByOneTransferBetweenThem) {
  const Placement placement =
      placed({"place scope=layers.0 device=cuda:0", "place scope=layers.1 device=cuda:2"});
  EXPECT_THAT(placement.cards, ElementsAre(kernels::cuda_id(0), kernels::cuda_id(2)));
  EXPECT_THAT(placement.moved, IsEmpty());
  EXPECT_THAT(transfers(*placement.graph),
              ElementsAre("layers.0.embed_to_cuda0 cuda:0", "layers.1.mlp_residual_to_cuda2 cuda:2",
                          "output.mlp_residual_to_cpu cpu"));
}

TEST_F(PlacementTest, WhatOneCardHasNoKernelForRunsOnTheCpuFromAnyCard) {
  lacks("sample");
  const Placement placement =
      placed({"place scope=output device=cuda:1", "place scope=sampler device=cuda:2"});
  ASSERT_EQ(placement.moved.size(), 1U);
  EXPECT_EQ(placement.moved[0].asked, "cuda:2");
  EXPECT_EQ(placement.moved[0].device, "cpu");
  EXPECT_THAT(placement.cards, ElementsAre(kernels::cuda_id(1)));
}

TEST_F(PlacementTest, CardsThatAreAskedForAreHomeAndThoseOfLiveNodes) {
  auto model = std::make_shared<graph::Graph>(*tiny_.graph());
  EXPECT_THAT(cards_asked(*model, "cpu"), IsEmpty());
  EXPECT_THAT(cards_asked(*model, "cuda:1"), ElementsAre(kernels::cuda_id(1)));
  for (const char* words : {"place scope=layers.0 device=cuda:2", "place scope=output device=cuda:0"})
    ASSERT_TRUE(edit::apply(*model, edit::parse_edit(words).value()).ok());
  EXPECT_THAT(cards_asked(*model, "cuda:1"),
              ElementsAre(kernels::cuda_id(0), kernels::cuda_id(1), kernels::cuda_id(2)));
  ASSERT_TRUE(edit::apply(*model, edit::parse_edit("bypass scope=layers.0").value()).ok());
  EXPECT_THAT(cards_asked(*model, "cpu"), ElementsAre(kernels::cuda_id(0)));
}

}  // namespace
}  // namespace orrery::compile
