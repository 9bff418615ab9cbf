// broadcast_to: dims of 1, and missing first ones, repeated until the shape is the one asked for
#include "engine/ops/copy_support.h"
#include "engine/ops/gradients.h"

namespace orrery::ops {
namespace {

Types infer(const NodeView& view) {
  ORRERY_TRY(expect_elements(view, 0, "src"));
  const ValueType& src = *view.inputs[0];
  const std::vector<int64_t> asked = list(*view.attributes, "shape");
  const auto refused = [&](std::string_view why) {
    return mismatch("src", fmt::format("src is {}, which cannot be broadcast to [{}]: {}", to_string(src),
                                       fmt::join(asked, ", "), why));
  };
  if (asked.size() > kernels::kMaxRank)
    return refused(fmt::format("kernels walk {} dims", kernels::kMaxRank));
  if (asked.size() < src.shape.size()) return refused("it has fewer dims");
  const size_t more = asked.size() - src.shape.size();
  ValueType dst{src.dtype, {}};
  for (size_t d = 0; d < asked.size(); ++d) {
    const Dim own = d < more ? Dim(1) : src.shape[d - more];
    if (asked[d] < -1 || asked[d] == 0 || (asked[d] == -1 && d < more))
      return refused("sizes are 1 or more; -1 keeps a dim of src");
    if (asked[d] != -1 && own != Dim(1) && own != Dim(asked[d]))
      return refused("only dims of 1 are repeated");
    dst.shape.push_back(asked[d] == -1 ? own : Dim(asked[d]));
  }
  return std::vector{std::move(dst)};
}

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  const Shape &from = context.type(node.inputs[0]).shape, &to = context.type(node.outputs[0]).shape;
  const size_t more = to.size() - from.size();
  std::vector<bool> repeated(to.size(), true);
  for (size_t d = 0; d < from.size(); ++d) repeated[d + more] = from[d] == Dim(1);
  return lower_copy(context, node, [more, repeated](const int64_t* sizes, const int64_t*, int64_t* strides) {
    kernels::pack_strides(static_cast<int>(repeated.size() - more), sizes, strides + more);
    for (size_t d = 0; d < repeated.size(); ++d)
      if (repeated[d]) strides[d] = 0;
    return int64_t{0};
  });
}

}  // namespace

OpSchema broadcast_to_op() {
  return {.name = "broadcast_to",
          .family = OpFamily::data_movement,
          .doc = "A value with its dims of 1 repeated.",
          .inputs = {{"src"}},
          .outputs = {"dst"},
          .attributes = {{"shape",
                          "The sizes of the result, outermost first; -1 keeps that dim",
                          {},
                          AttributeType::list}},
          .infer = infer,
          .cost = cost_moved,
          .gradient = [](Gradients& at) { at.give(0, at.gradient()); },  // summed to the shape of src
          .lowering = lowered_to<kernels::Copy>(lower)};
}

}  // namespace orrery::ops
