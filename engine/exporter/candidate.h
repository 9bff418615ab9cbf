// The headers of the file that an edited model would be: metadata and tensors without their bytes.
#pragma once

#include "engine/base/metadata_edit.h"
#include "engine/exporter/fold.h"
#include "engine/exporter/layers.h"

namespace orrery::exporter {

struct Candidate {
  std::shared_ptr<io::ModelFile> file;       // a tensor's data is that of the tensor it is made of
  std::vector<const io::Tensor*> originals;  // of each tensor of the file; null: the edits brought it
  std::vector<MetadataEdit> edits;           // of a GGUF file's metadata
  std::string config;                        // of a folder: config.json

  bool is_gguf() const { return file->format == io::Format::gguf; }
};

/// Layers are numbered from 0 in the order of `layers`, each with all tensors of the layer that it is made
/// of; what has one entry per layer in the metadata follows. Tensors that an adapter brought whole when the
/// model was opened belong to it. What the format has no place for is listed in `differences`.
Result<Candidate> candidate_of(const io::ModelFile& model, const io::Adapter* adapter, const Layers& layers,
                               const Folded& folded, std::vector<Difference>& differences);

/// The folder that a model is read from: itself, or that of its file.
std::filesystem::path folder_of(const io::ModelFile& model);

}  // namespace orrery::exporter
