// An op whose kernels round to bf16 what they read, in a tiny model: what is stored rounded is seen without a
// card.
#pragma once

#include "engine/ops/lower_support.h"
#include "kernels/half.h"
#include "tests/engine/runtime/tiny_model.h"

namespace orrery::runtime {

/// dst = src, rounded to bf16 when it is read, in steps of more than one token.
struct Rounded {
  static constexpr std::string_view kName = "rounded";
  struct Problem {
    int64_t tokens = 1;
    DType src = DType::f32, dst = DType::f32;
  };
  static kernels::Storage storage(const Problem& problem) { return {problem.src, problem.dst}; }
  struct Args {
    Problem problem;
    const void* src = nullptr;
    void* dst = nullptr;
    int64_t count = 0;
  };
};

inline std::string rounds_all(const Rounded::Problem&, const kernels::Machine&) { return {}; }
inline DType rounds_to(const Rounded::Problem& problem) {
  return problem.tokens > 1 ? DType::bf16 : DType::f32;
}
inline void run_rounded(const Rounded::Args& args, const kernels::Launch&) {
  for (int64_t i = 0; i < args.count; ++i) {
    const uint16_t bits = args.problem.src == DType::bf16
                              ? static_cast<const uint16_t*>(args.src)[i]
                              : kernels::bf16_from_float(static_cast<const float*>(args.src)[i]);
    if (args.problem.dst == DType::bf16)
      static_cast<uint16_t*>(args.dst)[i] = bits;
    else
      static_cast<float*>(args.dst)[i] = kernels::float_from_bf16(bits);
  }
}
inline const kernels::Row<Rounded> kRoundedRows[] = {{.name = "cpu.rounded",
                                                      .device = kernels::DeviceKind::cpu,
                                                      .supports = rounds_all,
                                                      .run = run_rounded,
                                                      .reads = rounds_to,
                                                      .writes = rounds_to}};

inline Rounded::Problem rounded_problem(const ops::LowerContext& context, const graph::Node& node) {
  return {context.max_tokens(), context.type(node.inputs[0]).dtype, context.type(node.outputs[0]).dtype};
}

inline graph::OpSchema rounded_op() {
  const auto lower = [](ops::LowerContext& context, const graph::Node& node) -> Result<ops::Lowered> {
    Rounded::Args args{rounded_problem(context, node)};
    ORRERY_ASSIGN(auto chosen, ops::choose<Rounded>(context, node, args.problem));
    ORRERY_ASSIGN(const ops::RowCount rows, ops::row_count(context, node, node.inputs[0]));
    const int64_t cols = ops::cols_of(context, node.inputs[0]);
    const ops::Slot src = context.slot(node.inputs[0]), dst = context.slot(node.outputs[0]);
    chosen.lowered.run = [=, run = chosen.row->run](const ops::StepContext& step) {
      auto call = args;
      call.src = step.data<const void>(src);
      call.dst = step.data<void>(dst);
      call.count = rows.at(step) * cols;
      run(call, step.launch());
    };
    return std::move(chosen.lowered);
  };
  const auto rounding = [](ops::LowerContext& context, const graph::Node& node) {
    return ops::rounding_of_row<Rounded>(context, node, rounded_problem(context, node));
  };
  const auto rows = [](kernels::DeviceKind) {
    return kernels::RowTable{std::span<const kernels::Row<Rounded>>(kRoundedRows)};
  };
  const auto infer = [](const graph::NodeView& view) -> ops::Types {
    ORRERY_ASSIGN(const ops::Matrix src, ops::rounded_activation(view, 0, "src"));
    return std::vector{ops::f32(src.rows, src.cols)};
  };
  return {.name = "rounded",
          .family = graph::OpFamily::custom,
          .doc = "Rounds to bf16.",
          .inputs = {{"src"}},
          .outputs = {"dst"},
          .infer = infer,
          .cost =
              [](const graph::NodeView& view, const Bindings& bindings) {
                return graph::Cost{
                    0, ops::bytes(*view.inputs[0], bindings) + ops::bytes(*view.outputs[0], bindings)};
              },
          .lowering = std::make_shared<const ops::Lowering>(ops::Lowering{lower, rounding, rows})};
}

/// The op, registered while this lives.
class RoundedOp {
 public:
  RoundedOp() { EXPECT_TRUE(ops::registry()->add(rounded_op()).ok()); }
  ~RoundedOp() { EXPECT_TRUE(ops::registry()->remove("rounded").ok()); }
  RoundedOp(const RoundedOp&) = delete;
  RoundedOp& operator=(const RoundedOp&) = delete;

  /// The model with three roundings one after another at the end of its first layer, of which the first two
  /// can be stored: "layers.0.first", "second", "third".
  graph::GraphVersion graph_of(const TinyModel& tiny) const {
    auto graph = std::make_shared<graph::Graph>(*tiny.graph());
    ValueId last = graph->node(graph->find_path("layers.0.mlp_residual")).outputs[0];
    const std::vector<graph::Use> users = graph->users(last);
    for (const char* name : {"first", "second", "third"}) {
      const auto node = graph->add_node({"rounded", "layers.0", name, {}, {last}, {}, users.front().node});
      EXPECT_TRUE(node.ok()) << node.error().to_string();
      last = graph->node(*node).outputs[0];
    }
    for (const graph::Use& use : users) EXPECT_TRUE(graph->set_input(use.node, use.input, last).ok());
    return graph;
  }
};

/// "bf16[tokens, 64]", of the node's first output.
inline std::string type_made_by(const graph::Graph& graph, const std::string& path) {
  return to_string(graph.value(graph.node(graph.find_path(path)).outputs[0]).type);
}

}  // namespace orrery::runtime
