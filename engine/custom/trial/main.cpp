// orrery-trial: what the program does not do itself, as it may crash or not come back.
//   orrery-trial cpu LIBRARY MEMORY                 tries an op on the CPU; MEMORY: the limit that it runs
//   under, bytes orrery-trial card LIBRARY IMAGE|- CARD           compares it on a card with the CPU
//   orrery-trial cuda SOURCE IMAGE ARCHITECTURE      compiles CUDA; the log on stdout. Exit 2: there is no
//   NVRTC orrery-trial nvrtc                               its version on stdout
// The first two tell what they find on file descriptor 3 (report.h).
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "engine/base/sha256.h"
#include "engine/custom/sdk_text.h"
#include "engine/custom/trial/card_trial.h"
#include "engine/custom/trial/cpu_trial.h"
#include "engine/custom/trial/nvrtc.h"
#include "engine/custom/trial/report.h"

namespace orrery::custom::trial {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::shared_ptr<const Library> open_library(const std::string& path) {
  tell("at", "loading the library");
  auto library = Library::open(path);
  if (!library)
    fail(library.error().advice.empty() ? library.error().what
                                        : library.error().what + ": " + library.error().advice);
  return *std::move(library);
}

int try_cpu(const std::string& path, uint64_t memory) {
  watch(memory);
  try_on_cpu(open_library(path));
  tell("done", "");
  finished();
  return 0;
}

/// The driver has handlers and exit functions of its own, so only exceptions are watched for.
int try_card(const std::string& path, const std::string& image_path, int card) {
  const auto library = open_library(path);
  kernels::ProgramImage image;
  if (image_path != "-") {
    image.bytes = read_file(image_path);
    image.id = sha256(image.bytes);
  }
  try {
    try_on_card(library, image.bytes.empty() ? nullptr : &image, card);
  } catch (const std::exception& error) {
    fail(error.what());
  }
  tell("done", "");
  return 0;
}

int compile(const std::string& source, const std::string& image, const std::string& architecture) {
  const std::string name = source.substr(source.rfind('/') + 1);
  const Compiled compiled = compile_cuda(read_file(source), name, architecture, std::string(kOpHeader));
  std::fputs(compiled.log.c_str(), stdout);
  if (!compiled.ok) return compiled.absent ? 2 : 1;
  std::ofstream file(image, std::ios::binary);
  file << compiled.image;
  return file.flush() ? 0 : 1;
}

int obey(const std::vector<std::string>& words) {
  if (words.size() == 3 && words[0] == "cpu") return try_cpu(words[1], std::stoull(words[2]));
  if (words.size() == 4 && words[0] == "card") return try_card(words[1], words[2], std::stoi(words[3]));
  if (words.size() == 4 && words[0] == "cuda") return compile(words[1], words[2], words[3]);
  if (words.size() == 1 && words[0] == "nvrtc") {
    std::puts(nvrtc_version().c_str());
    return 0;
  }
  std::fputs("orrery-trial tries an op of one's own for orrery and orrery-cli, which start it\n", stderr);
  return 4;
}

}  // namespace
}  // namespace orrery::custom::trial

int main(int argc, char** argv) { return orrery::custom::trial::obey({argv + 1, argv + argc}); }
