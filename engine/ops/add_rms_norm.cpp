// add_rms_norm: sum = src + residual; normed = rms_norm(sum)
#include "engine/ops/norm_support.h"

namespace orrery::ops {

OpSchema add_rms_norm_op() {
  return norm_op("add_rms_norm",
                 "Residual sum and its root-mean-square normalisation in one walk over the rows.",
                 kernels::Norm::Kind::rms, true);
}

}  // namespace orrery::ops
