#include "engine/api/constant_files.h"

#include "engine/io/npy.h"
#include "engine/io/reader.h"

namespace orrery::api {
namespace {

graph::ValueType type_of_tensor(const io::Tensor& tensor) {
  return {tensor.dtype, Shape(tensor.shape.begin(), tensor.shape.end())};
}

}  // namespace

Result<graph::ValueType> ConstantFiles::type_of(const std::filesystem::path& path) {
  if (const io::Tensor* known = file_->find(path.string())) return type_of_tensor(*known);
  ORRERY_ASSIGN(auto mapped, io::MappedFile::open(path));
  ORRERY_ASSIGN(io::Tensor tensor, io::npy_array(*mapped));
  ORRERY_TRY(io::check_runnable(tensor, path));
  tensor.name = path.string();
  io::add_tensor(*file_, std::move(tensor));
  file_->file_bytes += mapped->bytes().size();
  file_->files.push_back(std::move(mapped));
  return type_of_tensor(file_->tensors.back());
}

}  // namespace orrery::api
