// Files that hold tensors and say nothing of the model: which format one has, by its content, and its reader.
#pragma once

#include <optional>

#include "engine/io/model_file.h"

namespace orrery::io {

/// Nothing for other files, GGUF among them.
std::optional<Format> tensor_file_format(std::span<const std::byte> bytes);

/// Appends the tensors of one mapped file to `file`, and the mapping to its files. `unsupported` for other
/// files.
Result<void> read_tensor_file(const std::shared_ptr<const MappedFile>& mapped, ModelFile& file,
                              const std::stop_token& stop);

/// 8-bit floats with scales beside them (NAME_scale, NAME_scale_inv, ...) mean other values than their
/// elements say: they become a foreign type, listed and not run. Called when all files of a model are read.
void set_scaled_apart(ModelFile& file);

}  // namespace orrery::io
