// Model files written tensor by tensor: GGUF, and safetensors with the files beside them. A file or folder
// appears whole or not at all.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/base/metadata_edit.h"
#include "engine/io/gguf.h"
#include "engine/io/new_file.h"

namespace orrery::io {

/// What is written: names, types and shapes of tensors whose bytes come later. Data may be empty.
using TensorTable = std::vector<Tensor>;

/// Bytes that a tensor's shape and type need.
uint64_t stored_bytes(const Tensor& tensor);

class TensorWriter {
 public:
  virtual ~TensorWriter() = default;
  /// Bytes of the next tensor of the table, or of a part of it.
  virtual Result<void> write(std::span<const std::byte> bytes) = 0;
  /// After all bytes: where the model can be opened before it takes its name.
  virtual Result<std::filesystem::path> finish() = 0;
  /// Takes its name. Without it nothing is left.
  virtual Result<void> commit() = 0;
};

/// A GGUF file with the metadata of `source` (a GGUF file, or the first piece of a split one) and these
/// edits. Refused: metadata that the source does not take (gguf_editor.h), a disk with too little room, and
/// writing over the source.
Result<std::unique_ptr<TensorWriter>> new_gguf(const std::filesystem::path& source,
                                               std::span<const MetadataEdit> edits, TensorTable tensors,
                                               const std::filesystem::path& out);

/// What one file of a folder holds at most, as other programs write them; a larger tensor has one of its own.
inline constexpr uint64_t kLargestShard = 5'000'000'000;

/// A folder with model.safetensors (several, with an index, where one would be too large), the text of
/// config.json, and copies of the other files of `source` that are no weights. Refused: a folder that holds
/// something, and types that safetensors does not have.
Result<std::unique_ptr<TensorWriter>> new_folder(const std::filesystem::path& source, std::string config,
                                                 TensorTable tensors, const std::filesystem::path& out,
                                                 uint64_t largest_shard = kLargestShard);

/// Whether safetensors has a type of that kind.
bool is_safetensors_type(DType dtype);

}  // namespace orrery::io
