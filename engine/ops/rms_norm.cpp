// rms_norm: dst = src * weight / sqrt(mean(src^2) + eps)
#include "engine/ops/norm_support.h"

namespace orrery::ops {
namespace {

using Norm = NormOp<kernels::Norm::Kind::rms, false>;

const OpSchema kSchema =
    Norm::schema("rms_norm", "Root-mean-square normalisation of each row (Zhang and Sennrich 2019).");

}  // namespace

const Op kRmsNorm{&kSchema, Norm::lower};

}  // namespace orrery::ops
