// Reading sizes and numbers from a model's metadata. Nothing is trusted: what is absent, of another type or
// out of range is refused with the key's name, its value and what it must be.
#pragma once

#include <limits>
#include <span>

#include "engine/io/model_file.h"

namespace orrery::models {

/// No dimension of a model is larger; products of two of them fit 64 bits.
inline constexpr int64_t kLargestSize = std::numeric_limits<int32_t>::max();

/// What one format calls a key by, where that is another name.
struct KeyName {
  std::string_view key, name;
};
using KeyNames = std::span<const KeyName>;

class Config {
 public:
  /// Keys are looked up as prefix + key ("llama." for GGUF, "" for config.json), the key by its name among
  /// `names` if it has one there. The names must live as long.
  Config(const io::ModelFile& file, std::string prefix, KeyNames names = {})
      : file_(file), prefix_(std::move(prefix)), names_(names) {}

  bool has(std::string_view key) const { return file_.metadata.find(name(key)) != nullptr; }
  /// 1 to kLargestSize. A list of equal numbers (one per layer) counts as that number.
  Result<int64_t> size(std::string_view key) const;
  Result<int64_t> size(std::string_view key, int64_t fallback) const;  // the fallback when absent
  /// Finite, within [least, most].
  Result<double> number(std::string_view key, double least, double most) const;
  Result<double> number(std::string_view key, double least, double most, double fallback) const;
  std::string text(std::string_view key, std::string fallback) const;

  bool flag(std::string_view key, bool fallback) const;
  /// Null when absent or of another type.
  const std::vector<std::string>* texts(std::string_view key) const;
  const std::vector<int64_t>* integers(std::string_view key) const;

  std::string name(std::string_view key) const;
  Error refuse(std::string what,
               std::string advice = "The file is damaged, or of a kind that is not known") const;
  Error unsupported(std::string what, std::string advice) const;
  const io::ModelFile& file() const { return file_; }

 private:
  const io::ModelFile& file_;
  std::string prefix_;
  KeyNames names_;
};

}  // namespace orrery::models
