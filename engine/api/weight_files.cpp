#include "engine/api/weight_files.h"

#include "engine/edit/files.h"

namespace orrery::api {

own::WeightOfFile weights_of_files() {
  const auto files = std::make_shared<std::map<std::string, edit::NamedFile>>();
  return [files](const std::filesystem::path& path, const std::string& name) -> Result<graph::Attributes> {
    auto known = files->find(path.string());
    if (known == files->end()) {
      ORRERY_ASSIGN(edit::NamedFile opened, edit::open_tensors(path.string()));
      known = files->emplace(path.string(), std::move(opened)).first;
    }
    const edit::NamedFile& file = known->second;
    ORRERY_ASSIGN(const io::Tensor* tensor, edit::find_tensor(file, name));
    return edit::weight_attributes(file.named, tensor->name, tensor->dtype, tensor->shape);
  };
}

}  // namespace orrery::api
