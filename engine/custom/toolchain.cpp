#include "engine/custom/toolchain.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace orrery::custom {
namespace {

constexpr uint64_t kCompilerMemory = uint64_t{8} << 30;

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

Compilation compilation_of(ProcessEnd end, std::chrono::milliseconds time) {
  Compilation made;
  made.log = end.errors + end.output;
  made.diagnostics = parse_diagnostics(made.log);
  for (Diagnostic& diagnostic : made.diagnostics)
    diagnostic.file = std::filesystem::path(diagnostic.file).filename().string();
  made.ok = end.exit_code == 0;
  const bool told = std::ranges::any_of(
      made.diagnostics, [](const Diagnostic& one) { return one.severity == Severity::error; });
  if (end.late)
    made.diagnostics.push_back(
        {"", 0, 0, Severity::error, fmt::format("the compiler was stopped after {} s", time.count() / 1000)});
  else if (!made.ok && !told)
    made.diagnostics.push_back(
        {"", 0, 0, Severity::error, "the compiler failed: " + made.log.substr(0, 400)});
  return made;
}

}  // namespace

std::string host_compiler() {
  if (const std::string named = environment("ORRERY_CXX"); !named.empty()) return find_program(named);
  for (const char* name : {"c++", "g++", "clang++"})
    if (std::string found = find_program(name); !found.empty()) return found;
  return "";
}

std::string host_compiler_version() {
  const std::string compiler = host_compiler();
  if (compiler.empty()) return "";
  const auto end = run_process({compiler, "--version"}, {.time = std::chrono::seconds(10)}, {});
  return end ? end->output.substr(0, end->output.find('\n')) : "";
}

std::string_view language_of(std::string_view name) {
  const std::string_view ending = name.substr(std::min(name.rfind('.'), name.size()));
  if (ending == ".c") return "c";
  return ending == ".cpp" || ending == ".cc" || ending == ".cxx" ? "c++" : "";
}

bool is_cuda(std::string_view name) { return name.ends_with(".cu"); }

Result<Compilation> compile_host(const std::filesystem::path& source, const std::filesystem::path& library,
                                 std::chrono::milliseconds time, std::stop_token stop) {
  const std::string compiler = host_compiler();
  if (compiler.empty())
    return Error{ErrorCode::not_found, "There is no C++ compiler on this machine", "c++",
                 "install g++, or name one in ORRERY_CXX"};
  std::vector<std::string> command = {compiler};
  for (const std::string_view option : kHostOptions) command.emplace_back(option);
  const bool is_c = language_of(source.filename().string()) == "c";
  command.insert(command.end(), {is_c ? "-std=c11" : "-std=c++20", "-x", is_c ? "c" : "c++", source.string(),
                                 "-x", "none", "-o", library.string(), "-lm"});
  ORRERY_ASSIGN(ProcessEnd end, run_process(command, {.time = time, .memory_bytes = kCompilerMemory}, stop));
  return compilation_of(std::move(end), time);
}

Result<Compilation> compile_cuda(const std::filesystem::path& source, const std::filesystem::path& image,
                                 const std::string& architecture, std::chrono::milliseconds time,
                                 std::stop_token stop) {
  constexpr int kAbsent = 2;
  ORRERY_ASSIGN(const std::string trial, trial_program());
  ORRERY_ASSIGN(ProcessEnd end, run_process({trial, "cuda", source.string(), image.string(), architecture},
                                            {.time = time}, stop));
  if (end.exit_code == kAbsent) {
    const size_t colon = std::min(end.output.find(": "), end.output.size());
    return Error{ErrorCode::not_found, end.output.substr(0, colon), "",
                 end.output.substr(std::min(colon + 2, end.output.size()))};
  }
  return compilation_of(std::move(end), time);
}

std::vector<std::string> nvrtc_places() {
  std::vector<std::string> places;
  if (std::string named = environment("ORRERY_NVRTC"); !named.empty()) return {std::move(named)};
  for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}) {
    places.emplace_back(name);
    for (const std::string& toolkit :
         {environment("CUDA_HOME"), environment("CUDA_PATH"), std::string("/usr/local/cuda")})
      if (!toolkit.empty()) places.push_back(toolkit + "/lib64/" + name);
  }
  return places;
}

Result<std::string> trial_program() {
  if (const std::string named = environment("ORRERY_TRIAL"); !named.empty()) return named;
  std::error_code ignored;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const auto& place : {folder / "orrery-trial", folder / "../bin/orrery-trial"})
    if (access(place.c_str(), X_OK) == 0) return place.string();
  return Error{ErrorCode::not_found, "orrery-trial is not beside this program", folder.string(),
               "build it too, or name it in ORRERY_TRIAL"};
}

}  // namespace orrery::custom
