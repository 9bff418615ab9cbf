// Problems of Elementwise by name.
#include <iterator>

#include "kernels/lab/elementwise_case.h"
#include "kernels/lab/problems.h"

namespace orrery::kernels::lab {
namespace {

using Function = Elementwise::Function;

constexpr std::string_view kFunctions[] = {
#define ORRERY_ACTIVATION(name, flops) #name,
#include "kernels/activations.inc"
#undef ORRERY_ACTIVATION
#define ORRERY_ACTIVATION(name, flops) #name "_mul",
#include "kernels/activations.inc"
#undef ORRERY_ACTIVATION
    "add", "mul", "scale", "l2_normalise"};
static_assert(std::size(kFunctions) == static_cast<size_t>(Function::l2_normalise) + 1);

std::vector<std::string> known() {
  std::vector<std::string> names;
  for (const std::string_view function : kFunctions) names.push_back("512x1536 " + std::string(function));
  return names;
}

std::unique_ptr<Experiment> make(const std::string& name, Words& words) {
  const std::vector<int64_t> sizes = words.sizes(2, "TOKENSxCOLS");
  const auto function = static_cast<Function>(words.choice(kFunctions, static_cast<size_t>(Function::add)));
  const bool broadcast = words.flag("broadcast");
  const Distribution inputs =
      words.inputs({Distribution::normal, Distribution::uniform, Distribution::heavy});
  const auto seed = static_cast<uint32_t>(words.count("seed", 5));
  const Elementwise::Problem problem{function, sizes[1], broadcast};
  if (const std::string reason = ref::legal(problem); !reason.empty()) words.fail(reason);
  if (!words.error().empty()) return nullptr;
  ElementwiseCase c(problem, sizes[0], inputs, seed);
  c.in_place = false;  // timed calls would change their own inputs
  return std::make_unique<CaseExperiment<ElementwiseCase>>(name, std::move(c));
}

}  // namespace

extern const ProblemFamily kElementwiseProblems{
    Elementwise::kName,
    "TOKENSxCOLS ["
#define ORRERY_ACTIVATION(name, flops) #name "|" #name "_mul|"
#include "kernels/activations.inc"
#undef ORRERY_ACTIVATION
    "add|mul|scale|l2_normalise] [broadcast] [inputs=normal|uniform|heavy] [seed=N]",
    known, named_rows<Elementwise>, make};

}  // namespace orrery::kernels::lab
