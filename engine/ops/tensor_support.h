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

/// The output of a node whose bytes are moved: no flops, what it reads and writes once.
Cost cost_moved(const NodeView& view, const Bindings& bindings);

}  // namespace orrery::ops
