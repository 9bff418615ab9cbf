// The engine functions that the window needs, handed in by the program, so that pages never name an
// implementation and tests can drive the whole window with a session of their own.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/api/attribution.h"
#include "engine/api/compare.h"
#include "engine/api/depths.h"
#include "engine/api/diff.h"
#include "engine/api/export.h"
#include "engine/api/lab_runs.h"
#include "engine/api/memory_estimate.h"
#include "engine/api/metadata.h"
#include "engine/api/own_graph.h"
#include "engine/api/own_ops.h"
#include "engine/api/pass_gain.h"
#include "engine/api/recipe_files.h"
#include "engine/api/session.h"
#include "engine/api/side_times.h"
#include "engine/api/sweep.h"
#include "engine/api/weight_distance.h"

namespace orrery::ui {

using SessionPtr = std::shared_ptr<api::Session>;

/// The metadata of GGUF files. Empty: it is not offered.
struct MetadataCalls {
  std::function<Result<std::vector<api::MetadataKey>>(const std::string& model)> list;
  /// Whether an edit's value is one of its type; quick.
  std::function<Result<void>(const MetadataEdit&)> check;
  /// Copies the model with these edits to a new file.
  std::function<Result<void>(const std::string& model, std::span<const MetadataEdit> edits,
                             const std::string& out, const ProgressCallback&, std::stop_token)>
      save;
};

/// The edited model as a file. Empty: it is not offered.
struct ExportCalls {
  /// What would be written, and what cannot be; writes nothing.
  std::function<Result<api::ExportReport>(const api::Session&, const api::ExportOptions&)> plan;
  std::function<Result<api::ExportReport>(const api::Session&, const std::string& path,
                                          const api::ExportOptions&, const ProgressCallback&,
                                          std::stop_token)>
      write;
};

/// Recipes: lists of edits as JSON text. Empty: they are not offered.
struct RecipeCalls {
  /// What a file's edits name beside it has its whole path then.
  std::function<Result<edit::Recipe>(const std::string& path)> read;
  std::function<Result<edit::Recipe>(std::string_view json)> parse;
  std::function<std::string(const edit::Recipe&)> write;
  /// The edits that a model graph does not take.
  std::function<std::vector<edit::Misfit>(const graph::Graph&, const std::vector<edit::Edit>&)> misfits;
  /// Those that lie where a model's recipes do.
  std::function<std::vector<api::RecipeFile>(const std::string& model, const std::string& adapter)> list = {};
  /// The edits that the model does not take as it is opened; reads its headers.
  std::function<Result<std::vector<edit::Misfit>>(const std::string& model, const std::string& adapter,
                                                  const std::vector<edit::Edit>& edits)>
      check = {};
  std::string folder = {};  // for those that cannot lie beside their model; empty: there is none
};

/// What is asked of an edit before it is made. Empty: the edit itself is refused.
struct EditCalls {
  /// Whether the input of a node can read the value: in microseconds, while a wire is dragged.
  std::function<Result<void>(const graph::Graph&, NodeId node, int input, ValueId value)> canConnect;
  /// Why the graph does not take the edit.
  std::function<std::optional<Error>(const graph::Graph&, const edit::Edit&)> refusal;
};

/// One edit at a time over all places of a model. Empty: it is not offered.
struct SweepCalls {
  std::function<Result<std::vector<api::SweepPlace>>(const graph::Graph&, const api::SweepRequest&)> places;
  std::function<Result<api::Sweep>(const api::Session&, api::Sweep, const api::SweepCallback&,
                                   const std::stop_token&)>
      run;
};

/// What a token takes after texts of rising length. Empty: it is not offered.
struct DepthCalls {
  std::function<Result<api::DepthsDemand>(const api::Session&, const api::DepthsRequest&, std::stop_token)>
      demand;
  std::function<Result<void>(const api::Session&, const api::DepthsRequest&, const api::DepthEvents&,
                             std::stop_token)>
      measure;
};

/// How two models differ. Empty: it is not offered.
struct DiffCalls {
  std::function<api::GraphDifference(const graph::Graph& a, const graph::Graph& b)> graphs;
  std::function<Result<api::WeightDistances>(const api::Session& a, const api::Session& b,
                                             const ProgressCallback&, std::stop_token)>
      weights;
  std::function<Result<api::SideTimes>(api::Session& a, api::Session& b, const ProgressCallback&,
                                       std::stop_token)>
      times;
};

/// What the passes did to a model, and what each is worth. Empty: it is not offered.
struct PassCalls {
  std::function<Result<std::vector<api::PassReport>>(const api::Session&)> report;
  std::function<Result<api::PassGain>(const api::Session&, const std::string& pass,
                                      const api::PassGainOptions&, const ProgressCallback&,
                                      const std::stop_token&)>
      measure;
};

/// Graphs of one's own. Empty: they are not offered.
struct GraphCalls {
  /// Of no nodes yet.
  std::function<Result<SessionPtr>(const api::OpenOptions&)> make;
  std::function<Result<api::Canvas>(const std::string& path)> canvas;
  std::function<Result<void>(const api::Session&, const std::string& path, const api::Canvas&)> save;
  std::function<Result<api::GraphRun>(api::Session&, const api::RunRequest&, std::stop_token)> run;
};

/// The kernels by themselves. Empty: they are not offered.
struct LabCalls {
  std::function<std::vector<api::LabKernel>()> list;
  std::function<Result<api::LabRun>(const api::LabRequest&, const api::LabCallback&, const ProgressCallback&,
                                    std::stop_token)>
      run;
  std::string history = {};  // the file that runs are kept in; empty: they are gone with the window
};

/// Ops of one's own. Empty: they are not offered.
struct OwnOpCalls {
  using Files = std::vector<custom::SourceFile>;
  /// Puts those that were added before into the registry; slow.
  std::function<std::vector<Error>(const Watch&)> join;
  std::function<std::vector<api::OwnOpEntry>()> list;
  std::function<Result<custom::SourceFile>(const std::string& path)> read;
  std::function<Result<api::OwnOpReport>(Files, const Watch&)> compile, check, add;
  std::function<Result<void>(const std::string& name)> remove;
};

struct Services {
  std::function<Result<SessionPtr>(const api::OpenOptions&, const ProgressCallback&, std::stop_token)> open;
  /// The same model with the context and KV type of the options; loads nothing.
  std::function<Result<SessionPtr>(const api::Session&, const api::OpenOptions&)> resize =
      [](const api::Session& session, const api::OpenOptions& options) {
        return session.fork({.context = options.context, .kv_type = options.kv_type}, {});
      };
  std::function<std::vector<api::LibraryEntry>(const std::vector<std::string>& folders)> listModels;
  /// Whether the scopes of the model graph have one residual stream in and one out each, else why not.
  std::function<Result<void>(const graph::Graph&, std::string_view scopes)> canBypass;
  /// The text of a trace file of all these sessions.
  std::function<std::string(const std::vector<api::Trace>&)> writeTrace;
  /// Why CUDA cannot be chosen on this machine, until the devices are listed; empty when it can.
  std::string cudaRefusal;
  /// The CPU and the CUDA devices, or why there are none; slow. May be empty: then cudaRefusal stays.
  std::function<std::vector<api::DeviceEntry>()> listDevices;
  /// What a model will take in memory, read from its headers. May be empty: then nothing is told.
  std::function<Result<api::MemoryDemand>(const api::OpenOptions&)> memoryDemand;
  std::function<Result<api::CompareResult>(api::Session&, api::Session&, const api::CompareRequest&,
                                           const api::CompareEvents&, const ProgressCallback&,
                                           std::stop_token)>
      compare;
  /// Which tokens of a text an answer follows from. Empty: it is not offered.
  std::function<Result<api::Attribution>(api::Session&, const api::AttributionRequest&, const Watch&)>
      attribute = {};
  EditCalls edits = {};
  MetadataCalls metadata = {};
  ExportCalls exports = {};
  RecipeCalls recipes = {};
  SweepCalls sweeps = {};
  DepthCalls depths = {};
  DiffCalls diffs = {};
  PassCalls passes = {};
  GraphCalls graphs = {};
  LabCalls lab = {};
  OwnOpCalls ownOps = {};
};

}  // namespace orrery::ui
