#include "engine/ops/vector_support.h"

namespace orrery::ops {

using kernels::Copy;

const float* VectorOperand::read(const StepContext& step) const {
  if (convert == nullptr) return step.data<const float>(slot);
  Copy::Args args;
  args.from = dtype;
  args.walk.rank = 1;
  args.walk.sizes[0] = count;
  args.walk.strides[0][0] = args.walk.strides[1][0] = 1;
  args.src = step.address(slot);
  args.dst = step.workspace + place;
  convert(args, step.launch());
  return reinterpret_cast<const float*>(step.workspace + place);
}

Result<VectorOperand> vector_operand(LowerContext& context, const graph::Node& node, ValueId value,
                                     Lowered& lowered) {
  VectorOperand operand;
  if (!value.valid()) return operand;
  const ValueType& type = context.type(value);
  if (type.dtype == DType::f32 || context.graph().value(value).kind == graph::ValueKind::weight) {
    ORRERY_ASSIGN(operand.slot, float_operand(context, value));
    return operand;
  }
  ORRERY_ASSIGN(const auto copy, choose<Copy>(context, node, {type.dtype, DType::f32, 1}));
  operand.slot = context.slot(value);
  operand.convert = copy.row->run;
  operand.dtype = type.dtype;
  operand.count = element_count(type.shape, {}).value_or(0);
  operand.place = (lowered.workspace_bytes + 63) / 64 * 64;
  lowered.workspace_bytes = operand.place + static_cast<size_t>(operand.count) * sizeof(float);
  return operand;
}

}  // namespace orrery::ops
