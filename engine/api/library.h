// Names and paths of models.
#pragma once

#include <filesystem>

#include "engine/api/session.h"
#include "engine/io/model_file.h"

namespace orrery::api {

struct ModelPath {
  std::filesystem::path model;
  std::filesystem::path adapter;  // empty: none
};

/// What the person wrote: a path, or one of the default names. not_found lists what there is.
Result<ModelPath> resolve_model(const std::string& model, const std::string& adapter);

/// The headers of a model and its adapter.
struct ModelSource {
  std::shared_ptr<const io::ModelFile> file;
  std::shared_ptr<const io::Adapter> adapter;  // null: none
};
Result<ModelSource> open_source(const ModelPath& path, const ProgressCallback& progress,
                                std::stop_token stop);

/// The name that the person knows it by: the file's name for itself, or else the file name.
std::string display_name(const io::ModelFile& file);
/// The mix of types that a GGUF file says it is made by ("Q4_K_M"), else the type that holds most bytes, ""
/// without tensors.
std::string main_dtype(const io::ModelFile& file);

}  // namespace orrery::api
