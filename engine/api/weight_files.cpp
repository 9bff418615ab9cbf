#include "engine/api/weight_files.h"

#include <fmt/format.h>

#include "engine/io/reader.h"

namespace orrery::api {
namespace {

Result<const io::Tensor*> find_tensor(const weights::WeightFile& file, const std::string& path,
                                      const std::string& name) {
  const std::span<const io::Tensor> tensors = file.tensors();
  const io::Tensor* found = !name.empty()         ? file.find(name)
                            : tensors.size() == 1 ? &tensors.front()
                                                  : nullptr;
  if (found) {
    ORRERY_TRY(io::check_runnable(*found, path));
    return found;
  }
  return Error{ErrorCode::not_found,
               name.empty() ? fmt::format("The file has {} tensors, not one", tensors.size())
                            : fmt::format("The file has no tensor {}", io::shown(name)),
               path, "name one of its tensors"};
}

}  // namespace

Result<graph::Attributes> WeightFiles::operator()(const std::filesystem::path& path,
                                                  const std::string& name) {
  std::shared_ptr<const weights::WeightFile>& file = files_[path.string()];
  if (!file) {
    ORRERY_ASSIGN(file, weights::WeightFile::open(path, io::ModelFile()));
  }
  ORRERY_ASSIGN(const io::Tensor* tensor, find_tensor(*file, path.string(), name));
  return graph::Attributes{{"tensor", tensor->name},
                           {"dtype", std::string(name_of(tensor->dtype))},
                           {"shape", tensor->shape},
                           {"file", path.string()},
                           {"stamp", file->stamp()}};
}

}  // namespace orrery::api
