// The edited model as a file that other programs load: a GGUF file from a GGUF file, a folder from a folder.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/api/session.h"

namespace orrery::api {

struct ExportOptions {
  /// Where something is folded into a quantised tensor (an adapter, a vector, a factor), it is written as
  /// f32, so that the file computes what the session does; or, with this, rounded to the tensor's own type.
  bool keep_types = false;
};

struct ExportProblem {
  std::string where, what;  // a node, value or tensor, and why the format cannot say it
};

struct ExportTensor {
  std::string name, dtype;
  std::vector<int64_t> shape;
  uint64_t bytes = 0;
  std::string how;  // "as it is", "Q8_0, was Q4_1", "with what was folded in, f32"
};

struct ExportReport {
  std::vector<ExportProblem> problems;  // none, or nothing is written
  std::vector<std::string>
      dropped;  // what the file leaves out: places, precisions, probes, sampling settings
  std::vector<ExportTensor> tensors;  // none where there are problems
  uint64_t bytes = 0;                 // of the tensors; once written, of the file or folder
  std::string format, architecture;   // "GGUF", "llama"
  std::string path;                   // once written
};

/// What would be written of the session as it is now. Reads headers, and the vectors that edits add; writes
/// nothing. The session stays free for other work meanwhile. Any thread.
Result<ExportReport> plan_export(const Session& session, const ExportOptions& options = {});

/// Writes FILE.gguf, or for a model of a folder the new folder `path`; whole, or nothing at all. Layers are
/// numbered in the order in which they run, tensors that no edit touched keep their bytes. What was written
/// is opened again and compared, graph and bytes, before it takes its name. Refused: what the format cannot
/// express (the first problem of the plan), a disk with too little room, a path that would replace the model
/// or a folder that is not empty.
Result<ExportReport> export_model(const Session& session, const std::string& path,
                                  const ExportOptions& options, const ProgressCallback& progress,
                                  std::stop_token stop);

}  // namespace orrery::api
