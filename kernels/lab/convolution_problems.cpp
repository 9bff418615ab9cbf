// Problems of Convolution by name.
#include "kernels/lab/convolution_case.h"
#include "kernels/lab/problems.h"
#include "kernels/lab/window_words.h"

namespace orrery::kernels::lab {
namespace {

std::vector<std::string> known() {
  return {"residual block 1x64x64x1x56x56",
          "residual block 8x64x64x1x56x56",
          "residual block 8x64x64x1x56x56 BF16",
          "residual block 8x256x256x1x14x14 BF16",
          "first layer 8x3x64x1x224x224 kernel=7 stride=2",
          "pointwise 8x256x64x1x56x56 kernel=1",
          "depthwise 8x192x192x1x56x56 groups=192",
          "decoder 1x512x512x1x64x64 F16",
          "upsampling 1x256x128x1x32x32 kernel=4 stride=2 padding=1 transposed",
          "audio 1x80x512x1x1x3000"};
}

std::unique_ptr<Experiment> make(const std::string& name, Words& words) {
  const std::vector<int64_t> sizes = words.sizes(6, "BATCHxCHANNELSxOUTPUTSxDEPTHxHEIGHTxWIDTH");
  Convolution::Problem problem;
  problem.transposed = words.flag("transposed");
  problem.src = problem.weight = problem.bias = problem.dst = words.types(DType::f32).front();
  problem.batch = sizes[0];
  problem.groups = words.count("groups", 1);
  std::copy_n(sizes.begin() + 3, kSpatial, problem.src_size);
  problem.window = window_in(words, problem.src_size, problem.dst_size, problem.transposed);
  const bool biased = words.flag("bias");
  const Distribution inputs =
      words.inputs({Distribution::normal, Distribution::uniform, Distribution::heavy});
  const auto seed = static_cast<uint32_t>(words.count("seed", 11));
  if (problem.groups < 1 || sizes[1] % problem.groups != 0 || sizes[2] % problem.groups != 0)
    words.fail("channels and outputs must be multiples of the groups");
  else
    problem.channels = sizes[1] / problem.groups, problem.outputs = sizes[2] / problem.groups;
  if (const std::string reason = ref::legal(problem); !reason.empty()) words.fail(reason);
  if (!words.error().empty()) return nullptr;
  return std::make_unique<CaseExperiment<SpatialConvolutionCase>>(
      name, SpatialConvolutionCase(problem, biased, seed, inputs));
}

}  // namespace

extern const ProblemFamily kSpatialConvolutionProblems{
    Convolution::kName,
    "BATCHxCHANNELSxOUTPUTSxDEPTHxHEIGHTxWIDTH [kernel=N] [stride=N] [padding=N] [dilation=N] [groups=N] "
    "[transposed] [bias] [TYPE] [inputs=normal|uniform|heavy] [seed=N]",
    known, named_rows<Convolution>, make};

}  // namespace orrery::kernels::lab
