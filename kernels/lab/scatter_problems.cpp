// Problems of Scatter by name.
#include "kernels/lab/problems.h"
#include "kernels/lab/scatter_case.h"

namespace orrery::kernels::lab {
namespace {

std::vector<std::string> known() {
  return {"512x64x768x32 add", "columns 1x4096x4096x512 set", "one line 1x65536x1x1048576 add",
          "embeddings 1x50257x768x8192 add"};
}

std::unique_ptr<Experiment> make(const std::string& name, Words& words) {
  const std::vector<int64_t> sizes = words.sizes(4, "OUTERxCOUNTxINNERxSTEPS");
  const auto function = static_cast<Scatter::Function>(words.choice(kScatterNames, 0));
  const DType dtype = words.types(DType::f32).front();
  const auto seed = static_cast<uint32_t>(words.count("seed", 13));
  const Scatter::Problem problem{function, dtype, DType::i64};
  if (const std::string reason = ref::legal(problem); !reason.empty()) words.fail(reason);
  if (!words.error().empty()) return nullptr;
  return std::make_unique<CaseExperiment<ScatterCase>>(
      name, ScatterCase(problem, sizes[0], sizes[1], sizes[2], sizes[3], seed));
}

}  // namespace

extern const ProblemFamily kScatterProblems{Scatter::kName,
                                            "OUTERxCOUNTxINNERxSTEPS [set|add|max|min|mul] [TYPE] [seed=N]",
                                            known, named_rows<Scatter>, make};

}  // namespace orrery::kernels::lab
