#include "engine/edit/files.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery::edit {

Result<NamedFile> open_tensors(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  NamedFile named;
  named.named.path = error ? path : absolute.lexically_normal().string();
  ORRERY_ASSIGN(named.file, weights::WeightFile::open(named.named.path, nullptr));
  named.named.stamp = named.file->stamp();
  return named;
}

Result<const io::Tensor*> find_tensor(const NamedFile& file, const std::string& name) {
  const std::span<const io::Tensor> tensors = file.file->tensors();
  const io::Tensor* found = !name.empty()         ? file.file->find(name)
                            : tensors.size() == 1 ? &tensors.front()
                                                  : nullptr;
  if (found) {
    ORRERY_TRY(io::check_runnable(*found, file.named.path));
    return found;
  }
  std::string names;
  for (const io::Tensor& tensor : tensors.first(std::min<size_t>(tensors.size(), 5)))
    names += (names.empty() ? "" : ", ") + tensor.name.substr(0, 80);
  if (tensors.size() > 5) names += fmt::format(", and {} more", tensors.size() - 5);
  return Error{ErrorCode::not_found,
               name.empty() ? fmt::format("The file has {} tensors, not one", tensors.size())
                            : fmt::format("The file has no tensor \"{}\"", name.substr(0, 80)),
               file.named.path, names.empty() ? "choose another file" : "it has " + names};
}

graph::Attributes weight_attributes(const weights::OtherFile& file, const std::string& tensor, DType dtype,
                                    std::vector<int64_t> shape) {
  return {{"tensor", tensor},
          {"dtype", std::string(name_of(dtype))},
          {"shape", std::move(shape)},
          {"file", file.path},
          {"stamp", file.stamp}};
}

void resolve_files(std::vector<Edit>& edits, const std::filesystem::path& folder) {
  for (Edit& edit : edits) {
    const Verb* verb = find_verb(edit.op);
    if (!verb) continue;
    for (auto& [name, text] : edit.fields) {
      const Field* field = verb->field(name);
      if (field && !text.empty() && (field->kind == FieldKind::file || field->kind == FieldKind::folder))
        text = (folder / text).lexically_normal().string();  // an absolute one stays
    }
  }
}

}  // namespace orrery::edit
