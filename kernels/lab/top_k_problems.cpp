// Problems of TopK by name.
#include "kernels/lab/problems.h"
#include "kernels/lab/top_k_case.h"

namespace orrery::kernels::lab {
namespace {

std::vector<std::string> known() {
  return {"sorted experts 30000x32x1 k=32", "next tokens 64x128256x1 k=50", "next tokens 1x128256x1 k=20",
          "order of 64x4096x1 all smallest", "over heads 8x512x64 k=8 BF16"};
}

std::unique_ptr<Experiment> make(const std::string& name, Words& words) {
  const std::vector<int64_t> sizes = words.sizes(3, "OUTERxCOUNTxINNER");
  const bool all = words.flag("all");
  TopK::Problem problem{.dtype = words.types(DType::f32).front(),
                        .k = all ? TopK::kAll : words.count("k", 1),
                        .largest = !words.flag("smallest"),
                        .count = sizes[1]};
  const Distribution inputs = words.inputs({Distribution::normal, Distribution::uniform, Distribution::heavy,
                                            Distribution::masked, Distribution::broken});
  const auto seed = static_cast<uint32_t>(words.count("seed", 5));
  if (const std::string reason = ref::legal(problem); !reason.empty()) words.fail(reason);
  if (!words.error().empty()) return nullptr;
  const auto count = static_cast<size_t>(sizes[0] * sizes[1] * sizes[2]);
  return std::make_unique<CaseExperiment<TopKCase>>(
      name,
      TopKCase(problem, sizes[0], sizes[1], sizes[2], random_elements(problem.dtype, count, seed, inputs)));
}

}  // namespace

extern const ProblemFamily kTopKProblems{
    TopK::kName,
    "OUTERxCOUNTxINNER [k=N|all] [smallest] [TYPE] [inputs=normal|uniform|heavy|masked|broken] [seed=N]",
    known, named_rows<TopK>, make};

}  // namespace orrery::kernels::lab
