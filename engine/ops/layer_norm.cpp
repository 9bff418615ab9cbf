// layer_norm: dst = (src - mean) * weight / sqrt(variance + eps) + bias
#include "engine/ops/norm_support.h"

namespace orrery::ops {
namespace {

using Norm = NormOp<kernels::Norm::Kind::layer, false>;

const OpSchema kSchema = Norm::schema("layer_norm", "Layer normalisation of each row (Ba et al. 2016).");

}  // namespace

const Op kLayerNorm{&kSchema, Norm::lower};

}  // namespace orrery::ops
