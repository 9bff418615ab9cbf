#include "engine/ops/ops.h"

namespace orrery::ops {

std::span<const Op> all_ops() {
  static const Op ops[] = {
      kWeight,     kInput,       kState,      kConstant,         // sources
      kEmbedding,  kTableRow,                                    // tables
      kRmsNorm,    kLayerNorm,   kAddRmsNorm, kAddLayerNorm,     // norms
      kLinear,     kFusedLinear,                                 // matrices
      kRope,       kKvAppend,    kAttention,  kPackedAttention,  // attention
      kSilu,       kGelu,        kRelu,       kTanh,             // activations
      kSoftmax,    kL2Normalise, kScale,      kAdd,
      kMul,                                // pointwise
      kTopExperts, kExpertMlp,             // experts
      kSelectRows, kPool,        kSample,  // rows and tokens
      kTransfer,                           // between devices
  };
  return ops;
}

std::shared_ptr<const graph::OpRegistry> registry() {
  static const auto instance = [] {
    std::vector<const graph::OpSchema*> schemas;
    for (const Op& op : all_ops()) schemas.push_back(op.schema);
    return std::make_shared<const graph::OpRegistry>(std::move(schemas));
  }();
  return instance;
}

Lower lowering_of(const graph::OpSchema& schema) {
  for (const Op& op : all_ops())
    if (op.schema == &schema) return op.lower;
  return nullptr;
}

Rounding rounding_of(LowerContext& context, const graph::Node& node) {
  for (const Op& op : all_ops())
    if (op.schema == node.op) return op.rounding ? op.rounding(context, node) : Rounding{};
  return {};
}

}  // namespace orrery::ops
