// add_layer_norm: sum = src + residual; normed = layer_norm(sum)
#include "engine/ops/norm_support.h"

namespace orrery::ops {
namespace {

using Norm = NormOp<kernels::Norm::Kind::layer, true>;

const OpSchema kSchema =
    Norm::schema("add_layer_norm", "Residual sum and its layer normalisation in one walk over the rows.");

}  // namespace

const Op kAddLayerNorm{&kSchema, Norm::lower};

}  // namespace orrery::ops
