// An op from outside that joins the engine's while it runs: schema, lowering and rows of its own, in a graph
// that is edited, printed, compiled and run; and what stays when it has left.
#include <gmock/gmock.h>

#include "engine/compile/trial.h"
#include "engine/edit/edit.h"
#include "engine/ops/lower_support.h"
#include "tests/engine/runtime/placed.h"

namespace orrery::runtime {
namespace {

using testing::HasSubstr;

/// dst = factor * src over rows of cols.
struct Times {
  static constexpr std::string_view kName = "times";
  struct Problem {
    int64_t cols = 0;
  };
  struct Args {
    const float* src = nullptr;
    float* dst = nullptr;
    int64_t count = 0;
    float factor = 1;
  };
};

std::string needs_lines(const Times::Problem& problem, const kernels::Machine&) {
  return problem.cols % 1024 == 0 ? "" : std::to_string(problem.cols) + " columns; it takes 1024 at a time";
}
std::string takes_all(const Times::Problem&, const kernels::Machine&) { return {}; }
void run(const Times::Args& args, const kernels::Launch&) {
  for (int64_t i = 0; i < args.count; ++i) args.dst[i] = args.factor * args.src[i];
}

const kernels::Row<Times> kRows[] = {{"cpu.times.lines", kernels::DeviceKind::cpu, needs_lines, run},
                                     {"cpu.times", kernels::DeviceKind::cpu, takes_all, run},
                                     {"cpu.times.slow", kernels::DeviceKind::cpu, takes_all, run}};

/// Its functions have a context: `extra` multiplies the factor of every node.
graph::OpSchema times_op(double extra = 1) {
  const auto lower = [extra](ops::LowerContext& context, const graph::Node& node) -> Result<ops::Lowered> {
    Times::Args args;
    args.factor = static_cast<float>(extra * ops::real(node.attributes, "factor"));
    const int64_t cols = ops::cols_of(context, node.inputs[0]);
    ORRERY_ASSIGN(auto chosen, ops::choose<Times>(context, node, {cols}));
    ORRERY_ASSIGN(const ops::RowCount rows, ops::row_count(context, node, node.inputs[0]));
    const ops::Slot src = context.slot(node.inputs[0]), dst = context.slot(node.outputs[0]);
    chosen.lowered.run = [=, run = chosen.row->run](const ops::StepContext& step) {
      auto call = args;
      call.src = step.data<const float>(src);
      call.dst = step.data<float>(dst);
      call.count = rows.at(step) * cols;
      run(call, step.launch());
    };
    return std::move(chosen.lowered);
  };
  const auto rows = [](kernels::DeviceKind device) {
    return device == kernels::DeviceKind::cpu ? kernels::RowTable{std::span<const kernels::Row<Times>>(kRows)}
                                              : kernels::RowTable();
  };
  return {.name = "times",
          .family = graph::OpFamily::custom,
          .doc = "Multiplies by a number.",
          .inputs = {{"src"}},
          .outputs = {"dst"},
          .attributes = {{"factor", "Multiplies every element", graph::Attribute(1.0)}},
          .infer = [](const graph::NodeView& view) { return ops::Types(std::vector{*view.inputs[0]}); },
          .cost =
              [](const graph::NodeView&, const Bindings&) {
                return graph::Cost{1, 1};
              },
          .lowering = std::make_shared<const ops::Lowering>(ops::Lowering{lower, nullptr, rows})};
}

class JoinedOp : public testing::Test {
 protected:
  void SetUp() override { join(); }
  void TearDown() override { leave(); }
  static void join(double extra = 1) { ASSERT_TRUE(ops::registry()->add(times_op(extra)).ok()); }
  static void leave() {
    if (!ops::registry()->find("times")) return;
    ASSERT_TRUE(ops::registry()->remove("times").ok());
  }

