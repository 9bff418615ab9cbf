// Problems of Resize and of its gradients by name.
#include "kernels/lab/problems.h"
#include "kernels/lab/resize_case.h"

namespace orrery::kernels::lab {
namespace {

constexpr std::string_view kWords =
    "PLANESxHEIGHTxWIDTHxTO_HEIGHTxTO_WIDTH [nearest|linear|cubic] "
    "[half_pixel|half_pixel_1d|align_corners|asymmetric] [TYPE] "
    "[inputs=normal|uniform|heavy|masked|broken] [seed=N]";
constexpr std::string_view kFunctions[] = {"nearest", "linear", "cubic"};
constexpr std::string_view kCoordinates[] = {"half_pixel", "half_pixel_1d", "align_corners", "asymmetric"};

std::vector<std::string> known() {
  return {"to the size of a model 3x480x640x224x224 linear", "twice 128x64x64x128x128 nearest asymmetric",
          "twice 128x64x64x128x128 cubic BF16"};
}

template <class Case>
std::unique_ptr<Experiment> make(const std::string& name, Words& words) {
  const std::vector<int64_t> sizes = words.sizes(5, "PLANESxHEIGHTxWIDTHxTO_HEIGHTxTO_WIDTH");
  Resize::Problem problem;
  problem.function = static_cast<Resize::Function>(words.choice(kFunctions, 1));
  problem.coordinates = static_cast<Resize::Coordinates>(words.choice(kCoordinates, 0));
  problem.dtype = words.types(DType::f32).front();
  problem.planes = sizes[0];
  for (size_t d = 1; d < kSpatial; ++d) {
    problem.src_size[d] = sizes[d];
    problem.dst_size[d] = sizes[d + 2];
  }
  const Distribution inputs = words.inputs({Distribution::normal, Distribution::uniform, Distribution::heavy,
                                            Distribution::masked, Distribution::broken});
  const auto seed = static_cast<uint32_t>(words.count("seed", 13));
  if (const std::string reason = ref::legal(problem); !reason.empty()) words.fail(reason);
  if (!words.error().empty()) return nullptr;
  return std::make_unique<CaseExperiment<Case>>(name, Case(problem, seed, inputs));
}

}  // namespace

extern const ProblemFamily kResizeProblems{Resize::kName, kWords, known, named_rows<Resize>,
                                           make<ResizeCase>};
extern const ProblemFamily kResizeBackwardProblems{ResizeBackward::kName, kWords, known,
                                                   named_rows<ResizeBackward>, make<ResizeBackwardCase>};

}  // namespace orrery::kernels::lab
