// GGUF written anew with other metadata: the tensors' bytes stay as they are.
#pragma once

#include <span>

#include "engine/base/metadata_edit.h"
#include "engine/io/gguf.h"

namespace orrery::io {

/// "u32", "string", and so on; arrays are named by their elements: "string[]".
struct GgufKey {
  std::string name, type;
};
/// The keys of a GGUF file in its order. `unsupported` for other files.
Result<std::vector<GgufKey>> gguf_keys(const std::filesystem::path& path);

/// Copies the GGUF file `path` to `out` with these edits, in their order. Keys keep their order and types,
/// new ones come last; the tensor table, the alignment and the tensors are the source's. What was written is
/// read again before it takes its name, and `out` is whole or was not touched. Refused by name: keys that are
/// not there, values that are not of their type, general.alignment and the split.* keys (the tensors would
/// have to move), one piece of a split model, and writing over the source.
Result<void> write_gguf(const std::filesystem::path& path, std::span<const MetadataEdit> edits,
                        const std::filesystem::path& out, const ProgressCallback& progress,
                        const std::stop_token& stop);

}  // namespace orrery::io
