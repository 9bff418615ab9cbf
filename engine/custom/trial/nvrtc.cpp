#include "engine/custom/trial/nvrtc.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <vector>

#include "engine/custom/toolchain.h"

namespace orrery::custom::trial {
namespace {

/// The functions of nvrtc.h that are called here; a result of 0 is success.
struct Nvrtc {
  int (*version)(int* major, int* minor);
  int (*create)(void** program, const char* source, const char* name, int headers,
                const char* const* contents, const char* const* names);
  int (*destroy)(void** program);
  int (*compile)(void* program, int options, const char* const* texts);
  int (*log_size)(void* program, size_t* bytes);
  int (*log)(void* program, char* text);
  int (*cubin_size)(void* program, size_t* bytes);
  int (*cubin)(void* program, char* bytes);
  int (*ptx_size)(void* program, size_t* bytes);
  int (*ptx)(void* program, char* bytes);

  bool load(void* library) {
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    return find(version, "nvrtcVersion") && find(create, "nvrtcCreateProgram") &&
           find(destroy, "nvrtcDestroyProgram") && find(compile, "nvrtcCompileProgram") &&
           find(log_size, "nvrtcGetProgramLogSize") && find(log, "nvrtcGetProgramLog") &&
           find(cubin_size, "nvrtcGetCUBINSize") && find(cubin, "nvrtcGetCUBIN") &&
           find(ptx_size, "nvrtcGetPTXSize") && find(ptx, "nvrtcGetPTX");
  }
};

const Nvrtc* nvrtc() {
  static const Nvrtc* const found = []() -> const Nvrtc* {
    static Nvrtc functions;
    for (const std::string& place : nvrtc_places())
      if (void* const library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
          library && functions.load(library))
        return &functions;
    return nullptr;
  }();
  return found;
}

std::string text_of(void* program, int (*size_of)(void*, size_t*), int (*get)(void*, char*)) {
  size_t bytes = 0;
  if (size_of(program, &bytes) != 0) return {};
  std::string text(bytes, '\0');
  if (bytes == 0 || get(program, text.data()) != 0) return {};
  return text;
}

}  // namespace

Compiled compile_cuda(const std::string& source, const std::string& name, const std::string& architecture,
                      const std::string& header) {
  const Nvrtc* const api = nvrtc();
  if (!api)
    return {
        false, true, "",
        "NVRTC is not on this machine: install the CUDA Toolkit, or the wheel nvidia-cuda-nvrtc and name its "
        "libnvrtc.so in ORRERY_NVRTC"};
  void* program = nullptr;
  const char *contents = header.c_str(), *header_name = "orrery_op.h";
  if (api->create(&program, source.c_str(), name.c_str(), 1, &contents, &header_name) != 0)
    return {false, false, "", "nvrtc: error: the program cannot be made"};
  const std::string target = "--gpu-architecture=" + architecture;
  std::vector<const char*> options = {target.c_str()};
  for (const std::string_view option : kCudaOptions) options.push_back(option.data());
  Compiled compiled;
  compiled.ok = api->compile(program, static_cast<int>(options.size()), options.data()) == 0;
  compiled.log = text_of(program, api->log_size, api->log);
  if (compiled.ok)
    compiled.image = architecture.starts_with("sm_") ? text_of(program, api->cubin_size, api->cubin)
                                                     : text_of(program, api->ptx_size, api->ptx);
  api->destroy(&program);
  while (compiled.log.ends_with('\0')) compiled.log.pop_back();
  return compiled;
}

std::string nvrtc_version() {
  int major = 0, minor = 0;
  const Nvrtc* const api = nvrtc();
  if (!api || api->version(&major, &minor) != 0) return {};
  return fmt::format("{}.{}", major, minor);
}

}  // namespace orrery::custom::trial
