// all_gather: dst = [part_0 | part_1 | ...] of several devices, on the node's own
#include "engine/ops/collective_support.h"
#include "engine/ops/copy_support.h"
#include "engine/ops/gradients.h"

namespace orrery::ops {
namespace {

Types infer(const NodeView& view) {
  ORRERY_ASSIGN(const std::vector<Matrix> parts, collective_parts(view));
  int64_t cols = 0;
  for (const Matrix& part : parts)
    if (__builtin_add_overflow(cols, part.cols, &cols))
      return mismatch("parts", "they are too wide together");
  return std::vector{f32(parts[0].rows, cols)};
}

Cost cost(const NodeView& view, const Bindings& bindings) { return {0, collective_bytes(view, bindings)}; }

Result<Lowered> lower(LowerContext& context, const graph::Node& node) {
  return lower_concat(context, node, 1);
}

/// Each part has its own columns.
void gradient(Gradients& at) {
  int64_t begin = 0;
  for (size_t i = 0; i < at.inputs(); ++i) {
    const int64_t cols = at.input(i).type().shape[1].constant();
    if (at.wants(i))
      at.give(i, apply("split", at.gradient(), {{"axis", int64_t{1}}, {"begin", begin}, {"count", cols}}));
    begin += cols;
  }
}

}  // namespace

OpSchema all_gather_op() {
  return {.name = "all_gather",
          .family = OpFamily::data_movement,
          .doc = "Puts columns that several devices computed side by side; the result lies where it runs.",
          .inputs = {{.name = "parts", .variadic = true}},
          .outputs = {"dst"},
          .infer = infer,
          .cost = cost,
          .gradient = gradient,
          .lowering = lowered_to<kernels::Copy>(lower)};
}

}  // namespace orrery::ops
