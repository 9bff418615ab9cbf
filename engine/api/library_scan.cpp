#include "engine/api/library_scan.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "engine/io/gguf.h"
#include "engine/io/hf_config.h"

namespace orrery::api {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostEntries = 50'000;  // of folders, in all

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

/// Empty without a home folder.
fs::path below_home(const char* path) {
  const char* home = std::getenv("HOME");
  return home && *home ? fs::path(home) / path : fs::path();
}

/// What a variable says, or else the usual place below the home folder.
fs::path place(const char* variable, const char* usual) {
  const char* value = std::getenv(variable);
  return value && *value ? fs::path(value) : below_home(usual);
}

fs::path hugging_face_hub() {
  if (const char* hub = std::getenv("HF_HUB_CACHE"); hub && *hub) return hub;
  const fs::path home = place("HF_HOME", ".cache/huggingface");
  return home.empty() ? home : home / "hub";
}

/// "models--ORG--NAME" -> "ORG/NAME"; empty for other folders.
std::string hub_name(const std::string& folder) {
  constexpr std::string_view kModels = "models--", kSlash = "--";
  if (!folder.starts_with(kModels)) return {};
  std::string name = folder.substr(kModels.size());
  for (size_t at = name.find(kSlash); at != std::string::npos; at = name.find(kSlash, at))
    name.replace(at, 2, "/");
  return name;
}

bool is_weights(const fs::path& file) {
  const std::string name = file.filename().string(), ending = file.extension().string();
  if (name.starts_with("adapter_model.")) return false;
  return ending == ".safetensors" || (ending == ".bin" && name.starts_with("pytorch_model"));
}

/// A GGUF file, of a split model the first one.
bool is_gguf(const fs::path& file) {
  const auto piece = io::parse_piece_name(file.filename().string());
  return file.extension() == ".gguf" && (!piece || piece->number == 1);
}

}  // namespace

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

std::vector<fs::path> LibraryScan::entries(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator it(folder, fs::directory_options::skip_permission_denied, error), end;
       !error && it != end && looked_ < kMostEntries; it.increment(error), ++looked_)
    paths.push_back(it->path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

bool LibraryScan::first_visit(const fs::path& path, std::set<fs::path>& visited) {
  std::error_code error;
  const fs::path whole = fs::canonical(path, error);
  return !error && visited.insert(whole).second;
}

void LibraryScan::skip(const fs::path& path) { first_visit(path, models_); }

void LibraryScan::add(const fs::path& path, const std::string& name) {
  if (first_visit(path, models_)) found_.push_back({name, path});
}

void LibraryScan::below(const fs::path& folder, int depth, const std::string& name) {
  if (!first_visit(folder, folders_)) return;
  const std::vector<fs::path> paths = entries(folder);
  const bool hugging_face = is_file(folder / "config.json"),
             adapter = is_file(folder / "adapter_config.json");
  bool weights = false;
  for (const fs::path& path : paths) {
    if (is_file(path)) {
      weights = weights || is_weights(path);
      if (is_gguf(path) || (!hugging_face && path.extension() == ".safetensors" && is_weights(path)))
        add(path, name);
    } else if (depth > 0 && is_folder(path) && !path.filename().string().starts_with('.')) {
      below(path, depth - 1, name);
    }
  }
  if (hugging_face && weights && !adapter) add(folder, name);
}

/// models--ORG--NAME/snapshots/COMMIT/..., links to blobs; refs/main holds the commit that is current.
void LibraryScan::hugging_face_store(const fs::path& store) {
  for (const fs::path& model : entries(store)) {
    const std::string name = hub_name(model.filename().string());
    if (name.empty()) continue;
    std::string commit;
    std::ifstream(model / "refs" / "main") >> commit;
    const bool known = !commit.empty() && commit.find('/') == std::string::npos && commit != "." &&
                       commit != ".." && is_folder(model / "snapshots" / commit);
    if (known)
      below(model / "snapshots" / commit, kDepth, name);
    else
      for (const fs::path& snapshot : entries(model / "snapshots"))
        if (is_folder(snapshot)) below(snapshot, kDepth, name);
  }
}

/// manifests/HOST/OWNER/NAME/TAG, JSON whose layer of the kind "model" names blobs/sha256-DIGEST, a GGUF
/// file.
void LibraryScan::ollama_store(const fs::path& store) {
  ollama_manifests(store / "manifests", kDepth, store);
}

void LibraryScan::ollama_manifests(const fs::path& folder, int depth, const fs::path& store) {
  if (!first_visit(folder, folders_)) return;
  for (const fs::path& path : entries(folder)) {
    if (is_file(path))
      ollama_manifest(path, store);
    else if (depth > 0 && is_folder(path))
      ollama_manifests(path, depth - 1, store);
  }
}

void LibraryScan::ollama_manifest(const fs::path& file, const fs::path& store) {
  constexpr std::string_view kDigest = "sha256:";
  constexpr int kMostLayers = 32;
  const auto manifest = io::read_json_file(file);
  if (!manifest.ok()) return;
  for (int i = 0; i < kMostLayers; ++i) {
    const std::string layer = "layers." + std::to_string(i) + ".";
    const std::string* kind = manifest.value().text(layer + "mediaType");
    const std::string* digest = manifest.value().text(layer + "digest");
    if (!kind || !digest || *kind != "application/vnd.ollama.image.model" || !digest->starts_with(kDigest))
      continue;
    const std::string hash = digest->substr(kDigest.size());
    const bool legal = hash.find_first_not_of("0123456789abcdef") == std::string::npos;
    const fs::path blob = store / "blobs" / ("sha256-" + hash);
    if (legal && is_file(blob))
      add(blob, file.parent_path().filename().string() + ":" + file.filename().string());
  }
}

void LibraryScan::stores() {
  if (const char* paths = std::getenv("ORRERY_MODELS_PATH")) {
    std::string_view rest = paths;
    while (!rest.empty()) {
      const std::string_view path = rest.substr(0, rest.find(':'));
      rest.remove_prefix(std::min(rest.size(), path.size() + 1));
      if (!path.empty()) folder(path);
    }
  }
  if (const fs::path hub = hugging_face_hub(); !hub.empty()) hugging_face_store(hub);
  for (const fs::path& path : {below_home(".lmstudio/models"), below_home(".cache/lm-studio/models"),
                               place("LLAMA_CACHE", ".cache/llama.cpp")})
    if (!path.empty()) folder(path);
  if (const fs::path store = place("OLLAMA_MODELS", ".ollama/models"); !store.empty()) ollama_store(store);
}

}  // namespace orrery::api
