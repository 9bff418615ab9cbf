// layer_norm: dst = (src - mean) * weight / sqrt(variance + eps) + bias
#include "engine/ops/norm_support.h"

namespace orrery::ops {

OpSchema layer_norm_op() {
  return norm_op("layer_norm", "Layer normalisation of each row (Ba et al. 2016).",
                 kernels::Norm::Kind::layer, false);
}

}  // namespace orrery::ops
