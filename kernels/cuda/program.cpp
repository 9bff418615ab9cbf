// Kernels that were compiled at run time (kernels/program.h): images are loaded once, for all cards, by the
// runtime's libraries, so that they run in the same contexts and streams as the module's own.
#include "kernels/program.h"

#include <map>
#include <mutex>

#include "kernels/cuda/launch.h"

namespace orrery::kernels::cuda {
namespace {

/// Never unloaded: a captured graph may have its kernels.
class Images {
 public:
  cudaKernel_t find(const Program::Problem& problem) {
    const std::lock_guard lock(mutex_);
    const auto [entry, fresh] = libraries_.try_emplace(problem.image->id);
    if (fresh) {
      const cudaError_t result = cudaLibraryLoadData(&entry->second, problem.image->bytes.c_str(), nullptr,
                                                     nullptr, 0, nullptr, nullptr, 0);
      if (result != cudaSuccess) libraries_.erase(entry);
      check(result, "loading a program");
    }
    cudaKernel_t kernel = nullptr;
    const cudaError_t result = cudaLibraryGetKernel(&kernel, entry->second, problem.kernel.c_str());
    if (result != cudaSuccess)
      libraries_.erase(entry);  // perhaps of a context that is gone: loaded anew next time
    check(result, "finding a kernel of a program");
    return kernel;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, cudaLibrary_t> libraries_;
};

Images& images() {
  static Images all;
  return all;
}

std::string supports(const Program::Problem& problem, const Machine& machine) {
  if (machine.card.capability == 0) return "there is no card";
  try {
    cudaFuncAttributes facts{};
    check(cudaFuncGetAttributes(&facts, reinterpret_cast<const void*>(images().find(problem))),
          "asking what a kernel is");
    if (problem.threads > facts.maxThreadsPerBlock)
      return "a block of " + std::to_string(problem.threads) + " threads; its registers leave room for " +
             std::to_string(facts.maxThreadsPerBlock);
  } catch (const DeviceError& error) {
    return "the kernel " + problem.kernel + " cannot be loaded: " + error.what();
  }
  return {};
}

void run(const Program::Args& args, const Launch& on) {
  if (args.blocks <= 0) return;
  constexpr int64_t kMostBlocks = (int64_t{1} << 31) - 1;
  if (args.blocks > kMostBlocks)
    throw DeviceError(DeviceError::Kind::failed,
                      "More blocks than a card can launch: " + std::to_string(args.blocks));
  void* parameters[] = {const_cast<void*>(args.parameter)};
  check(cudaLaunchKernel(reinterpret_cast<const void*>(images().find(args.problem)),
                         dim3(static_cast<unsigned>(args.blocks)),
                         dim3(static_cast<unsigned>(args.problem.threads)), parameters, 0, stream_of(on)),
        "starting a kernel of a program");
}

constexpr Row<Program> kRows[] = {{"cuda.program", DeviceKind::cuda, supports, run}};

}  // namespace

std::span<const Row<Program>> program_rows() { return kRows; }

}  // namespace orrery::kernels::cuda
