// split: dst = a range of src's columns or rows, for the device that computes that part. Of a weight the pass
// split_weights makes a weight, which is read as any other.
#include "engine/ops/copy_support.h"
#include "engine/ops/gradients.h"

namespace orrery::ops {
namespace {

constexpr int64_t kRows = 0;

/// begin .. begin + count - 1 of `extent`.
Result<void> expect_range(const NodeView& view, int64_t extent, std::string_view what) {
  const int64_t begin = integer(*view.attributes, "begin"), count = integer(*view.attributes, "count");
  int64_t end = 0;
  if (begin < 0 || count <= 0 || __builtin_add_overflow(begin, count, &end) || end > extent)
    return mismatch("src", fmt::format("{} {} from {} on are asked of {}", count, what, begin,
                                       to_string(*view.inputs[0])));
  return {};
}

/// A weight, whose blocks must stay whole.
bool is_fixed_matrix(const ValueType& type) {
  return type.shape.size() == 2 && type.shape[0].is_constant() && type.shape[1].is_constant();
}

Types infer_fixed(const NodeView& view, int64_t axis) {
  const ValueType& src = *view.inputs[0];
  const int64_t begin = integer(*view.attributes, "begin"), count = integer(*view.attributes, "count");
  ORRERY_TRY(expect_range(view, src.shape[static_cast<size_t>(axis)].constant(),
                          axis == kRows ? "rows" : "columns"));
  const int64_t block = dtype_info(src.dtype).block_elements;
  if (axis != kRows && (begin % block != 0 || count % block != 0))
    return mismatch("src", fmt::format("{} columns from {} on cut the blocks of {}, which hold {}", count,
                                       begin, to_string(src), block));
  ValueType part = src;
  part.shape[static_cast<size_t>(axis)] = Dim(count);
  return std::vector{std::move(part)};
}

Types infer(const NodeView& view) {
  const int64_t axis = integer(*view.attributes, "axis"), count = integer(*view.attributes, "count");
  if (axis != kRows && axis != 1)
    return bad_attribute(fmt::format("axis is {}, not 0 (rows) or 1 (columns)", axis));
  if (is_fixed_matrix(*view.inputs[0])) return infer_fixed(view, axis);
  ORRERY_ASSIGN(const Matrix src, activation(view, 0, "src"));
  if (axis == kRows)
    return mismatch("src",
                    fmt::format("{} has as many rows as the step brings: only its columns can be split",
                                to_string(*view.inputs[0])));
  ORRERY_TRY(expect_range(view, src.cols, "columns"));
  return std::vector{f32(src.rows, count)};
}

Cost cost(const NodeView& view, const Bindings& bindings) {
  return {0, 2 * bytes(*view.outputs[0], bindings)};
}

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  const auto number = [&](const char* name) { return std::get<int64_t>(node.attributes.at(name)); };
  if (const DType dtype = context.type(node.inputs[0]).dtype; dtype != DType::f32)
    return Error{ErrorCode::unsupported,
                 fmt::format("A part of {} values can be taken of a weight of the file only", name_of(dtype)),
                 node.path(), "split the weight itself"};
  return lower_copy(context, node,
                    [axis = number("axis"), begin = number("begin")](const int64_t* sizes, const int64_t*,
                                                                     int64_t* strides) {
                      kernels::pack_strides(2, sizes, strides);
                      return begin * strides[axis];
                    });
}

/// Among zeros for what was left out.
void gradient(Gradients& at) {
  at.give(0, padded(at.gradient(), at.input(0), static_cast<size_t>(integer(at.attributes(), "axis")),
                    integer(at.attributes(), "begin")));
}

}  // namespace

OpSchema split_op() {
  return {.name = "split",
          .family = OpFamily::data_movement,
          .doc = "A range of a value's columns or rows, for the device that computes that part.",
          .inputs = {{"src"}},
          .outputs = {"dst"},
          .attributes = {{"axis", "0: rows, of which there must be a fixed number; 1: columns.", int64_t{1}},
                         {"begin", "The first of them.", std::nullopt, AttributeType::integer},
                         {"count", "How many.", std::nullopt, AttributeType::integer}},
          .infer = infer,
          .cost = cost,
          .gradient = gradient,
          .lowering = lowered_to<kernels::Copy>(lower)};
}

}  // namespace orrery::ops
