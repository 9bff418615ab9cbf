// What the lowerings share: choosing a row, finding operands, counting rows at run time.
#pragma once

#include <fmt/format.h>

#include <algorithm>

#include "engine/ops/infer_support.h"
#include "engine/ops/lowering.h"
#include "kernels/device_module.h"

namespace orrery::ops {

/// The first dim of the value's shape.
Result<RowCount> row_count(LowerContext& context, const graph::Node& node, ValueId value);

/// Row counts that the plan's bucket may bring. A step has no more sequences than tokens.
struct RowBounds {
  int64_t min = 1, max = 1;
};
RowBounds bounds(const LowerContext& context, const RowCount& rows);

/// The last dim of the value's shape, 0 for none.
int64_t cols_of(LowerContext& context, ValueId value);

/// Where a float32 operand lies: the slot, or for a weight its bytes (converted to f32 once where stored
/// otherwise).
Result<Slot> float_operand(LowerContext& context, ValueId value);
/// What made a value, wherever transfers carried it since.
const graph::Node& maker_of(const graph::Graph& graph, ValueId value);
/// Where numbers lie by which a kernel finds rows of the node's first input, unchecked: refuses all but those
/// that an op made, "input" or another that keeps them in range. Those of the step find rows of its tokens
/// alone; given ones are checked before the step (graph::Finds).
Result<Slot> indices_of(LowerContext& context, const graph::Node& node, size_t input, std::string_view maker);
/// Of a packing in float32.
size_t float_bytes(DType, int64_t rows, int64_t cols);
/// Where a weight's stored bytes lie; refuses a value that is no weight.
Result<const void*> stored_weight(LowerContext& context, const graph::Node& node, ValueId value,
                                  const kernels::WeightPacking* packing);

Error no_row(const LowerContext& context, const graph::Node& node,
             const std::vector<kernels::Refusal>& refused);

/// A lowering onto the rows that the program and its modules have of kernel ops.
template <class... Kernels>
std::shared_ptr<const Lowering> lowered_to(decltype(Lowering::lower) lower,
                                           decltype(Lowering::rounding) rounding = nullptr) {
  return std::make_shared<const Lowering>(Lowering{
      std::move(lower), std::move(rounding),
      [](kernels::DeviceKind device) { return kernels::RowTable{kernels::rows_of<Kernels>(device)...}; }});
}

/// The rows that the node's op has here.
template <class Kernel>
std::span<const kernels::Row<Kernel>> rows_for(const LowerContext& context, const graph::Node& node) {
  return node.op->lowering->rows(context.device()).template of<Kernel>();
}

template <class Kernel>
struct Chosen {
  const kernels::Row<Kernel>* row = nullptr;
  Lowered lowered;  // all but run
};

/// What the row rounds of the problem, at most, over the outputs.
template <class Kernel>
kernels::Rounded rounded_by(const kernels::Row<Kernel>& row, const typename Kernel::Problem& problem) {
  int outputs = 1;
  if constexpr (requires { problem.segment_count; }) outputs = problem.segment_count;
  kernels::Rounded most = kernels::Rounded::no;
  for (int i = 0; row.rounding && i < outputs; ++i)
    if (const kernels::Rounded one = row.rounding(problem, i).activations;
        kernels::coarseness(one) > kernels::coarseness(most))
      most = one;
  return most;
}

/// What the chosen row computes in, of what the problem asks for.
template <class Kernel>
Computed computed_by(const LowerContext& context, const graph::Node& node, const kernels::Row<Kernel>& chosen,
                     const typename Kernel::Problem& problem) {
  Computed computed{problem.precision, rounded_by(chosen, problem), ""};
  const kernels::Rounded wanted = kernels::coarsest(problem.precision);
  if (problem.precision == kernels::Precision::balanced || computed.rounds == wanted) return computed;
  for (const kernels::Row<Kernel>& row : rows_for<Kernel>(context, node)) {
    if (rounded_by(row, problem) != wanted) continue;
    computed.reason = row.supports(problem, context.machine());
    if (computed.reason.empty()) computed.reason = fmt::format("{} comes before {}", chosen.name, row.name);
    return computed;
  }
  computed.reason = fmt::format("no kernel of {} rounds to {} here", Kernel::kName, name_of(wanted));
  return computed;
}

/// The first of some rows that supports the problem; when none does, the error lists every reason.
template <class Kernel>
Result<Chosen<Kernel>> choose(LowerContext& context, const graph::Node& node,
                              const typename Kernel::Problem& problem,
                              std::span<const kernels::Row<Kernel>> rows) {
  kernels::Selection<Kernel> selection = kernels::select(rows, problem, context.machine());
  if (!selection.row) return no_row(context, node, selection.refused);
  Chosen<Kernel> chosen{selection.row, {}};
  chosen.lowered.kernel = std::string(selection.row->name);
  chosen.lowered.refused = std::move(selection.refused);
  chosen.lowered.after = std::move(selection.after);
  chosen.lowered.arithmetic = selection.row->arithmetic;
  if constexpr (requires { problem.precision; })
    chosen.lowered.computed = computed_by(context, node, *selection.row, problem);
  if (selection.row->workspace)
    chosen.lowered.workspace_bytes = selection.row->workspace(problem, context.machine(), context.threads());
  return chosen;
}
template <class Kernel>
Result<Chosen<Kernel>> choose(LowerContext& context, const graph::Node& node,
                              const typename Kernel::Problem& problem) {
  return choose<Kernel>(context, node, problem, rows_for<Kernel>(context, node));
}

template <class Kernel>
Rounding rounding_of_row(const LowerContext& context, const graph::Node& node,
                         const typename Kernel::Problem& problem) {
  const std::span<const kernels::Row<Kernel>> rows = rows_for<Kernel>(context, node);
  Rounding rounding;
  if (std::ranges::none_of(rows, [](const auto& row) { return row.reads || row.writes; })) return rounding;
  const kernels::Row<Kernel>* row = kernels::select(rows, problem, context.machine()).row;
  if (row && row->reads) rounding.reads = row->reads(problem);
  if (row && row->writes) rounding.writes = row->writes(problem);
  return rounding;
}

}  // namespace orrery::ops
