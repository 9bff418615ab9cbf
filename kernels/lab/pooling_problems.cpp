// Problems of Pooling and of its gradients by name.
#include <type_traits>

#include "kernels/lab/pooling_case.h"
#include "kernels/lab/problems.h"
#include "kernels/lab/window_words.h"

namespace orrery::kernels::lab {
namespace {

std::vector<std::string> known() {
  return {"after the first layer 512x1x112x112 stride=2", "halves 512x1x56x56 kernel=2 stride=2 average",
          "whole planes 16384x1x7x7 kernel=7 padding=0 average", "halves 512x1x56x56 kernel=2 stride=2 BF16"};
}

std::vector<std::string> known_backward() {
  return {"after the first layer 512x1x112x112 stride=2", "halves 512x1x56x56 kernel=2 stride=2 BF16"};
}

template <class Case>
std::unique_ptr<Experiment> make(const std::string& name, Words& words) {
  const std::vector<int64_t> sizes = words.sizes(4, "PLANESxDEPTHxHEIGHTxWIDTH");
  Pooling::Problem problem;
  problem.function = words.flag("average") ? Pooling::Function::average : Pooling::Function::max;
  problem.counts_padding = words.flag("counts_padding");
  problem.dtype = words.types(DType::f32).front();
  problem.planes = sizes[0];
  std::copy_n(sizes.begin() + 1, kSpatial, problem.src_size);
  problem.window = window_in(words, problem.src_size, problem.dst_size);
  std::copy_n(problem.window.padding, kSpatial, problem.after);
  const Distribution inputs = words.inputs({Distribution::normal, Distribution::uniform, Distribution::heavy,
                                            Distribution::masked, Distribution::broken});
  const auto seed = static_cast<uint32_t>(words.count("seed", 7));
  const bool backward = std::is_same_v<Case, PoolingBackwardCase>;
  if (const std::string reason = backward ? ref::legal_backward(problem) : ref::legal(problem);
      !reason.empty())
    words.fail(reason);
  if (!words.error().empty()) return nullptr;
  return std::make_unique<CaseExperiment<Case>>(name, Case(problem, seed, inputs));
}

}  // namespace

extern const ProblemFamily kPoolingProblems{
    Pooling::kName,
    "PLANESxDEPTHxHEIGHTxWIDTH [average] [counts_padding] [kernel=N] [stride=N] [padding=N] [dilation=N] "
    "[TYPE] [inputs=normal|uniform|heavy|masked|broken] [seed=N]",
    known, named_rows<Pooling>, make<PoolingCase>};
extern const ProblemFamily kPoolingBackwardProblems{
    PoolingBackward::kName,
    "PLANESxDEPTHxHEIGHTxWIDTH [kernel=N] [stride=N] [padding=N] [dilation=N] [TYPE] "
    "[inputs=normal|uniform|heavy|masked|broken] [seed=N]",
    known_backward, named_rows<PoolingBackward>, make<PoolingBackwardCase>};

}  // namespace orrery::kernels::lab
