// rms_norm: dst = src * weight / sqrt(mean(src^2) + eps)
#include "engine/ops/norm_support.h"

namespace orrery::ops {

OpSchema rms_norm_op() {
  return norm_op("rms_norm", "Root-mean-square normalisation of each row (Zhang and Sennrich 2019).",
                 kernels::Norm::Kind::rms, false);
}

}  // namespace orrery::ops
