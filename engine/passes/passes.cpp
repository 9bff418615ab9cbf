#include "engine/passes/passes.h"

#include <fmt/format.h>

#include <array>
#include <chrono>

#include "engine/passes/pass_list.h"

namespace orrery::passes {
namespace {

/// A pass that looks at the graph alone.
template <Result<int> (*rewrite)(graph::Graph&)>
Result<int> of_graph(Draft& draft, const RoundingOf&) {
  return rewrite(draft.edit());
}

constexpr std::array kPasses = {
    Pass{"fold_constants", "Computes what depends on constants only, and drops steps that change nothing.",
         Stage::model, of_graph<fold_constants>},
    Pass{"split_weights", "Reads the part of a weight that a split takes as a weight of its own.",
         Stage::model, of_graph<split_weights>},
    Pass{"merge_low_rank",
         "Adds an adapter's low-rank matrices to the float32 matrix beside which they stand.", Stage::model,
         of_graph<merge_low_rank>},
    Pass{"remove_dead_nodes", "Drops what no output needs: bypassed layers, and weights that nothing reads.",
         Stage::model, of_graph<remove_dead_nodes>},
    Pass{"summarise_fastmax", "Takes tokens into a summary and reads it in one node, as it alone can run.",
         Stage::model, of_graph<summarise_fastmax>},
    Pass{"fuse_residual_norm", "Adds the residual and normalises in one pass over the row.", Stage::model,
         of_graph<fuse_residual_norm>},
    Pass{"fuse_qkv", "Reads the activations once for the query, key and value projections.", Stage::model,
         of_graph<fuse_qkv>},
    Pass{"fuse_gate_up",
         "Computes the gate and up projections, the activation and the product as one matmul.", Stage::model,
         of_graph<fuse_gate_up>},
    Pass{"fuse_bias_activation", "Applies the activation function while the matmul writes its result.",
         Stage::model, of_graph<fuse_bias_activation>},
    Pass{"store_rounded", "Stores in 16 bits what all who read it would round to them, where its kernel can.",
         Stage::plan, store_rounded},
};

Error internal_error(const Pass& pass, const Error& reason) {
  return {ErrorCode::internal, fmt::format("The pass {} failed: {}", pass.name, reason.what), reason.where,
          "switch this pass off, and report this model"};
}

Result<Record> run_pass(const Pass& pass, Draft& draft, const Options& options, const RoundingOf& rounding) {
  Record record;
  record.pass = pass.name;
  record.disabled = options.disabled.contains(pass.name) || (is_fusion(pass) && !options.fusion);
  if (!record.disabled) {
    const auto begin = std::chrono::steady_clock::now();
    auto rewrites = pass.run(draft, rounding);
    if (!rewrites.ok()) return internal_error(pass, rewrites.error());
    record.rewrites = *rewrites;
    if (record.rewrites > 0)
      if (const auto problems = graph::verify(draft.graph()); !problems.empty())
        return internal_error(pass, problems.front().error);
    record.milliseconds =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  }
  if (options.snapshots) record.after = std::make_shared<const graph::Graph>(draft.graph());
  return record;
}

Result<Outcome> run_stage(Stage stage, Draft draft, const Options& options, const RoundingOf& rounding) {
  Outcome outcome;
  for (const Pass& pass : kPasses) {
    if (pass.stage != stage) continue;
    ORRERY_ASSIGN(Record record, run_pass(pass, draft, options, rounding));
    outcome.records.push_back(std::move(record));
  }
  outcome.graph = draft.version();
  return outcome;
}

}  // namespace

bool is_fusion(const Pass& pass) { return pass.name.starts_with("fuse_"); }

std::span<const Pass> all_passes() { return kPasses; }

Result<Outcome> run_passes(const graph::Graph& graph, const Options& options) {
  return run_stage(Stage::model, Draft(graph), options, {});
}

Result<Outcome> run_plan_passes(graph::GraphVersion placed, const Options& options,
                                const RoundingOf& rounding) {
  return run_stage(Stage::plan, Draft(std::move(placed)), options, rounding);
}

}  // namespace orrery::passes
