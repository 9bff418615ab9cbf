// Problems of Cumsum by name.
#include "kernels/lab/cumsum_case.h"
#include "kernels/lab/problems.h"

namespace orrery::kernels::lab {
namespace {

std::vector<std::string> known() { return {"rows 4096x4096x1", "columns 1x4096x4096"}; }

std::unique_ptr<Experiment> make(const std::string& name, Words& words) {
  const std::vector<int64_t> sizes = words.sizes(3, "OUTERxCOUNTxINNER");
  const DType dtype = words.types(DType::f32).front();
  const bool exclusive = words.flag("exclusive"), reverse = words.flag("reverse");
  const auto seed = static_cast<uint32_t>(words.count("seed", 9));
  if (const std::string reason = ref::legal(Cumsum::Problem{dtype}); !reason.empty()) words.fail(reason);
  if (!words.error().empty()) return nullptr;
  const auto count = static_cast<size_t>(sizes[0] * sizes[1] * sizes[2]);
  CumsumCase cumsum(dtype, sizes[0], sizes[1], sizes[2], random_elements(dtype, count, seed));
  cumsum.exclusive = exclusive;
  cumsum.reverse = reverse;
  return std::make_unique<CaseExperiment<CumsumCase>>(name, std::move(cumsum));
}

}  // namespace

extern const ProblemFamily kCumsumProblems{Cumsum::kName,
                                           "OUTERxCOUNTxINNER [TYPE] [exclusive] [reverse] [seed=N]", known,
                                           named_rows<Cumsum>, make};

}  // namespace orrery::kernels::lab
