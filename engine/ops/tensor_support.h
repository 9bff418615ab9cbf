// What the ops on tensors of any type and rank share: promotion and broadcasting, and shapes and operands
// when a step runs.
#pragma once

#include <array>

#include "engine/ops/lower_support.h"
#include "kernels/strided.h"

namespace orrery::ops {

/// Refuses what is stored in blocks or as 8-bit floats, and more dims than kernels walk.
Result<void> expect_elements(const NodeView& view, size_t input, std::string_view name);
/// And what is no float.
Result<void> expect_floats(const NodeView& view, size_t input, std::string_view name);

/// The one of two types that holds every value of the other exactly: the category (bool < unsigned < signed
/// < float) and the width are the larger of both. Nothing where neither does, such as of u8 and i8, i32 and
/// f32, f16 and bf16: no third, wider type is made (seeds: the Graph API).
std::optional<DType> promoted(DType a, DType b);
Result<DType> promote(const NodeView& view, size_t a, std::string_view a_name, size_t b,
                      std::string_view b_name);

/// NumPy's rule: dims are compared from the last; equal ones stay, one of 1 becomes the other, a missing one
/// counts as 1. Symbolic dims are equal, or no dims for each other. `until` last dims are left out.
Result<Shape> broadcast(const NodeView& view, size_t a, std::string_view a_name, size_t b,
                        std::string_view b_name, size_t until = 0);

/// The place of an axis of which negative ones are counted from the end.
Result<size_t> axis_of(const NodeView& view, size_t input, std::string_view name, int64_t axis);

/// A shape that a closure can carry.
struct StepShape {
  int rank = 0;
  std::array<RowCount, kernels::kMaxRank> extents = {};

  /// Writes `rank` sizes.
  void at(const StepContext& step, int64_t* sizes) const {
    for (int d = 0; d < rank; ++d) sizes[d] = extents[static_cast<size_t>(d)].at(step);
  }
  /// Of dims [begin, end).
  int64_t product(const StepContext& step, int begin, int end) const {
    int64_t product = 1;
    for (int d = begin; d < end; ++d) product *= extents[static_cast<size_t>(d)].at(step);
    return product;
  }
  /// The strides of a value of this shape that is read as one of `wider` dims: 0 where it is broadcast.
  void broadcast_strides(const StepContext& step, int wider, int64_t* strides) const;
};
Result<StepShape> step_shape(LowerContext& context, const graph::Node& node, ValueId value);

/// Where the elements of a value lie: its slot, or a weight's stored bytes.
Result<Slot> elements_of(LowerContext& context, ValueId value);
/// Nothing for an input that is not connected.
Result<Slot> optional_elements(LowerContext& context, ValueId value);
/// Nothing for an output that is not there or that nobody reads.
Slot read_slot(LowerContext& context, const graph::Node& node, size_t output);

/// Nothing for an input that is not connected.
Result<Slot> optional_elements(LowerContext& context, ValueId value);
/// Nothing for an output that is not there or that nobody reads.
Slot read_slot(LowerContext& context, const graph::Node& node, size_t output);

/// Lowers a node that goes along dims [begin, end) of its first input: outer, count, inner, src and dst of
/// the kernel's call are those of a step.
template <class Kernel>
Result<Lowered> lower_along(LowerContext& context, const graph::Node& node,
                            const typename Kernel::Problem& problem, const typename Kernel::Args& args,
                            int begin, int end) {
  ORRERY_ASSIGN(const StepShape shape, step_shape(context, node, node.inputs[0]));
  ORRERY_ASSIGN(auto chosen, choose<Kernel>(context, node, problem));
  ORRERY_ASSIGN(const Slot src, elements_of(context, node.inputs[0]));
  const Slot dst = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.outer = shape.product(step, 0, begin);
    call.count = shape.product(step, begin, end);
    call.inner = shape.product(step, end, shape.rank);
    call.src = step.address(src);
    call.dst = step.data<void>(dst);
    if (call.outer > 0 && call.inner > 0) run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

/// The output of a node whose bytes are moved: no flops, what it reads and writes once.
Cost cost_moved(const NodeView& view, const Bindings& bindings);

}  // namespace orrery::ops
