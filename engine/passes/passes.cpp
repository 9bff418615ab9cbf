#include "engine/passes/passes.h"

#include <fmt/format.h>

#include <array>
#include <chrono>

#include "engine/passes/pass_list.h"

namespace orrery::passes {
namespace {

constexpr std::array kPasses = {
    Pass{"fold_constants", "Computes what depends on constants only, and drops steps that change nothing.",
         fold_constants},
    Pass{"split_weights", "Reads the part of a weight that a split takes as a weight of its own.",
         split_weights},
    Pass{"remove_dead_nodes", "Drops what no output needs: bypassed layers, and weights that nothing reads.",
         remove_dead_nodes},
    Pass{"fuse_residual_norm", "Adds the residual and normalises in one pass over the row.",
         fuse_residual_norm},
    Pass{"fuse_qkv", "Reads the activations once for the query, key and value projections.", fuse_qkv},
    Pass{"fuse_gate_up",
         "Computes the gate and up projections, the activation and the product as one matmul.", fuse_gate_up},
    Pass{"fuse_bias_activation", "Applies the activation function while the matmul writes its result.",
         fuse_bias_activation},
};

bool is_fusion(const Pass& pass) { return pass.name.starts_with("fuse_"); }

Error internal_error(const Pass& pass, const Error& reason) {
  return {ErrorCode::internal, fmt::format("The pass {} failed: {}", pass.name, reason.what), reason.where,
          "switch this pass off, and report this model"};
}

Result<Record> run_pass(const Pass& pass, graph::Graph& graph, const Options& options) {
  Record record;
  record.pass = pass.name;
  record.disabled = options.disabled.contains(pass.name) || (is_fusion(pass) && !options.fusion);
  if (!record.disabled) {
    const auto begin = std::chrono::steady_clock::now();
    auto rewrites = pass.run(graph);
    if (!rewrites.ok()) return internal_error(pass, rewrites.error());
    record.rewrites = *rewrites;
    if (record.rewrites > 0)
      if (const auto problems = graph::verify(graph); !problems.empty())
        return internal_error(pass, problems.front().error);
    record.milliseconds =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  }
  if (options.snapshots) record.after = std::make_shared<const graph::Graph>(graph);
  return record;
}

}  // namespace

std::span<const Pass> all_passes() { return kPasses; }

Result<Outcome> run_passes(const graph::Graph& graph, const Options& options) {
  Outcome outcome;
  auto rewritten = std::make_shared<graph::Graph>(graph);
  for (const Pass& pass : kPasses) {
    ORRERY_ASSIGN(Record record, run_pass(pass, *rewritten, options));
    outcome.records.push_back(std::move(record));
  }
  outcome.graph = std::move(rewritten);
  return outcome;
}

}  // namespace orrery::passes
