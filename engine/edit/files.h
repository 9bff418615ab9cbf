// The files that edits name.
#pragma once

#include <filesystem>

#include "engine/edit/edit.h"
#include "engine/weights/weight_file.h"

namespace orrery::edit {

/// An opened file with what a weight node says of it.
struct NamedFile {
  weights::OtherFile named;  // the absolute path
  std::shared_ptr<const weights::WeightFile> file;
};
/// A file of tensors; an adapter is refused, which has a verb of its own.
Result<NamedFile> open_tensors(const std::string& path);

/// The tensor of that name; of no name the file's only one. A refusal names those that there are.
Result<const io::Tensor*> find_tensor(const NamedFile& file, const std::string& name);

/// The attributes of a weight node that reads a tensor of the file.
graph::Attributes weight_attributes(const weights::OtherFile& file, const std::string& tensor, DType dtype,
                                    std::vector<int64_t> shape);

}  // namespace orrery::edit
