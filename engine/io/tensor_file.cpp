#include "engine/io/tensor_file.h"

#include "engine/io/npy.h"
#include "engine/io/pytorch.h"
#include "engine/io/reader.h"
#include "engine/io/safetensors.h"

namespace orrery::io {
namespace {

struct TensorFormat {
  Format format;
  bool (*matches)(std::span<const std::byte> bytes);
  Result<void> (*read)(const std::shared_ptr<const MappedFile>& mapped, ModelFile& file,
                       const std::stop_token& stop);
};
constexpr TensorFormat kFormats[] = {
    {Format::safetensors, looks_like_safetensors, read_safetensors},
    {Format::numpy, looks_like_npy, read_npy},
    {Format::numpy, looks_like_npz, read_npz},
    {Format::pytorch, looks_like_pytorch, read_pytorch},
};

const TensorFormat* find_format(std::span<const std::byte> bytes) {
  for (const TensorFormat& format : kFormats)
    if (format.matches(bytes)) return &format;
  return nullptr;
}

}  // namespace

std::optional<Format> tensor_file_format(std::span<const std::byte> bytes) {
  const TensorFormat* format = find_format(bytes);
  return format ? std::optional(format->format) : std::nullopt;
}

Result<void> read_tensor_file(const std::shared_ptr<const MappedFile>& mapped, ModelFile& file,
                              const std::stop_token& stop) {
  if (const TensorFormat* format = find_format(mapped->bytes())) return format->read(mapped, file, stop);
  if (!mapped->bytes().empty() && mapped->bytes().front() == std::byte{0x80})
    return unsupported("The file is a Python pickle that torch.save did not write", mapped->path().string(),
                       "save the model's state_dict with torch.save, or as safetensors");
  return unsupported("The file is of no known format", mapped->path().string(),
                     "choose a .gguf, .safetensors or PyTorch file, or a model's folder");
}

void set_scaled_apart(ModelFile& file) {
  constexpr std::string_view kWeight = ".weight";
  for (Tensor& tensor : file.tensors) {
    if (!tensor.foreign_type.empty() || !is_f8(tensor.dtype)) continue;
    bool scaled = file.find(tensor.name + "_scale") || file.find(tensor.name + "_scale_inv");
    if (tensor.name.ends_with(kWeight)) {
      const std::string module = tensor.name.substr(0, tensor.name.size() - kWeight.size());
      scaled = scaled || file.find(module + ".scale_weight") || file.find(module + ".weight.scale");
    }
    if (scaled)
      tensor.foreign_type = tensor.dtype == DType::f8_e4m3 ? "F8_E4M3 with scales" : "F8_E5M2 with scales";
  }
}

}  // namespace orrery::io
