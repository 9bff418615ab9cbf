// Problems of RoiAlign and of its gradients by name.
#include "kernels/lab/problems.h"
#include "kernels/lab/roi_align_case.h"

namespace orrery::kernels::lab {
namespace {

std::vector<std::string> known() { return {"proposals 1x256x50x64 boxes=300 samples=2"}; }

constexpr std::string_view kWords =
    "IMAGESxCHANNELSxHEIGHTxWIDTH [boxes=N] [cells=N] [samples=N] [scale=X] [aligned] [largest] [TYPE] "
    "[seed=N]";

template <class Case>
std::unique_ptr<Experiment> make(const std::string& name, Words& words) {
  const std::vector<int64_t> sizes = words.sizes(4, "IMAGESxCHANNELSxHEIGHTxWIDTH");
  RoiAlign::Problem problem;
  problem.dtype = words.types(DType::f32).front();
  problem.largest = words.flag("largest");
  problem.aligned = words.flag("aligned");
  problem.samples = words.count("samples", 0);
  problem.scale = static_cast<float>(words.number("scale", 0.25));
  problem.channels = sizes[1];
  problem.height = sizes[2];
  problem.width = sizes[3];
  problem.rows = problem.cols = words.count("cells", 7);
  const int64_t boxes = words.count("boxes", 20);
  const auto seed = static_cast<uint32_t>(words.count("seed", 17));
  if (const std::string reason = ref::legal(problem); !reason.empty()) words.fail(reason);
  if (boxes < 1 || !(problem.scale > 0)) words.fail("boxes and scale must be positive");
  if (!words.error().empty()) return nullptr;
  return std::make_unique<CaseExperiment<Case>>(name, Case(problem, sizes[0], boxes, seed));
}

}  // namespace

extern const ProblemFamily kRoiAlignProblems{RoiAlign::kName, kWords, known, named_rows<RoiAlign>,
                                             make<RoiAlignCase>};
extern const ProblemFamily kRoiAlignBackwardProblems{
    RoiAlignBackward::kName, kWords, known, named_rows<RoiAlignBackward>, make<RoiAlignBackwardCase>};

}  // namespace orrery::kernels::lab
