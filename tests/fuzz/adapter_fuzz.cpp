// An adapter's folder with one file replaced: text as its config, anything else as its tensors. The files are
// links to memory, so that a run costs no disk.
#include <fstream>
#include <iterator>

#include "tests/fuzz/model_fuzz.h"

namespace {

struct Folder {
  std::filesystem::path path;
  std::string config, weights;
  orrery::fuzz::MemoryFile config_file, weights_file;

  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "orrery_fuzz_XXXXXX").string();
    if (!::mkdtemp(pattern.data())) std::abort();
    path = pattern;
    const std::filesystem::path whole = std::filesystem::path(ORRERY_TEST_DATA) / "io/tiny_adapter";
    config = read(whole / "adapter_config.json");
    weights = read(whole / "adapter_model.safetensors");
    std::filesystem::create_symlink(write(config_file, config), path / "adapter_config.json");
    std::filesystem::create_symlink(write(weights_file, weights), path / "adapter_model.safetensors");
    std::filesystem::create_symlink(whole / "config.json", path / "config.json");
  }
  ~Folder() {
    std::error_code error;
    std::filesystem::remove_all(path, error);
  }
  static std::string read(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  static std::filesystem::path write(const orrery::fuzz::MemoryFile& file, std::string_view bytes) {
    return file.write(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Folder folder;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const bool is_config = size > 0 && data[0] == '{';
  Folder::write(folder.config_file, is_config ? bytes : std::string_view(folder.config));
  Folder::write(folder.weights_file, is_config ? std::string_view(folder.weights) : bytes);
  const auto opened = orrery::io::open_adapter(folder.path);
  if (!opened.ok() && opened.error().what.empty()) std::abort();
  if (opened.ok()) orrery::fuzz::walk((*opened)->file);
  return 0;
}
