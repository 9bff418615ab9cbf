#include "engine/api/library.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "engine/api/guard.h"
#include "engine/api/library_scan.h"
#include "engine/api/recipes.h"

namespace orrery::api {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostListed = 2000;  // models whose headers are read

/// GGUF's general.file_type, of files that mix types by a recipe of that name.
constexpr std::pair<int64_t, std::string_view> kMixes[] = {
    {10, "Q2_K"},   {11, "Q3_K_S"}, {12, "Q3_K_M"}, {13, "Q3_K_L"}, {14, "Q4_K_S"}, {15, "Q4_K_M"},
    {16, "Q5_K_S"}, {17, "Q5_K_M"}, {21, "Q2_K_S"}, {27, "IQ3_M"},  {29, "IQ2_M"},  {38, "MXFP4_MOE"}};

/// The first GGUF file of a folder, by name.
fs::path gguf_in(const fs::path& folder) {
  fs::path first;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const fs::path& path = it->path();
    if (path.extension() == ".gguf" && is_file(path) && (first.empty() || path < first)) first = path;
  }
  return first;
}

/// The default classifier's adapter: fetched beside the models, installed, or in the source tree.
fs::path sentiment_adapter() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path places[] = {fs::path(default_models_folder()) / "sentiment",
                             program.parent_path().parent_path() / "share/orrery/models/sentiment",
                             fs::path(ORRERY_SOURCE_RESOURCES) / "models/sentiment"};
  for (const fs::path& place : places)
    if (is_file(place / "adapter_config.json")) return place;
  return {};
}

/// The default models that are there: name -> path and adapter.
std::map<std::string, ModelPath> defaults() {
  const fs::path folder = default_models_folder();
  std::map<std::string, ModelPath> known;
  for (const char* name : {"smollm2", "gemma3"})
    if (const fs::path file = gguf_in(folder / name); !file.empty()) known[name] = {file, {}};
  const fs::path minilm = folder / "minilm";
  if (!is_file(minilm / "config.json")) return known;
  known["minilm"] = {minilm, {}};
  if (const fs::path adapter = sentiment_adapter(); !adapter.empty()) known["sentiment"] = {minilm, adapter};
  return known;
}

Error unknown_model(const std::string& model) {
  std::string names;
  for (const auto& [name, path] : defaults()) names += (names.empty() ? "" : ", ") + name;
  const std::string advice =
      names.empty() ? "name a .gguf or .safetensors file or a folder; ./bootstrap.sh fetches the defaults"
                    : fmt::format("name a file or a folder, or one of: {}", names);
  return {ErrorCode::not_found, fmt::format("There is no model \"{}\"", model), default_models_folder(),
          advice};
}

void add_entry(std::vector<LibraryEntry>& list, const std::string& name, const ModelPath& path) {
  const Result<ModelSource> source = open_source(path, {}, {});
  if (!source.ok() || source.value().file->tensors.empty()) return;
  const io::ModelFile& file = *source.value().file;
  list.push_back({name.empty() ? display_name(file) : name, path.model.string(), path.adapter.string(),
                  std::string(io::name_of(file.format)), file.architecture, main_dtype(file),
                  file.parameters(), file.file_bytes,
                  recipes_beside(path.model.string(), identity_of(file))});
}

}  // namespace

std::string default_models_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache && *cache) return (fs::path(cache) / "orrery/models").string();
  const char* home = std::getenv("HOME");
  return (fs::path(home && *home ? home : ".") / ".cache/orrery/models").string();
}

Result<ModelPath> resolve_model(const std::string& model, const std::string& adapter) {
  ModelPath path;
  std::error_code error;
  if (model.empty())
    return Error{ErrorCode::invalid_argument, "No model was named", "",
                 "name a file, a folder or a library model"};
  const auto known = defaults();
  if (const auto it = known.find(model); it != known.end())
    path = it->second;
  else if (fs::exists(model, error))
    path.model = model;
  else
    return unknown_model(model);
  if (!adapter.empty()) path.adapter = adapter;
  return path;
}

Result<ModelSource> open_source(const ModelPath& path, const ProgressCallback& progress,
                                std::stop_token stop) {
  ModelSource source;
  ORRERY_ASSIGN(source.file, io::open_model(path.model, progress, std::move(stop)));
  if (!path.adapter.empty()) {
    ORRERY_ASSIGN(auto adapter, io::open_adapter(path.adapter));
    ORRERY_ASSIGN(source.adapter, io::fit_adapter(*source.file, std::move(adapter)));
    ORRERY_TRY(io::check_adapter(*source.file, *source.adapter));
  }
  return source;
}

std::string display_name(const io::ModelFile& file) {
  return file.name.empty() ? file.path.filename().string() : file.name;
}

std::string main_dtype(const io::ModelFile& file) {
  if (file.format == io::Format::gguf)
    for (const auto& [type, name] : kMixes)
      if (file.metadata.integer("general.file_type") == type) return std::string(name);
  std::map<std::string_view, uint64_t> bytes;
  for (const io::Tensor& tensor : file.tensors) bytes[tensor.type_name()] += tensor.data.size();
  const auto most = std::max_element(bytes.begin(), bytes.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == bytes.end() ? "" : std::string(most->first);
}

std::vector<LibraryEntry> list_models(const std::vector<std::string>& folders) {
  return guarded_or_empty([&] {
    std::vector<LibraryEntry> list;
    LibraryScan scan;
    for (const auto& [name, path] : defaults()) {
      add_entry(list, name, path);
      scan.skip(path.model);
    }
    for (const std::string& folder : folders) scan.folder(folder);
    scan.stores();
    for (const FoundModel& model : scan.found())
      if (list.size() < kMostListed) add_entry(list, model.name, {model.path, {}});
    return list;
  });
}

}  // namespace orrery::api
