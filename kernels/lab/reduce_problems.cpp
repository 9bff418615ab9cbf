// Problems of Reduce by name.
#include "kernels/lab/problems.h"
#include "kernels/lab/reduce_case.h"

namespace orrery::kernels::lab {
namespace {

std::vector<std::string> known() {
  return {"rows 4096x4096x1 sum", "columns 1x4096x4096 sum", "rows 512x49152x1 argmax",
          "rows 4096x4096x1 max BF16"};
}

std::unique_ptr<Experiment> make(const std::string& name, Words& words) {
  const std::vector<int64_t> sizes = words.sizes(3, "OUTERxCOUNTxINNER");
  const auto function = static_cast<Reduce::Function>(words.choice(kReduceNames, 0));
  const DType dtype = words.types(DType::f32).front();
  const Distribution inputs =
      words.inputs({Distribution::normal, Distribution::uniform, Distribution::heavy, Distribution::broken});
  const auto seed = static_cast<uint32_t>(words.count("seed", 9));
  const Reduce::Problem problem{function, dtype, gives_place(function) ? DType::i64 : dtype};
  if (const std::string reason = ref::legal(problem); !reason.empty()) words.fail(reason);
  if (!words.error().empty()) return nullptr;
  const auto count = static_cast<size_t>(sizes[0] * sizes[1] * sizes[2]);
  return std::make_unique<CaseExperiment<ReduceCase>>(
      name, ReduceCase(problem, sizes[0], sizes[1], sizes[2], random_elements(dtype, count, seed, inputs)));
}

}  // namespace

extern const ProblemFamily kReduceProblems{Reduce::kName,
                                           "OUTERxCOUNTxINNER [sum|mean|prod|max|min|argmax|argmin] [TYPE] "
                                           "[inputs=normal|uniform|heavy|broken] [seed=N]",
                                           known, named_rows<Reduce>, make};

}  // namespace orrery::kernels::lab
