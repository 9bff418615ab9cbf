// Small files, whole.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace orrery::custom {

Result<std::string> read_file(const std::filesystem::path& path);
/// Whole or not at all; makes the folder.
Result<void> write_file(const std::filesystem::path& path, std::string_view bytes);

}  // namespace orrery::custom
