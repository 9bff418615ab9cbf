// What both forms of LoRA adapters share: pairs of matrices and their scale.
#pragma once

#include <cmath>
#include <map>

#include "engine/io/model_file.h"

namespace orrery::io {

struct LoraScale {
  double alpha = 0;
  bool rank_stabilised = false;

  double of(int64_t rank) const {
    const auto r = static_cast<double>(rank);
    return alpha / (rank_stabilised ? std::sqrt(r) : r);
  }
};

/// Whether an alpha can be meant: finite, and no larger than a million.
inline bool is_usable_alpha(double alpha) { return std::isfinite(alpha) && std::abs(alpha) <= 1e6; }

/// Collects the halves of the pairs by their targets.
class LoraPairs {
 public:
  explicit LoraPairs(std::string where) : where_(std::move(where)) {}

  /// `tensor` must stay where it is until join().
  Result<void> add(const std::string& target, bool is_a, const Tensor& tensor);
  bool contains(const std::string& target) const { return pairs_.contains(target); }
  /// The pairs in the order of their targets; refused by name: a half alone, ranks that differ, and what is
  /// no matrix of F32, F16 or BF16.
  Result<std::vector<Adapter::LowRank>> join(const LoraScale& scale) const;

 private:
  struct Pair {
    const Tensor *a = nullptr, *b = nullptr;
  };
  Result<Adapter::LowRank> joined(const std::string& target, const Pair& pair, const LoraScale& scale) const;

  std::string where_;
  std::map<std::string, Pair> pairs_;
};

/// A GGUF file of the type "adapter".
Result<std::shared_ptr<const Adapter>> open_gguf_adapter(const std::filesystem::path& path);

}  // namespace orrery::io
