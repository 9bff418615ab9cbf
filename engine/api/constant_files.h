// The files of NumPy that a graph of one's own has for constants.
#pragma once

#include <filesystem>
#include <memory>

#include "engine/api/session.h"
#include "engine/io/model_file.h"

namespace orrery::api {

/// As a model's file has its tensors: mapped, under their paths.
class ConstantFiles {
 public:
  /// Of a file's array, which is one of them from then on.
  Result<graph::ValueType> type_of(const std::filesystem::path& path);
  std::shared_ptr<const io::ModelFile> take() { return std::move(file_); }

 private:
  std::shared_ptr<io::ModelFile> file_ = std::make_shared<io::ModelFile>();
};

/// As open_graph(), of a graph that reads these files.
Result<std::shared_ptr<Session>> open_with_constants(graph::GraphVersion graph, const std::string& name,
                                                     std::shared_ptr<const io::ModelFile> constants,
                                                     OpenOptions options);

}  // namespace orrery::api
