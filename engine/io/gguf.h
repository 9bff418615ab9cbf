// The GGUF reader; the byte layout stands at the top of gguf.cpp.
#pragma once

#include "engine/io/model_file.h"

namespace orrery::io {

bool looks_like_gguf(std::span<const std::byte> bytes);
Result<std::shared_ptr<ModelFile>> read_gguf(std::shared_ptr<const MappedFile> mapped,
                                             const ProgressCallback& progress, const std::stop_token& stop);

}  // namespace orrery::io
