// State dicts of PyTorch: names for the tensors that a pickle built, and their bytes.
#pragma once

#include <unordered_map>

#include "engine/io/pickle.h"

namespace orrery::io {

/// A storage's key -> its bytes in the mapped file.
using StorageBytes = std::unordered_map<std::string_view, std::span<const std::byte>>;

/// Adds the tensors that are found from the root on to `file`, named as read_pytorch says. Errors name
/// `where`.
Result<void> read_state_dict(const Pickled& pickled, const StorageBytes& storages, const std::string& where,
                             Allowance& allowance, ModelFile& file);

}  // namespace orrery::io
