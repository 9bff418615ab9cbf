// The ops, one file each. registry.cpp lists them: adding one adds a file, a line here and a line there.
#pragma once

#include "engine/ops/lowering.h"

namespace orrery::ops {

extern const Op kWeight, kInput, kState, kConstant;
extern const Op kEmbedding, kTableRow;
extern const Op kRmsNorm, kLayerNorm, kAddRmsNorm, kAddLayerNorm;
extern const Op kLinear, kFusedLinear;
extern const Op kRope, kKvAppend, kAttention, kPackedAttention;
extern const Op kSilu, kGelu, kRelu, kTanh, kSoftmax, kL2Normalise, kScale;
extern const Op kAdd, kMul;
extern const Op kTopExperts, kExpertMlp;
extern const Op kSelectRows, kPool, kSample;
extern const Op kTransfer;

}  // namespace orrery::ops
