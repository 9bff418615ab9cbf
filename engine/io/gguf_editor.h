// The head of a GGUF file with other metadata: the keys of a source, edited.
#pragma once

#include <memory>
#include <span>

#include "engine/base/metadata_edit.h"
#include "engine/io/gguf_value.h"

namespace orrery::io {

class GgufEditor {
 public:
  /// A key as it will be written: bytes of the source, or new ones.
  struct Entry {
    std::string name;
    GgufKeyType type;
    std::string_view value;
  };

  /// The source's bytes must stay where they are.
  GgufEditor(std::span<const std::byte> source, const GgufLayout& layout);

  /// Refuses, by name, keys that are not there, values that are not of their type, and the keys that say
  /// where tensors stand.
  Result<void> apply(const MetadataEdit& edit);
  /// The keys that say which piece of a split model the source is.
  void remove_split();
  const std::vector<Entry>& entries() const { return entries_; }

  /// All that stands before the first tensor's bytes; `table` has the entries of the tensors.
  std::string head(uint64_t tensors, std::string_view table) const;
  uint64_t alignment() const { return alignment_; }

 private:
  std::vector<Entry>::iterator find(std::string_view name);
  Result<void> set(std::vector<Entry>::iterator entry, const MetadataEdit& edit);

  std::string_view version_;  // as the source begins
  uint64_t alignment_;
  std::vector<Entry> entries_;
  std::vector<std::unique_ptr<std::string>> made_;  // values that the source does not have
};

}  // namespace orrery::io
