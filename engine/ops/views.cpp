// squeeze, unsqueeze, flatten, as_interleaved_complex: dims of 1 go or come, neighbouring dims become one,
// pairs get a dim. No copy is made where the result may lie where the source lies (OpSchema::view).
#include "engine/ops/copy_support.h"
#include "engine/ops/gradients.h"

namespace orrery::ops {
namespace {

Types infer_squeeze(const NodeView& view) {
  ORRERY_TRY(expect_elements(view, 0, "src"));
  ValueType dst = *view.inputs[0];
  ORRERY_ASSIGN(const size_t axis, axis_of(view, 0, "src", integer(*view.attributes, "axis")));
  if (dst.shape[axis] != Dim(1))
    return mismatch("src", fmt::format("axis {} of src, which is {}, has {} elements; only one of 1 may go",
                                       axis, to_string(dst), dst.shape[axis].to_string()));
  dst.shape.erase(dst.shape.begin() + static_cast<std::ptrdiff_t>(axis));
  return std::vector{std::move(dst)};
}

Types infer_unsqueeze(const NodeView& view) {
  ORRERY_TRY(expect_elements(view, 0, "src"));
  ValueType dst = *view.inputs[0];
  const auto rank = static_cast<int64_t>(dst.shape.size()) + 1;
  const int64_t asked = integer(*view.attributes, "axis"), axis = asked < 0 ? asked + rank : asked;
  if (axis < 0 || axis >= rank || rank > kernels::kMaxRank)
    return mismatch("src", fmt::format("axis is {}, but src is {}; it may have {} dims in the end", asked,
                                       to_string(dst), kernels::kMaxRank));
  dst.shape.insert(dst.shape.begin() + axis, Dim(1));
  return std::vector{std::move(dst)};
}

Types infer_flatten(const NodeView& view) {
  ORRERY_TRY(expect_elements(view, 0, "src"));
  const ValueType& src = *view.inputs[0];
  if (src.shape.empty()) return std::vector{ValueType{src.dtype, {1}}};
  ORRERY_ASSIGN(const size_t first, axis_of(view, 0, "src", integer(*view.attributes, "start_dim")));
  ORRERY_ASSIGN(const size_t last, axis_of(view, 0, "src", integer(*view.attributes, "end_dim")));
  Dim joined = 1;
  for (size_t d = first; d <= last; ++d) {
    const Dim& dim = src.shape[d];
    if (!joined.is_constant() && !dim.is_constant())
      return mismatch("src",
                      fmt::format("dims {} to {} of src, which is {}, hold two sizes that differ from step "
                                  "to step; no dim is their product",
                                  first, last, to_string(src)));
    joined = dim.is_constant() ? joined * dim.constant() : dim * joined.constant();
  }
  if (last < first) return mismatch("src", fmt::format("dim {} comes before dim {}", last, first));
  ValueType dst{src.dtype, {src.shape.begin(), src.shape.begin() + static_cast<std::ptrdiff_t>(first)}};
  dst.shape.push_back(joined);
  dst.shape.insert(dst.shape.end(), src.shape.begin() + static_cast<std::ptrdiff_t>(last) + 1,
                   src.shape.end());
  return std::vector{std::move(dst)};
}

Types infer_complex(const NodeView& view) {
  ORRERY_TRY(expect_floats(view, 0, "src"));
  ValueType dst = *view.inputs[0];
  if (dst.shape.empty() || dst.shape.size() == kernels::kMaxRank || dst.shape.back().divisor() % 2 != 0)
    return mismatch("src",
                    fmt::format("src is {}; its last dim must be even, and it may have {} dims in the end",
                                to_string(dst), kernels::kMaxRank));
  dst.shape.back() = dst.shape.back() / 2;
  dst.shape.push_back(2);
  return std::vector{std::move(dst)};
}

/// A view moves nothing.
Cost cost(const NodeView&, const Bindings&) { return {}; }

OpSchema view_op(std::string name, std::string doc, std::vector<AttributeSpec> attributes,
                 Types (*infer)(const NodeView&)) {
  return {.name = std::move(name),
          .family = OpFamily::data_movement,
          .doc = std::move(doc),
          .inputs = {{"src"}},
          .outputs = {"dst"},
          .attributes = std::move(attributes),
          .infer = infer,
          .cost = cost,
          .view = true,
          .gradient = [](Gradients& at) { at.give(0, reshaped(at.gradient(), at.input(0).type().shape)); },
          .lowering = lowered_to<kernels::Copy>(lower_view)};
}

}  // namespace

OpSchema squeeze_op() {
  return view_op("squeeze", "The same elements without a dim of 1.",
                 {{"axis", "The dim that goes; negative: from the last", {}, AttributeType::integer}},
                 infer_squeeze);
}
OpSchema unsqueeze_op() {
  return view_op("unsqueeze", "The same elements with one more dim, of 1.",
                 {{"axis", "Where it is in the result; negative: from the last", {}, AttributeType::integer}},
                 infer_unsqueeze);
}
OpSchema as_interleaved_complex_op() {
  return view_op("as_interleaved_complex",
                 "The same elements in pairs: real and imaginary parts, which follow one another.", {},
                 infer_complex);
}
OpSchema flatten_op() {
  return view_op("flatten", "The same elements with neighbouring dims made one.",
                 {{"start_dim", "The first of them; negative: from the last", Attribute(int64_t{0})},
                  {"end_dim", "The last of them; negative: from the last", Attribute(int64_t{-1})}},
                 infer_flatten);
}

}  // namespace orrery::ops
