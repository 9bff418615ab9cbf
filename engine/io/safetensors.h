// The safetensors reader; the byte layout stands at the top of safetensors.cpp.
#pragma once

#include "engine/io/model_file.h"

namespace orrery::io {

bool looks_like_safetensors(std::span<const std::byte> bytes);

/// Appends the tensors of one mapped file to `file`, and the mapping to its files.
Result<void> read_safetensors(const std::shared_ptr<const MappedFile>& mapped, ModelFile& file,
                              const std::stop_token& stop);

}  // namespace orrery::io
