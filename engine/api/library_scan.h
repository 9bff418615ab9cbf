// Where models lie on this machine: folders, and the stores of other programs. Names and paths alone; nothing
// is opened but the small files that say what belongs together.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace orrery::api {

struct FoundModel {
  std::string name;  // what the program that stored it calls it; empty: by its own name
  std::filesystem::path path;
};

bool is_file(const std::filesystem::path& path);  // false, too, where it cannot be seen

/// Collects models; one that is met twice, by links or by two ways, is kept once. Links are followed, cycles
/// end. It looks at 50,000 entries of folders in all, so that a disk's root does no harm.
class LibraryScan {
 public:
  /// Models below a folder, at most four levels deep. A Hugging Face folder is one model, and its weights are
  /// not found again; a split GGUF is its first piece; adapters are no models. Hidden folders are left out.
  void folder(const std::filesystem::path& path) { below(path, kDepth); }
  /// The stores of other programs that are there, by their variables or in their usual places: Hugging Face
  /// (HF_HUB_CACHE, HF_HOME), LM Studio, Ollama (OLLAMA_MODELS), llama.cpp (LLAMA_CACHE). First the folders
  /// of ORRERY_MODELS_PATH, which are separated by colons.
  void stores();
  /// Not found any more, because it is listed already.
  void skip(const std::filesystem::path& path);

  const std::vector<FoundModel>& found() const { return found_; }

 private:
  static constexpr int kDepth = 4;

  std::vector<std::filesystem::path> entries(const std::filesystem::path& folder);
  bool first_visit(const std::filesystem::path& path, std::set<std::filesystem::path>& visited);
  void add(const std::filesystem::path& path, const std::string& name);
  void below(const std::filesystem::path& folder, int depth, const std::string& name = {});
  void hugging_face_store(const std::filesystem::path& store);
  void ollama_store(const std::filesystem::path& store);
  void ollama_manifests(const std::filesystem::path& folder, int depth, const std::filesystem::path& store);
  void ollama_manifest(const std::filesystem::path& file, const std::filesystem::path& store);

  size_t looked_ = 0;
  std::set<std::filesystem::path> models_, folders_;  // canonical
  std::vector<FoundModel> found_;
};

}  // namespace orrery::api
