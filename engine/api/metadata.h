// The metadata of a GGUF file: listed with its types, and edited into a new file.
#pragma once

#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/base/metadata.h"
#include "engine/base/metadata_edit.h"
#include "engine/base/progress.h"
#include "engine/base/result.h"

namespace orrery::api {

/// A value for a person; texts of more than 4 KB and arrays of more than eight elements are elided.
std::string value_text(const Metadata::Value& value);

struct MetadataKey {
  std::string name, type, value;  // type: "u32", "string", "f32[]"
  /// The whole value as MetadataEdit::value takes it; none where it is longer than a person edits by hand.
  std::optional<std::string> text = {};
};
/// In the order of the file. `unsupported` for other formats than GGUF.
Result<std::vector<MetadataKey>> list_metadata(const std::string& model);

/// Whether an edit sets its key to a value of its type, or why not; the type must be given.
Result<void> check_metadata_value(const MetadataEdit& edit);

/// Saves the model with these edits as the new file `out`; its tensors are the source's, byte for byte.
/// Refused by name: keys that are not there, values that are not of their type, and what would make the file
/// unreadable. `out` is whole afterwards or was not touched.
Result<void> save_metadata(const std::string& model, std::span<const MetadataEdit> edits,
                           const std::string& out, const ProgressCallback& progress, std::stop_token stop);

}  // namespace orrery::api
