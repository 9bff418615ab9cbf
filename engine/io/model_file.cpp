#include "engine/io/model_file.h"

#include <fmt/format.h>

#include "engine/io/gguf_types.h"
#include "engine/io/reader.h"

namespace orrery::io {

std::string_view name_of(Format format) {
  switch (format) {
    case Format::gguf:
      return "GGUF";
    case Format::safetensors:
      return "safetensors";
    case Format::pytorch:
      return "PyTorch";
    case Format::numpy:
      return "NumPy";
    case Format::hugging_face_folder:
      return "Hugging Face folder";
  }
  return "?";
}

Result<void> check_runnable(const Tensor& tensor, const std::filesystem::path& path) {
  if (tensor.foreign_type.empty()) return {};
  std::string known;
  for (const GgufTensorType& type : kGgufTensorTypes)
    if (type.dtype && !is_integer(*type.dtype)) (known += known.empty() ? "" : ", ") += type.name;
  return unsupported(
      fmt::format("The tensor {} has the type {}, which is not run", shown(tensor.name), tensor.foreign_type),
      path.string(), fmt::format("choose a file of this model with the types {}", known));
}

const Tensor* ModelFile::find(std::string_view tensor) const {
  const auto it = by_name.find(std::string(tensor));
  return it == by_name.end() ? nullptr : &tensors[it->second];
}

uint64_t ModelFile::parameters() const {
  uint64_t total = 0;
  for (const Tensor& tensor : tensors) {
    uint64_t elements = 1;  // readers have checked that the product fits
    for (const int64_t dim : tensor.shape) elements *= static_cast<uint64_t>(dim);
    total += elements;
  }
  return total;
}

}  // namespace orrery::io
