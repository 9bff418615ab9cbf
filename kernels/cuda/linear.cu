// The CUDA rows of Linear in order of preference.
#include "kernels/cuda/linear_rows.h"
#include "kernels/cuda/rows.h"

namespace orrery::kernels::cuda {
namespace {

// The rows see a problem in the form that its weights have when packed.

template <class T, T (*ask)(const Linear::Problem&)>
T of_packed(const Linear::Problem& problem) {
  return ask(packed_form(problem));
}

template <void (*run)(const Linear::Args&, const Launch&)>
void run_packed(const Linear::Args& args, const Launch& launch) {
  Linear::Args packed = args;
  packed.problem = packed_form(args.problem);
  run(packed, launch);
}

template <size_t (*workspace)(const Linear::Problem&, int)>
size_t workspace_of_packed(const Linear::Problem& problem, int threads) {
  return workspace(packed_form(problem), threads);
}

}  // namespace

std::span<const Row<Linear>> linear_rows() {
  constexpr DeviceKind cuda = DeviceKind::cuda;
  static constexpr Row<Linear> rows[] = {
      {"cuda.matvec", cuda, of_packed<std::string, supports_matvec>, run_packed<run_matvec>, nullptr,
       linear_packing},
      {"cuda.tiles", cuda, of_packed<std::string, supports_tiles>, run_packed<run_tiles>,
       workspace_of_packed<tiles_workspace>, linear_packing},
      {"cuda.dense", cuda, of_packed<std::string, supports_dense>, run_packed<run_dense>,
       workspace_of_packed<dense_workspace>, linear_packing, of_packed<DType, dense_reads>,
       of_packed<DType, dense_writes>},
      {"cuda.general", cuda, of_packed<std::string, linear_refusal>, run_packed<run_general>, nullptr,
       linear_packing},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
