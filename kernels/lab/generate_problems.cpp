// Problems of Generate by name.
#include "kernels/lab/generate_case.h"
#include "kernels/lab/problems.h"

namespace orrery::kernels::lab {
namespace {

std::vector<std::string> known() {
  return {"weights 4096x4096 gaussian", "noise 4096x4096 uniform BF16", "places 1x131072 range I64"};
}

std::unique_ptr<Experiment> make(const std::string& name, Words& words) {
  const std::vector<int64_t> sizes = words.sizes(2, "ROWSxCOLS");
  const auto function = static_cast<Generate::Function>(words.choice(kGenerateNames, 0));
  const DType dtype = words.types(DType::f32).front();
  const auto seed = static_cast<uint64_t>(words.count("seed", 14));
  const Generate::Problem problem{function, dtype};
  if (const std::string reason = ref::legal(problem); !reason.empty()) words.fail(reason);
  if (!words.error().empty()) return nullptr;
  GenerateCase made(problem, sizes[0] * sizes[1]);
  made.seed = seed;
  return std::make_unique<CaseExperiment<GenerateCase>>(name, std::move(made));
}

}  // namespace

extern const ProblemFamily kGenerateProblems{
    Generate::kName, "ROWSxCOLS [range|uniform|gaussian] [TYPE] [seed=N]", known, named_rows<Generate>, make};

}  // namespace orrery::kernels::lab
