// open_model: which format it is, by content, and for folders which files belong together.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/io/gguf.h"
#include "engine/io/hf_config.h"
#include "engine/io/reader.h"
#include "engine/io/tensor_file.h"

namespace orrery::io {
namespace {

namespace fs = std::filesystem;
constexpr size_t kMostFiles = 100'000;  // of a folder that is looked through
constexpr size_t kMostShards = 4096;

struct Folder {
  std::vector<fs::path> safetensors, pytorch, gguf;  // sorted; of a split GGUF the first piece
  bool config = false, adapter = false;
};

Result<Folder> look_through(const fs::path& path) {
  Folder folder;
  std::error_code error;
  size_t seen = 0;
  for (fs::directory_iterator it(path, error), end; !error && it != end && seen < kMostFiles;
       it.increment(error), ++seen) {
    const fs::path name = it->path().filename();
    if (name == "config.json") folder.config = true;
    if (name == "adapter_config.json") folder.adapter = true;
    if (name.extension() == ".safetensors" && name != "adapter_model.safetensors")
      folder.safetensors.push_back(it->path());
    const auto piece = parse_piece_name(name.string());
    if (name.extension() == ".gguf" && (!piece || piece->number == 1)) folder.gguf.push_back(it->path());
    if (name.extension() == ".bin" && name.string().starts_with("pytorch_model"))
      folder.pytorch.push_back(it->path());
  }
  if (error)
    return Error{ErrorCode::io, "The folder cannot be read: " + error.message(), path.string(),
                 "check the permissions"};
  for (auto* files : {&folder.safetensors, &folder.pytorch, &folder.gguf})
    std::sort(files->begin(), files->end());
  return folder;
}

/// Names of the shards that an index lists, and which tensor is where.
struct ShardIndex {
  std::set<std::string> shards;
  std::vector<std::pair<std::string, std::string>> tensors;  // tensor, shard
};

Result<ShardIndex> read_index(const fs::path& path) {
  ORRERY_ASSIGN(const Metadata json, read_json_file(path));
  constexpr std::string_view kPrefix = "weight_map.";
  ShardIndex index;
  for (const auto& [key, value] : json.all()) {
    if (!key.starts_with(kPrefix)) continue;
    const std::string tensor = key.substr(kPrefix.size());
    const auto* shard = std::get_if<std::string>(&value);
    if (!shard || shard->empty() || shard->find('/') != std::string::npos || *shard == "." || *shard == "..")
      return corrupt(fmt::format("The tensor {} is not given a file of this folder", shown(tensor)),
                     path.string());
    index.shards.insert(*shard);
    index.tensors.emplace_back(tensor, *shard);
  }
  if (index.shards.empty() || index.shards.size() > kMostShards)
    return corrupt(
        fmt::format("The index names {} files (1 to {} are legal)", index.shards.size(), kMostShards),
        path.string());
  return index;
}

Result<void> read_shards(const fs::path& index_path, ModelFile& file, const ProgressCallback& progress,
                         const std::stop_token& stop) {
  ORRERY_ASSIGN(const ShardIndex index, read_index(index_path));
  size_t done = 0;
  for (const std::string& shard : index.shards) {
    if (stop.stop_requested()) return cancelled_error();
    if (progress) progress("reading shards", done++, index.shards.size());
    ORRERY_ASSIGN(const auto mapped, MappedFile::open(index_path.parent_path() / shard));
    ORRERY_TRY(read_tensor_file(mapped, file, stop));
  }
  for (const auto& [tensor, shard] : index.tensors)
    if (!file.find(tensor))
      return corrupt(fmt::format("The index promises the tensor {} in {}, which does not hold it",
                                 shown(tensor), shown(shard)),
                     index_path.string());
  return {};
}

/// Which of a folder's weights are read: safetensors before PyTorch files, an index before single files, the
/// file of the usual name before others. Empty: there are none.
struct Weights {
  fs::path index;
  std::vector<fs::path> files;
};

Weights choose_weights(const fs::path& path, const Folder& folder) {
  const auto choose = [&](const char* usual, const std::vector<fs::path>& files) -> Weights {
    std::error_code error;
    const fs::path single = path / usual, index = path / (std::string(usual) + ".index.json");
    if (fs::exists(index, error)) return {index, {}};
    if (std::find(files.begin(), files.end(), single) != files.end()) return {{}, {single}};
    return {{}, files};
  };
  Weights weights = choose("model.safetensors", folder.safetensors);
  if (weights.index.empty() && weights.files.empty()) weights = choose("pytorch_model.bin", folder.pytorch);
  return weights;
}

Result<void> read_folder_weights(const fs::path& path, const Folder& folder, ModelFile& file,
                                 const ProgressCallback& progress, const std::stop_token& stop) {
  const Weights weights = choose_weights(path, folder);
  if (!weights.index.empty()) return read_shards(weights.index, file, progress, stop);
  for (const fs::path& part : weights.files) {
    ORRERY_ASSIGN(const auto mapped, MappedFile::open(part));
    ORRERY_TRY(read_tensor_file(mapped, file, stop));
  }
  if (weights.files.empty() && file.tokenizer_json.empty() && !has_tokenizer_files(path))
    return Error{ErrorCode::not_found, "The folder holds no safetensors or PyTorch file", path.string(),
                 "choose a folder with config.json and model.safetensors or pytorch_model.bin"};
  return {};  // a tokenizer alone is good for tokenizing
}

std::string folder_name(const fs::path& path) {
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(path, error);
  const fs::path& named = error ? path : whole;
  return (named.has_filename() ? named.filename() : named.parent_path().filename()).string();
}

Result<std::shared_ptr<const ModelFile>> open_file(const fs::path& path, const ProgressCallback& progress,
                                                   const std::stop_token& stop) {
  ORRERY_ASSIGN(auto mapped, MappedFile::open(path));
  const std::span<const std::byte> bytes = mapped->bytes();
  if (looks_like_gguf(bytes)) {
    ORRERY_ASSIGN(auto file, read_gguf(std::move(mapped), progress, stop));
    return std::shared_ptr<const ModelFile>(std::move(file));
  }
  auto file = std::make_shared<ModelFile>();
  file->path = path;
  file->name = path.stem().string();
  if (const std::optional<Format> format = tensor_file_format(bytes)) {
    file->format = *format;
    ORRERY_TRY(read_hugging_face_files(path.has_parent_path() ? path.parent_path() : fs::path("."), *file));
  }
  ORRERY_TRY(read_tensor_file(mapped, *file, stop));
  add_rope_factors(*file);
  set_scaled_apart(*file);
  return std::shared_ptr<const ModelFile>(std::move(file));
}

Result<std::shared_ptr<const ModelFile>> open_folder(const fs::path& path, const ProgressCallback& progress,
                                                     const std::stop_token& stop) {
  ORRERY_ASSIGN(const Folder folder, look_through(path));
  if (!folder.config && folder.gguf.size() == 1) return open_file(folder.gguf.front(), progress, stop);
  if (folder.adapter && folder.safetensors.empty())
    return Error{ErrorCode::invalid_argument, "The folder holds an adapter, not a model", path.string(),
                 "open its base model, with this folder as the adapter"};
  if (!folder.config)
    return Error{ErrorCode::not_found, "The folder has no config.json", path.string(),
                 folder.gguf.empty() ? "choose a Hugging Face folder or a .gguf file"
                                     : "choose one of its .gguf files"};
  auto file = std::make_shared<ModelFile>();
  file->format = Format::hugging_face_folder;
  file->path = path;
  file->name = folder_name(path);
  if (progress) progress("reading config", 0, 0);
  ORRERY_TRY(read_hugging_face_files(path, *file));
  if (file->architecture.empty())
    return corrupt("config.json does not name a model_type", (path / "config.json").string());
  ORRERY_TRY(read_folder_weights(path, folder, *file, progress, stop));
  add_rope_factors(*file);
  set_scaled_apart(*file);
  return std::shared_ptr<const ModelFile>(std::move(file));
}

}  // namespace

Result<std::shared_ptr<const ModelFile>> open_model(const fs::path& path, const ProgressCallback& progress,
                                                    std::stop_token stop) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found)
    return Error{ErrorCode::not_found, "There is no such file or folder", path.string(), "check the path"};
  if (fs::is_directory(status)) return open_folder(path, progress, stop);
  return open_file(path, progress, stop);
}

}  // namespace orrery::io
