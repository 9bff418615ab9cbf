// Problems of Mask by name.
#include "kernels/lab/mask_case.h"
#include "kernels/lab/problems.h"

namespace orrery::kernels::lab {
namespace {

std::vector<std::string> known() {
  return {"causal 16x512x512 band upper=0", "layer 1x4096x4096 dropout p=0.1",
          "layer 1x4096x4096 dropout p=0.1 BF16"};
}

std::unique_ptr<Experiment> make(const std::string& name, Words& words) {
  const std::vector<int64_t> sizes = words.sizes(3, "MATRICESxROWSxCOLS");
  const auto function = static_cast<Mask::Function>(words.choice(kMaskNames, 0));
  const DType dtype = words.types(DType::f32).front();
  const int64_t lower = words.count("lower", -1), upper = words.count("upper", -1);
  const bool exclude = words.flag("exclude");
  const double p = words.number("p", 0.5);
  const auto seed = static_cast<uint32_t>(words.count("seed", 13));
  const Mask::Problem problem{function, dtype};
  if (const std::string reason = ref::legal(problem); !reason.empty()) words.fail(reason);
  if (!(p >= 0 && p < 1)) words.fail("p is not in [0, 1)");
  if (!words.error().empty()) return nullptr;
  const int64_t rows = sizes[0] * sizes[1];
  MaskCase mask(problem, rows, sizes[2], random_elements(dtype, static_cast<size_t>(rows * sizes[2]), seed));
  mask.height = sizes[1];
  mask.lower = lower;
  mask.upper = upper;
  mask.exclude = exclude;
  mask.dropout = Dropout(p, seed);
  return std::make_unique<CaseExperiment<MaskCase>>(name, std::move(mask));
}

}  // namespace

extern const ProblemFamily kMaskProblems{
    Mask::kName, "MATRICESxROWSxCOLS [band|dropout] [TYPE] [lower=N] [upper=N] [exclude] [p=X] [seed=N]",
    known, named_rows<Mask>, make};

}  // namespace orrery::kernels::lab
