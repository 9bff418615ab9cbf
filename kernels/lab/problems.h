// The problems that are measured, by name: for each op those of models that are in use, and how a person
// tells another one.
#pragma once

#include "kernels/lab/experiment.h"
#include "kernels/lab/words.h"
#include "kernels/row_source.h"

namespace orrery::kernels::lab {

/// A row of an op as a person meets it.
struct NamedRow {
  std::string name;          // "cpu.avx2.tile"
  std::string source;        // its file, below the project's folder: "kernels/cpu/ladder/avx2.cpp"
  std::string library = {};  // that it calls; empty: none
  BlockSize block = {};      // that it was compiled for
};

/// Problems of one op.
struct ProblemFamily {
  std::string_view op;     // Op::kName
  std::string_view words;  // how one is told: "TOKENSxCOLSxROWS[+ROWS..] TYPE [exact]"
  std::vector<std::string> (*known)();
  /// In the order of the list.
  std::vector<NamedRow> (*rows)(DeviceKind device);
  /// Null where the words have an error.
  std::unique_ptr<Experiment> (*make)(const std::string& name, Words& words);
  bool steps = false;  // the rows are steps of a ladder, the first the slowest
};

template <class Op>
std::vector<NamedRow> named_rows(DeviceKind device) {
  std::vector<NamedRow> rows;
  for (const Row<Op>& row : rows_of<Op>(device))
    rows.push_back({std::string(row.name), "kernels/" + source_of(row), std::string(row.library), row.block});
  return rows;
}

/// What words tell of a case.
template <class Shape>
struct Told {
  Shape shape;
  Distribution inputs;
};

/// ProblemFamily::make of a case whose words kRead reads.
template <class Case, auto kRead>
std::unique_ptr<Experiment> make_told(const std::string& name, Words& words) {
  const auto told = kRead(words);
  if (!words.error().empty()) return nullptr;
  return std::make_unique<CaseExperiment<Case>>(name, Case(told.shape, told.inputs));
}

/// One an op.
std::span<const ProblemFamily> problem_families();
/// Null where no op is called so.
const ProblemFamily* family_of(std::string_view op);

/// The experiment of a problem of an op, told as its family says; null with the reason.
std::unique_ptr<Experiment> make_experiment(std::string_view op, const std::string& problem,
                                            std::string& reason);

// <op>_problems.cpp
extern const ProblemFamily kLinearProblems, kAttentionProblems, kKvAppendProblems, kNormProblems,
    kRopeProblems, kElementwiseProblems, kEmbeddingProblems, kGatherProblems, kTopExpertsProblems,
    kExpertMlpProblems, kSampleProblems, kConvolutionProblems, kScanProblems, kCombineProblems, kCopyProblems,
    kMatmulProblems, kSoftmaxProblems, kMapProblems, kReduceProblems, kCumsumProblems, kTakeProblems,
    kScatterProblems, kTopKProblems, kDropoutNormProblems, kDropoutNormBackwardProblems,
    kFlashAttentionProblems, kFlashAttentionBackwardProblems, kFastmaxProblems, kFastmaxBackwardProblems,
    kFastmaxScanProblems, kMatmulLadderProblems, kGroupNormProblems, kNonzeroProblems, kGenerateProblems,
    kMaskProblems, kPadProblems, kSpatialConvolutionProblems, kPoolingProblems, kPoolingBackwardProblems,
    kResizeProblems, kResizeBackwardProblems, kRoiAlignProblems, kRoiAlignBackwardProblems,
    kSuppressionProblems, kFoldProblems, kHannProblems, kIrfftProblems, kIrfftBackwardProblems,
    kRecurrenceProblems;

}  // namespace orrery::kernels::lab
