// What the lowerings share: choosing a row, finding operands, counting rows at run time.
#pragma once

#include <fmt/format.h>

#include "engine/ops/infer_support.h"
#include "engine/ops/lowering.h"
#include "kernels/device_module.h"

namespace orrery::ops {

/// A first dim as plain numbers, so that a closure can carry it.
struct RowCount {
  int64_t constant = 0, tokens = 0, sequences = 0, outputs = 0;
  int64_t at(const StepContext& context) const {
    return constant + tokens * context.tokens + sequences * context.sequences + outputs * context.outputs;
  }
};
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
/// Where a weight's stored bytes lie; refuses a value that is no weight.
Result<const void*> stored_weight(LowerContext& context, const graph::Node& node, ValueId value,
                                  const kernels::WeightPacking* packing);

Error no_row(const LowerContext& context, const graph::Node& node,
             const std::vector<kernels::Refusal>& refused);

/// A lowering onto the rows that the program and its modules have of a kernel op.
template <class Kernel>
std::shared_ptr<const Lowering> lowered_to(decltype(Lowering::lower) lower,
                                           decltype(Lowering::rounding) rounding = nullptr) {
  return std::make_shared<const Lowering>(Lowering{
      std::move(lower), std::move(rounding),
      [](kernels::DeviceKind device) { return kernels::RowList(kernels::rows_of<Kernel>(device)); }});
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

/// The first row that supports the problem; when none does, the error lists every reason.
template <class Kernel>
Result<Chosen<Kernel>> choose(LowerContext& context, const graph::Node& node,
                              const typename Kernel::Problem& problem) {
  kernels::Selection<Kernel> selection =
      kernels::select(rows_for<Kernel>(context, node), problem, context.machine());
  if (!selection.row) return no_row(context, node, selection.refused);
  Chosen<Kernel> chosen{selection.row, {}};
  chosen.lowered.kernel = std::string(selection.row->name);
  chosen.lowered.refused = std::move(selection.refused);
  chosen.lowered.after = std::move(selection.after);
  chosen.lowered.arithmetic = selection.row->arithmetic;
  if (selection.row->workspace)
    chosen.lowered.workspace_bytes = selection.row->workspace(problem, context.machine(), context.threads());
  return chosen;
}

template <class Kernel>
Rounding rounding_of_row(const LowerContext& context, const graph::Node& node,
                         const typename Kernel::Problem& problem) {
  const kernels::Row<Kernel>* row =
      kernels::select(rows_for<Kernel>(context, node), problem, context.machine()).row;
  Rounding rounding;
  if (row && row->reads) rounding.reads = row->reads(problem);
  if (row && row->writes) rounding.writes = row->writes(problem);
  return rounding;
}

}  // namespace orrery::ops
