// The CUDA rows of Linear in order of preference.
#include "kernels/cuda/linear_rows.h"

namespace orrery::kernels::cuda {
namespace {

// The rows see a problem in the form that its weights have when packed.

template <class T, T (*ask)(const Linear::Problem&)>
T of_packed(const Linear::Problem& problem) {
  return ask(packed_form(problem));
}

template <std::string (*supports)(const Linear::Problem&, const Machine&)>
std::string supports_packed(const Linear::Problem& problem, const Machine& machine) {
  return supports(packed_form(problem), machine);
}

template <void (*run)(const Linear::Args&, const Launch&)>
void run_packed(const Linear::Args& args, const Launch& launch) {
  Linear::Args packed = args;
  packed.problem = packed_form(args.problem);
  run(packed, launch);
}

template <size_t (*workspace)(const Linear::Problem&, const Machine&, int)>
size_t workspace_of_packed(const Linear::Problem& problem, const Machine& machine, int threads) {
  return workspace(packed_form(problem), machine, threads);
}

template <Rounding (*rounding)(const Linear::Problem&, int)>
Rounding rounding_of_packed(const Linear::Problem& problem, int segment) {
  return rounding(packed_form(problem), segment);
}

}  // namespace

std::span<const Row<Linear>> linear_rows() {
  constexpr DeviceKind cuda = DeviceKind::cuda;
  static constexpr Row<Linear> rows[] = {
      {.name = "cuda.matvec",
       .device = cuda,
       .supports = supports_packed<supports_matvec>,
       .run = run_packed<run_matvec>,
       .packing = linear_packing},
      {.name = "cuda.tiles",
       .device = cuda,
       .supports = supports_packed<supports_tiles>,
       .run = run_packed<run_tiles>,
       .workspace = workspace_of_packed<tiles_workspace>,
       .packing = linear_packing,
       .rounding = rounding_of_packed<tiles_rounding>},
      {.name = "cuda.dense",
       .device = cuda,
       .supports = supports_packed<supports_dense>,
       .run = run_packed<run_dense>,
       .workspace = workspace_of_packed<dense_workspace>,
       .packing = linear_packing,
       .reads = of_packed<DType, dense_reads>,
       .writes = of_packed<DType, dense_writes>,
       .rounding = rounding_of_packed<dense_rounding>},
      {.name = "cuda.general",
       .device = cuda,
       .supports = supports_packed<on_any_machine<Linear, linear_refusal>>,
       .run = run_packed<run_general>,
       .packing = linear_packing},
  };
  return rows;
}

}  // namespace orrery::kernels::cuda
