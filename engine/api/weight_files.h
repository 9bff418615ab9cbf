// The files that a graph of one's own has weights of.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "engine/graph/op_schema.h"
#include "engine/weights/weight_file.h"

namespace orrery::api {

/// Looks their tensors up; each file is opened once. As own::WeightOfFile.
class WeightFiles {
 public:
  Result<graph::Attributes> operator()(const std::filesystem::path& path, const std::string& tensor);

 private:
  std::map<std::string, std::shared_ptr<const weights::WeightFile>> files_;
};

}  // namespace orrery::api
