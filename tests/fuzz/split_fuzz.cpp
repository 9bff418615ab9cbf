// A split GGUF whose second piece is any bytes, beside two whole pieces. The files are links, the second one
// to memory, so that a run costs no disk.
#include "tests/fuzz/model_fuzz.h"

namespace {

struct Folder {
  std::filesystem::path path;
  orrery::fuzz::MemoryFile second;

  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "orrery_fuzz_XXXXXX").string();
    if (!::mkdtemp(pattern.data())) std::abort();
    path = pattern;
    const std::filesystem::path whole = std::filesystem::path(ORRERY_TEST_DATA) / "io/tiny_split";
    for (const char* name : {"tiny-00001-of-00003.gguf", "tiny-00003-of-00003.gguf"})
      std::filesystem::create_symlink(whole / name, path / name);
    std::filesystem::create_symlink(second.write(nullptr, 0), path / "tiny-00002-of-00003.gguf");
  }
  ~Folder() {
    std::error_code error;
    std::filesystem::remove_all(path, error);
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Folder folder;
  folder.second.write(data, size);
  orrery::fuzz::walk(orrery::io::open_model(folder.path / "tiny-00001-of-00003.gguf", {}, {}));
  return 0;
}