  /// The tiny model with a node of the op between its layers.
  std::shared_ptr<graph::Graph> graph_with(const std::string& op, double factor) const {
    auto graph = std::make_shared<graph::Graph>(*tiny_.graph());
    const ValueId stream = graph->node(graph->find_path("layers.0.mlp_residual")).outputs[0];
    const std::vector<graph::Use> users = graph->users(stream);
    graph::Transaction edit(*graph, "insert");
    const auto node =
        edit.add_node({op, "layers.0", "more", {{"factor", factor}}, {stream}, {}, users.front().node});
    EXPECT_TRUE(node.ok()) << (node.ok() ? "" : node.error().to_string());
    const ValueId more = graph->node(*node).outputs[0];
    for (const graph::Use& use : users) EXPECT_TRUE(edit.set_input(use.node, use.input, more).ok());
    EXPECT_TRUE(edit.commit().ok());
    return graph;
  }
  TinyReply reply(const graph::GraphVersion& graph) {
    return tiny_reply(
        scheduler_,
        std::make_shared<Model>(tiny_.weights, TinyModel::version(graph), TinyModel::exact_options()),
        tiny_text(17, 3), 12);
  }
  Result<std::shared_ptr<const compile::Plan>> plan(const graph::GraphVersion& graph) {
    compile::Options options;
    options.bucket = compile::bucket_for(4, 1, 1);
    return compile::compile(TinyModel::version(graph)->fused, *tiny_.weights, team_, options);
  }

  TinyModel tiny_;
  DeviceScheduler scheduler_{2};
  kernels::ThreadTeam team_{2};
};

TEST_F(JoinedOp, RunsAsTheEnginesOwnDo) {
  const auto graph = graph_with("times", 1.5);
  EXPECT_THAT(print(*graph), HasSubstr("= times("));
  const TinyReply joined = reply(graph), own = reply(graph_with("scale", 1.5)),
                  without = reply(tiny_.graph());
  EXPECT_EQ(joined.ids, own.ids);
  EXPECT_EQ(joined.logprobs, own.logprobs) << "bit for bit";
  EXPECT_NE(joined.logprobs, without.logprobs);
}

TEST_F(JoinedOp, ItsRowsAreAskedAndShown) {
  const auto compiled = plan(graph_with("times", 1.5));
  ASSERT_TRUE(compiled.ok()) << compiled.error().to_string();
  const auto& steps = compiled.value()->steps;
  const auto step = std::find_if(steps.begin(), steps.end(), [](const auto& s) { return s.op == "times"; });
  ASSERT_NE(step, steps.end());
  EXPECT_EQ(step->kernel, "cpu.times");
  ASSERT_EQ(step->refused.size(), 1U);
  EXPECT_EQ(step->refused[0].kernel, "cpu.times.lines");
  EXPECT_THAT(step->refused[0].reason, HasSubstr("1024 at a time"));
  EXPECT_EQ(step->after, std::vector<std::string>{"cpu.times.slow"});
}

TEST_F(JoinedOp, IsEditedByARecipe) {
  const auto graph = graph_with("times", 1.0);
  const auto recipe = edit::parse_recipe(
      edit::write_recipe({{edit::parse_edit("set node=layers.0.more attribute=factor value=1.5").value()}}));
  ASSERT_TRUE(recipe.ok());
  const auto journal = edit::apply(*graph, recipe->edits.front());
  ASSERT_TRUE(journal.ok()) << journal.error().to_string();
  EXPECT_EQ(reply(graph).logprobs, reply(graph_with("scale", 1.5)).logprobs);
}

TEST_F(JoinedOp, WithoutRowsForADeviceIsRefusedThere) {
  const auto graph = graph_with("times", 1.5);
  const auto refused = compile::refusal(*graph, graph->node(graph->find_path("layers.0.more")),
                                        kernels::cuda_id(0), compile::PlacementOptions{});
  EXPECT_EQ(refused, "No CUDA kernel can run this times: there is none for it");
}

TEST_F(JoinedOp, HasLeftAndStaysInTheGraphsThatHaveIt) {
  const auto graph = graph_with("times", 1.5);
  const TinyReply before = reply(graph);
  leave();
  EXPECT_EQ(reply(graph).logprobs, before.logprobs) << "compiled anew";
  const ValueId value = graph->node(graph->find_path("layers.0.more")).outputs[0];
  const auto another = graph->add_node({"times", "layers.1", "more", {}, {value}, {}, {}});
  ASSERT_FALSE(another.ok());
  EXPECT_EQ(another.error().to_string(), "There is no op times (layers.1.more)");

  join(2);  // another op of the same name
  EXPECT_EQ(reply(graph).logprobs, before.logprobs) << "its graph has the first";
  EXPECT_EQ(reply(graph_with("times", 0.75)).logprobs, before.logprobs);
  const auto last = [](const graph::Graph& g) { return g.feed_hash(g.outputs().back()); };
  EXPECT_NE(last(*graph_with("times", 1.5)), last(*graph)) << "one's context is not the other's";
}

}  // namespace
}  // namespace orrery::runtime
