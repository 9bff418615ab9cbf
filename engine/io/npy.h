// Arrays of NumPy: .npy, one array, and .npz, a zip archive of them; the layout stands at the top of npy.cpp.
#pragma once

#include "engine/io/model_file.h"

namespace orrery::io {

bool looks_like_npy(std::span<const std::byte> bytes);
bool looks_like_npz(std::span<const std::byte> bytes);

/// Appends the array as a tensor named like the file ("embeddings" of embeddings.npy), and the mapping to its
/// files.
Result<void> read_npy(const std::shared_ptr<const MappedFile>& mapped, ModelFile& file,
                      const std::stop_token& stop);

/// The array of a .npy file, a part of the mapping.
Result<Tensor> npy_array(const MappedFile& mapped);
/// A .npy file that appears whole or not at all, of the dtype, shape and bytes of the tensor.
Result<void> write_npy(const std::filesystem::path& path, const Tensor& array);

/// The same for each entry, named like the entry. Compressed ones are refused (savez writes none,
/// savez_compressed does).
Result<void> read_npz(const std::shared_ptr<const MappedFile>& mapped, ModelFile& file,
                      const std::stop_token& stop);

}  // namespace orrery::io
