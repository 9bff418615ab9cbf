// Zip archives, as far as model files use them: their directory, and the bytes of entries that are stored as
// they are. The layout stands at the top of zip.cpp.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/io/model_file.h"

namespace orrery::io {

/// Views into the mapping: they live as long as it does.
struct ZipEntry {
  std::string_view name;
  std::span<const std::byte> data;  // empty when it is packed
  bool packed = false;              // compressed or encrypted: not read
};

bool looks_like_zip(std::span<const std::byte> bytes);
/// The name of the entry that the bytes begin with; nothing when they begin with none.
std::optional<std::string_view> first_zip_entry(std::span<const std::byte> bytes);

/// The entries in the order of the directory. Refused: entries that overlap, that leave the file, or that
/// come twice.
Result<std::vector<ZipEntry>> read_zip(const MappedFile& mapped);

}  // namespace orrery::io
