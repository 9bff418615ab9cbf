#include "engine/io/adapter_parts.h"

#include <fmt/format.h>

#include "engine/io/reader.h"

namespace orrery::io {

Result<void> LoraPairs::add(const std::string& target, bool is_a, const Tensor& tensor) {
  const Tensor*& half = is_a ? pairs_[target].a : pairs_[target].b;
  if (half) return corrupt(fmt::format("The adapter adapts {} twice", shown(target)), where_);
  half = &tensor;
  return {};
}

Result<Adapter::LowRank> LoraPairs::joined(const std::string& target, const Pair& pair,
                                           const LoraScale& scale) const {
  if (!pair.a || !pair.b)
    return corrupt(fmt::format("The adapter has only one of lora_A and lora_B for {}", shown(target)),
                   where_);
  for (const Tensor* half : {pair.a, pair.b})
    if (!half->foreign_type.empty() || half->shape.size() != 2 || half->shape[0] < 1 || half->shape[1] < 1 ||
        (half->dtype != DType::f32 && half->dtype != DType::f16 && half->dtype != DType::bf16))
      return corrupt(
          fmt::format("The adapter's tensor {} is not a matrix of F32, F16 or BF16", shown(half->name)),
          where_);
  const int64_t rank = pair.a->shape[0];
  if (pair.b->shape[1] != rank)
    return corrupt(fmt::format("lora_A and lora_B of {} have the ranks {} and {}", shown(target), rank,
                               pair.b->shape[1]),
                   where_);
  return Adapter::LowRank{target, *pair.a, *pair.b, scale.of(rank)};
}

Result<std::vector<Adapter::LowRank>> LoraPairs::join(const LoraScale& scale) const {
  std::vector<Adapter::LowRank> low_rank;
  for (const auto& [target, pair] : pairs_) {
    ORRERY_ASSIGN(auto made, joined(target, pair, scale));
    low_rank.push_back(std::move(made));
  }
  return low_rank;
}

}  // namespace orrery::io
