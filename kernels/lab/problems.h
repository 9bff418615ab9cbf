// The problems that are measured, by name: for each op those of models that are in use, and how a person
// tells another one.
#pragma once

#include "kernels/lab/experiment.h"
#include "kernels/lab/words.h"

namespace orrery::kernels::lab {

/// Problems of one op.
struct ProblemFamily {
  std::string_view op;     // Op::kName
  std::string_view words;  // how one is told: "TOKENSxCOLSxROWS[+ROWS..] TYPE [exact]"
  std::vector<std::string> (*known)();
  /// Their names, fastest first.
  std::vector<std::string> (*rows)(DeviceKind device);
  /// Null where the words have an error.
  std::unique_ptr<Experiment> (*make)(const std::string& name, Words& words);
};

template <class Op>
std::vector<std::string> row_names(DeviceKind device) {
  std::vector<std::string> names;
  for (const Row<Op>& row : rows_of<Op>(device)) names.emplace_back(row.name);
  return names;
}

/// One an op.
std::span<const ProblemFamily> problem_families();

/// The experiment of a problem of an op, told as its family says; null with the reason.
std::unique_ptr<Experiment> make_experiment(std::string_view op, const std::string& problem,
                                            std::string& reason);

// <op>_problems.cpp
extern const ProblemFamily kLinearProblems, kAttentionProblems, kKvAppendProblems, kNormProblems,
    kRopeProblems, kElementwiseProblems, kEmbeddingProblems, kGatherProblems, kTopExpertsProblems,
    kExpertMlpProblems, kSampleProblems, kConvolutionProblems, kScanProblems, kCombineProblems, kCopyProblems,
    kMatmulProblems, kSoftmaxProblems;

}  // namespace orrery::kernels::lab
