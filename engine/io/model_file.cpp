#include "engine/io/model_file.h"

namespace orrery::io {

std::string_view name_of(Format format) {
  switch (format) {
    case Format::gguf:
      return "GGUF";
    case Format::safetensors:
      return "safetensors";
    case Format::hugging_face_folder:
      return "Hugging Face folder";
  }
  return "?";
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
