// add_rms_norm: sum = src + residual; normed = rms_norm(sum)
#include "engine/ops/norm_support.h"

namespace orrery::ops {
namespace {

using Norm = NormOp<kernels::Norm::Kind::rms, true>;

const OpSchema kSchema = Norm::schema(
    "add_rms_norm", "Residual sum and its root-mean-square normalisation in one walk over the rows.");

}  // namespace

const Op kAddRmsNorm{&kSchema, Norm::lower};

}  // namespace orrery::ops
