// Reading sizes and numbers from a model's metadata. Nothing is trusted: what is absent, of another type or
// out of range is refused with the key's name, its value and what it must be.
#pragma once

#include <limits>

#include "engine/io/model_file.h"

namespace orrery::models {

/// No dimension of a model is larger; products of two of them fit 64 bits.
inline constexpr int64_t kLargestSize = std::numeric_limits<int32_t>::max();

class Config {
 public:
  /// Keys are looked up as prefix + key ("llama." for GGUF, "" for config.json).
  Config(const io::ModelFile& file, std::string prefix) : file_(file), prefix_(std::move(prefix)) {}

  bool has(std::string_view key) const { return file_.metadata.find(name(key)) != nullptr; }
  /// 1 to kLargestSize. A list of equal numbers (one a layer) counts as that number.
  Result<int64_t> size(std::string_view key) const;
  Result<int64_t> size(std::string_view key, int64_t fallback) const;  // the fallback when absent
  /// Finite, within [least, most].
  Result<double> number(std::string_view key, double least, double most) const;
  Result<double> number(std::string_view key, double least, double most, double fallback) const;
  std::string text(std::string_view key, std::string fallback) const;

  std::string name(std::string_view key) const { return prefix_ + std::string(key); }
  Error refuse(std::string what,
               std::string advice = "The file is damaged, or of a kind that is not known") const;
  Error unsupported(std::string what, std::string advice) const;
  const io::ModelFile& file() const { return file_; }

 private:
  const io::ModelFile& file_;
  std::string prefix_;
};

}  // namespace orrery::models
