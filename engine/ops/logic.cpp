// Functions of two bools, and of the bits of two whole numbers (kernels/combine.h)
#include "engine/ops/combine_support.h"

namespace orrery::ops {

using Function = kernels::Combine::Function;

OpSchema logical_and_op() {
  return combine_op("logical_and", Function::logical_and, "Where both of two bools hold.");
}
OpSchema logical_or_op() {
  return combine_op("logical_or", Function::logical_or, "Where one of two bools holds, or both.");
}
OpSchema logical_xor_op() {
  return combine_op("logical_xor", Function::logical_xor, "Where one of two bools holds, and not both.");
}
OpSchema bitwise_and_op() {
  return combine_op("bitwise_and", Function::bitwise_and, "The bits that two whole numbers have in common.");
}
OpSchema bitwise_or_op() {
  return combine_op("bitwise_or", Function::bitwise_or,
                    "The bits that one of two whole numbers has, or both.");
}
OpSchema bitwise_xor_op() {
  return combine_op("bitwise_xor", Function::bitwise_xor, "The bits in which two whole numbers differ.");
}

}  // namespace orrery::ops
