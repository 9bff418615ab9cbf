// Problems of Fold by name.
#include "kernels/lab/fold_case.h"
#include "kernels/lab/problems.h"
#include "kernels/lab/window_words.h"

namespace orrery::kernels::lab {
namespace {

std::vector<std::string> known() {
  return {"patches 64x1x56x56 kernel=3", "tiles 64x1x224x224 kernel=16 stride=16 padding=0"};
}

std::unique_ptr<Experiment> make(const std::string& name, Words& words) {
  const std::vector<int64_t> sizes = words.sizes(4, "PLANESxDEPTHxHEIGHTxWIDTH");
  Fold::Problem problem;
  problem.dtype = words.types(DType::f32).front();
  problem.planes = sizes[0];
  std::copy_n(sizes.begin() + 1, kSpatial, problem.size);
  problem.window = window_in(words, problem.size, problem.places);
  const auto seed = static_cast<uint32_t>(words.count("seed", 23));
  if (const std::string reason = ref::legal(problem); !reason.empty()) words.fail(reason);
  if (!words.error().empty()) return nullptr;
  return std::make_unique<CaseExperiment<FoldCase>>(name, FoldCase(problem, seed));
}

}  // namespace

extern const ProblemFamily kFoldProblems{
    Fold::kName,
    "PLANESxDEPTHxHEIGHTxWIDTH (of dst) [kernel=N] [stride=N] [padding=N] [dilation=N] [TYPE] [seed=N]",
    known, named_rows<Fold>, make};

}  // namespace orrery::kernels::lab
