#include "kernels/lab/problems.h"

#include <algorithm>

namespace orrery::kernels::lab {

std::span<const ProblemFamily> problem_families() {
  static const ProblemFamily families[] = {
      kLinearProblems,
      kAttentionProblems,
      kKvAppendProblems,
      kNormProblems,
      kRopeProblems,
      kElementwiseProblems,
      kEmbeddingProblems,
      kGatherProblems,
      kTopExpertsProblems,
      kExpertMlpProblems,
      kSampleProblems,
      kConvolutionProblems,
      kScanProblems,
      kCombineProblems,
      kCopyProblems,
      kMatmulProblems,
      kSoftmaxProblems,
      kMapProblems,
      kReduceProblems,
      kCumsumProblems,
      kTakeProblems,
      kScatterProblems,
      kTopKProblems,
      kDropoutNormProblems,
      kDropoutNormBackwardProblems,
      kFlashAttentionProblems,
      kFlashAttentionBackwardProblems,
      kFastmaxProblems,
      kFastmaxBackwardProblems,
      kFastmaxScanProblems,
      kMatmulLadderProblems,
      kGroupNormProblems,
      kNonzeroProblems,
      kGenerateProblems,
      kMaskProblems,
      kPadProblems,
      kSpatialConvolutionProblems,
      kPoolingProblems,
      kPoolingBackwardProblems,
      kResizeProblems,
      kResizeBackwardProblems,
      kRoiAlignProblems,
      kRoiAlignBackwardProblems,
      kSuppressionProblems,
      kFoldProblems,
      kHannProblems,
      kIrfftProblems,
      kIrfftBackwardProblems,
      kRecurrenceProblems,
  };
  return families;
}

const ProblemFamily* family_of(std::string_view op) {
  const std::span<const ProblemFamily> families = problem_families();
  const auto found = std::find_if(families.begin(), families.end(),
                                  [op](const ProblemFamily& family) { return family.op == op; });
  return found == families.end() ? nullptr : &*found;
}

std::unique_ptr<Experiment> make_experiment(std::string_view op, const std::string& problem,
                                            std::string& reason) {
  const ProblemFamily* family = family_of(op);
  if (family == nullptr) {
    reason = "no op is called " + std::string(op);
    return nullptr;
  }
  Words words(problem);
  auto experiment = family->make(problem, words);
  if (!experiment)
    reason = problem + ": " + words.error() + "; problems of " + std::string(op) + " are told as " +
             std::string(family->words);
  return experiment;
}

}  // namespace orrery::kernels::lab
