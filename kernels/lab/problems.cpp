#include "kernels/lab/problems.h"

namespace orrery::kernels::lab {

std::span<const ProblemFamily> problem_families() {
  static const ProblemFamily families[] = {
      kLinearProblems,      kAttentionProblems,   kKvAppendProblems, kNormProblems,       kRopeProblems,
      kElementwiseProblems, kEmbeddingProblems,   kGatherProblems,   kTopExpertsProblems, kExpertMlpProblems,
      kSampleProblems,      kConvolutionProblems, kScanProblems,     kCombineProblems,    kCopyProblems,
      kMatmulProblems,      kSoftmaxProblems,
  };
  return families;
}

std::unique_ptr<Experiment> make_experiment(std::string_view op, const std::string& problem,
                                            std::string& reason) {
  for (const ProblemFamily& family : problem_families()) {
    if (family.op != op) continue;
    Words words(problem);
    auto experiment = family.make(problem, words);
    if (!experiment)
      reason = problem + ": " + words.error() + "; problems of " + std::string(op) + " are told as " +
               std::string(family.words);
    return experiment;
  }
  reason = "no op is called " + std::string(op);
  return nullptr;
}

}  // namespace orrery::kernels::lab
