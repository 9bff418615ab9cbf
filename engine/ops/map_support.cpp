#include "engine/ops/map_support.h"

namespace orrery::ops {

Result<Lowered> lower_map(LowerContext& context, const graph::Node& node, kernels::Map::Function function) {
  using kernels::Map;
  Map::Args args;
  args.problem = {function, context.type(node.inputs[0]).dtype, context.type(node.outputs[0]).dtype};
  ORRERY_ASSIGN(const StepShape shape, step_shape(context, node, node.inputs[0]));
  ORRERY_ASSIGN(auto chosen, choose<Map>(context, node, args.problem));
  ORRERY_ASSIGN(const Slot src, elements_of(context, node.inputs[0]));
  const Slot dst = context.slot(node.outputs[0]);
  chosen.lowered.run = [=, run = chosen.row->run](const StepContext& step) {
    auto call = args;
    call.count = shape.product(step, 0, shape.rank);
    call.src = step.address(src);
    call.dst = step.data<void>(dst);
    if (call.count > 0) run(call, step.launch());
  };
  return std::move(chosen.lowered);
}

}  // namespace orrery::ops
