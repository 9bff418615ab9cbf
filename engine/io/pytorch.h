// Files of torch.save: zip archives (PyTorch 1.6 and later) and the older stream; the layouts stand at the
// top of pytorch.cpp. Only tensors are read: see pickle.h.
#pragma once

#include "engine/io/model_file.h"

namespace orrery::io {

bool looks_like_pytorch(std::span<const std::byte> bytes);

/// Appends the tensors of one mapped file to `file`, and the mapping to its files. They are named by the keys
/// of the state dict; dicts inside are joined with dots, and a state dict that stands in a checkpoint under
/// "state_dict", "model_state_dict", "model" or "module" is taken alone. Tensors may share bytes. Refused by
/// name: tensors that are not contiguous.
Result<void> read_pytorch(const std::shared_ptr<const MappedFile>& mapped, ModelFile& file,
                          const std::stop_token& stop);

}  // namespace orrery::io
