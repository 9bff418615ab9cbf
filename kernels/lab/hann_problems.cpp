// Problems of Hann by name.
#include "kernels/lab/hann_case.h"
#include "kernels/lab/problems.h"

namespace orrery::kernels::lab {
namespace {

std::vector<std::string> known() { return {"of 1x400"}; }

std::unique_ptr<Experiment> make(const std::string& name, Words& words) {
  const std::vector<int64_t> sizes = words.sizes(2, "1xCOUNT");
  const DType dtype = words.types(DType::f32).front();
  const bool symmetric = words.flag("symmetric");
  if (const std::string reason = ref::legal(Hann::Problem{dtype}); !reason.empty()) words.fail(reason);
  if (!words.error().empty()) return nullptr;
  return std::make_unique<CaseExperiment<HannCase>>(name, HannCase(dtype, sizes[1], !symmetric));
}

}  // namespace

extern const ProblemFamily kHannProblems{Hann::kName, "1xCOUNT [symmetric] [TYPE]", known, named_rows<Hann>,
                                         make};

}  // namespace orrery::kernels::lab
