#include "engine/ops/tensor_support.h"

#include <algorithm>

namespace orrery::ops {
namespace {

int bits_of(DType dtype) { return 8 * dtype_info(dtype).block_bytes; }

/// Whole numbers to 2^digits are exact.
int digits_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return 24;
    case DType::f16:
      return 11;
    case DType::bf16:
      return 8;
    case DType::u8:
      return 8;
    case DType::boolean:
      return 1;
    default:
      return bits_of(dtype) - 1;
  }
}

/// `to` has every value of `from`.
bool holds(DType to, DType from) {
  if (to == from) return true;
  if (is_float(from)) return to == DType::f32;
  if (to == DType::boolean || (to == DType::u8 && is_integer(from))) return false;
  return digits_of(to) >= digits_of(from);
}

}  // namespace

Result<void> expect_elements(const NodeView& view, size_t input, std::string_view name) {
  const ValueType& type = *view.inputs[input];
  if (!is_element(type.dtype))
    return mismatch(
        name, fmt::format("{} is {}; it must be of f32, f16, bf16, integers or bool", name, to_string(type)));
  if (type.shape.size() > kernels::kMaxRank)
    return mismatch(name,
                    fmt::format("{} is {}; it may have {} dims", name, to_string(type), kernels::kMaxRank));
  return {};
}

Result<void> expect_floats(const NodeView& view, size_t input, std::string_view name) {
  ORRERY_TRY(expect_elements(view, input, name));
  const ValueType& type = *view.inputs[input];
  if (!is_float(type.dtype))
    return mismatch(name,
                    fmt::format("{} is {}; it must be of f32, f16 or bf16: cast it", name, to_string(type)));
  return {};
}

std::optional<DType> promoted(DType a, DType b) {
  if (holds(a, b)) return a;
  if (holds(b, a)) return b;
  return std::nullopt;
}

Result<DType> promote(const NodeView& view, size_t a, std::string_view a_name, size_t b,
                      std::string_view b_name) {
  const ValueType &first = *view.inputs[a], &second = *view.inputs[b];
  if (const auto common = promoted(first.dtype, second.dtype)) return *common;
  return mismatch(b_name, fmt::format("{} is {}, but {} is {}; neither {} nor {} holds every value of the "
                                      "other: cast one",
                                      b_name, to_string(second), a_name, to_string(first),
                                      name_of(first.dtype), name_of(second.dtype)));
}

Result<Shape> broadcast(const NodeView& view, size_t a, std::string_view a_name, size_t b,
                        std::string_view b_name, size_t until) {
  const Shape &first = view.inputs[a]->shape, &second = view.inputs[b]->shape;
  const size_t rank = std::max(first.size(), second.size());
  const auto dim = [&](const Shape& shape, size_t d) {  // right-aligned
    return d + shape.size() < rank ? Dim(1) : shape[d + shape.size() - rank];
  };
  Shape wide;
  for (size_t d = 0; d + until < rank; ++d) {
    const Dim one = dim(first, d), other = dim(second, d);
    if (one != other && one != Dim(1) && other != Dim(1))
      return mismatch(b_name, fmt::format("{} is {}, but {} is {}; {} and {} cannot be broadcast: dims must "
                                          "be equal or 1",
                                          b_name, to_string(*view.inputs[b]), a_name,
                                          to_string(*view.inputs[a]), other.to_string(), one.to_string()));
    wide.push_back(one == Dim(1) ? other : one);
  }
  return wide;
}

Result<size_t> axis_of(const NodeView& view, size_t input, std::string_view name, int64_t axis) {
  const auto rank = static_cast<int64_t>(view.inputs[input]->shape.size());
  if (axis < -rank || axis >= rank)
    return mismatch(name,
                    fmt::format("axis is {}, but {} is {}{}", axis, name, to_string(*view.inputs[input]),
                                rank == 0 ? "; it has no axis"
                                          : fmt::format("; it must be from {} to {}", -rank, rank - 1)));
  return static_cast<size_t>(axis < 0 ? axis + rank : axis);
}

void StepShape::broadcast_strides(const StepContext& step, int wider, int64_t* strides) const {
  int64_t sizes[kernels::kMaxRank];
  int64_t own[kernels::kMaxRank];
  at(step, sizes);
  kernels::pack_strides(rank, sizes, own);
  for (int d = 0; d < wider; ++d) {
    const int mine = d - (wider - rank);
    const RowCount* extent = mine < 0 ? nullptr : &extents[static_cast<size_t>(mine)];
    const bool one = extent == nullptr || *extent == RowCount{1, 0, 0, 0};
    strides[d] = one ? 0 : own[mine];
  }
}

Result<StepShape> step_shape(LowerContext& context, const graph::Node& node, ValueId value) {
  const Shape& shape = context.type(value).shape;
  StepShape made;
  if (shape.size() > kernels::kMaxRank)
    return Error{ErrorCode::unsupported,
                 fmt::format("{} has {} dims; kernels walk {}", context.graph().value_path(value),
                             shape.size(), kernels::kMaxRank),
                 node.path(), "Join some by reshape"};
  for (const Dim& dim : shape) {
    const auto extent = row_count_of(dim);
    if (!extent)
      return Error{ErrorCode::unsupported, fmt::format("A step does not know the size {}", dim.to_string()),
                   fmt::format("{}, {}", node.path(), context.graph().value_path(value)), ""};
    made.extents[static_cast<size_t>(made.rank++)] = *extent;
  }
  return made;
}

Result<Slot> elements_of(LowerContext& context, ValueId value) {
  if (context.graph().value(value).kind != graph::ValueKind::weight) return context.slot(value);
  ORRERY_ASSIGN(const void* bytes, context.weight(value, nullptr));
  return Slot{Slot::Kind::fixed, 0, bytes};
}

Result<Slot> optional_elements(LowerContext& context, ValueId value) {
  if (!value.valid()) return Slot{};
  return elements_of(context, value);
}

Slot read_slot(LowerContext& context, const graph::Node& node, size_t output) {
  const bool read = output < node.outputs.size() && context.graph().is_read(node.outputs[output]);
  return read ? context.slot(node.outputs[output]) : Slot{};
}

Cost cost_moved(const NodeView& view, const Bindings& bindings) {
  return {0, 2 * bytes(*view.outputs[0], bindings)};
}

}  // namespace orrery::ops
