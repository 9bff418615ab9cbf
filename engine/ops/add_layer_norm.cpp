// add_layer_norm: sum = src + residual; normed = layer_norm(sum)
#include "engine/ops/norm_support.h"

namespace orrery::ops {

OpSchema add_layer_norm_op() {
  return norm_op("add_layer_norm", "Residual sum and its layer normalisation in one walk over the rows.",
                 kernels::Norm::Kind::layer, true);
}

}  // namespace orrery::ops
