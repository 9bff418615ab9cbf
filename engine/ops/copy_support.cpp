#include "engine/ops/copy_support.h"

namespace orrery::ops {

using kernels::Copy;

Result<Lowered> lower_copy(LowerContext& context, const graph::Node& node, SourceView point) {
  Copy::Args args;
  args.from = context.type(node.inputs[0]).dtype;
  args.to = context.type(node.outputs[0]).dtype;
  ORRERY_ASSIGN(const StepShape from, step_shape(context, node, node.inputs[0]));
  ORRERY_ASSIGN(const StepShape to, step_shape(context, node, node.outputs[0]));
  args.walk.rank = to.rank;
  ORRERY_ASSIGN(auto chosen, choose<Copy>(context, node, {args.from, args.to, to.rank}));
  ORRERY_ASSIGN(const Slot src, elements_of(context, node.inputs[0]));
  const Slot dst = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, point = std::move(point), run = chosen.row->run](const StepContext& step) {
    auto call = args;
    int64_t sizes[kernels::kMaxRank];
    from.at(step, sizes);
    to.at(step, call.walk.sizes);
    const int64_t first = point(sizes, call.walk.sizes, call.walk.strides[0]);
    kernels::pack_strides(to.rank, call.walk.sizes, call.walk.strides[1]);
    call.src = step.data<const std::byte>(src) + first * dtype_info(call.from).block_bytes;
    call.dst = step.data<void>(dst);
    if (call.walk.elements() > 0) run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

Result<Lowered> lower_view(LowerContext& context, const graph::Node& node) {
  ORRERY_ASSIGN(const Slot src, elements_of(context, node.inputs[0]));
  if (src == context.slot(node.outputs[0])) {
    Lowered lowered;
    lowered.kernel = "view";
    lowered.run = [](const StepContext&) {};
    return lowered;
  }
  const auto rank = static_cast<int>(context.type(node.outputs[0]).shape.size());
  return lower_copy(context, node, [rank](const int64_t*, const int64_t* sizes, int64_t* strides) {
    kernels::pack_strides(rank, sizes, strides);
    return int64_t{0};
  });
}

}  // namespace orrery::ops
