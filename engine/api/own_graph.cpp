#include "engine/api/own_graph.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "engine/api/devices.h"
#include "engine/api/guard.h"
#include "engine/api/inspect.h"
#include "engine/api/library_scan.h"
#include "engine/api/session_impl.h"
#include "engine/api/weight_files.h"
#include "engine/io/new_file.h"
#include "engine/text/no_vocabulary.h"

namespace orrery::api {
namespace {

constexpr uintmax_t kLargestGraph = uintmax_t{64} << 20;  // bytes

Result<std::string> graph_text(const std::string& path) {
  std::error_code error;
  const uintmax_t bytes = std::filesystem::file_size(path, error);
  std::ifstream stream(path, std::ios::binary);
  if (error || !stream.is_open())
    return Error{ErrorCode::io, "The graph cannot be read", path, "check the file and its permissions"};
  if (bytes > kLargestGraph)
    return Error{ErrorCode::unsupported, "The graph's file is larger than 64 MB", path,
                 "keep its data in files of NumPy"};
  return std::string{std::istreambuf_iterator<char>(stream), {}};
}

std::filesystem::path folder_of(const std::string& path) {
  return std::filesystem::absolute(path).lexically_normal().parent_path();
}

Result<own::GraphFile> read_graph(const std::string& path) {
  ORRERY_ASSIGN(const std::string text, graph_text(path));
  return own::parse_graph(text, ops::registry(), folder_of(path), weights_of_files());
}

ModelInfo info_of(const std::string& name, const std::string& path) {
  ModelInfo info;
  info.name = name;
  info.path = path;
  info.format = "graph";
  info.task = Task::tensors;
  info.tokenizer = "none";
  return info;
}

Result<runtime::Model::Options> run_options(const OpenOptions& options,
                                            const runtime::DeviceScheduler& scheduler) {
  runtime::Model::Options run;
  ORRERY_ASSIGN(run.precision, parse_precision(options.precision));
  run.device = scheduler.device();
  run.threads = scheduler.threads();
  run.batch_tokens = 1;
  return run;
}

Result<std::shared_ptr<Session>> open(graph::GraphVersion graph, const std::string& name,
                                      OpenOptions options) {
  ORRERY_ASSIGN(const kernels::DeviceId device, parse_device(options.device));
  options.device = to_string(device);
  ORRERY_TRY(check_passes(options.disabled_passes));
  SessionImpl::Parts parts;
  ORRERY_ASSIGN(parts.scheduler, scheduler_for(options.device, options.threads));
  ORRERY_ASSIGN(const runtime::Model::Options run, run_options(options, *parts.scheduler));
  ORRERY_ASSIGN(const auto version,
                prepare_version(graph, preparation_of(run, options.device, passes_of(options))));
  parts.info = info_of(name, options.model);
  parts.source.file = std::make_shared<const io::ModelFile>();
  parts.weights = std::make_shared<weights::WeightStore>(parts.source.file, nullptr);
  parts.tokenizer = text::no_vocabulary();
  parts.chat_template = std::make_shared<const Result<text::ChatTemplate>>(
      Error{ErrorCode::unsupported, "A graph of one's own has no chat template", name, ""});
  parts.model = std::make_shared<runtime::Model>(parts.weights, version, run);
  parts.options = std::move(options);
  SessionStatePtr state = opened_state(std::move(graph), version, parts.options.fusion);
  return std::shared_ptr<Session>(std::make_shared<SessionImpl>(std::move(parts), std::move(state)));
}

}  // namespace

Result<std::shared_ptr<Session>> open_graph(graph::GraphVersion graph, const std::string& name,
                                            const OpenOptions& options) {
  return guarded([&] { return open(std::move(graph), name, options); });
}

Result<std::shared_ptr<Session>> new_graph(const OpenOptions& options) {
  return open_graph(std::make_shared<const graph::Graph>(ops::registry()), "New graph", options);
}

Result<std::shared_ptr<Session>> open_graph_file(const OpenOptions& options) {
  return guarded([&]() -> Result<std::shared_ptr<Session>> {
    ORRERY_ASSIGN(own::GraphFile file, read_graph(options.model));
    return open(std::make_shared<const graph::Graph>(std::move(file.graph)),
                std::filesystem::path(options.model).stem().string(), options);
  });
}

bool is_graph_file(const std::string& path) {
  return guarded_or_empty([&] {
    if (!is_file(path)) return false;
    std::array<char, 4096> begin{};
    std::ifstream stream(path, std::ios::binary);
    stream.read(begin.data(), begin.size());
    return own::looks_like_graph({begin.data(), static_cast<size_t>(stream.gcount())});
  });
}

Result<void> save_graph(const Session& session, const std::string& path, const Canvas& canvas) {
  return guarded([&]() -> Result<void> {
    ORRERY_ASSIGN(const std::string text,
                  own::write_graph(*session.model_graph(), canvas.places, canvas.given, folder_of(path),
                                   weights_of_files()));
    ORRERY_ASSIGN(io::NewFile file, io::NewFile::create(path, text.size()));
    ORRERY_TRY(file.write(std::as_bytes(std::span(text))));
    return file.commit();
  });
}

Result<Canvas> read_canvas(const std::string& path) {
  return guarded([&]() -> Result<Canvas> {
    ORRERY_ASSIGN(own::GraphFile file, read_graph(path));
    return Canvas{std::move(file.places), std::move(file.given)};
  });
}

}  // namespace orrery::api
