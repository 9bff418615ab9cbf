// Problems of Recurrence by name.
#include "kernels/lab/problems.h"
#include "kernels/lab/recurrence_case.h"

namespace orrery::kernels::lab {
namespace {

std::vector<std::string> known() { return {"states of mamba-130m 1x512x24576", "rows 4096x4096x1"}; }

std::unique_ptr<Experiment> make(const std::string& name, Words& words) {
  const std::vector<int64_t> sizes = words.sizes(3, "OUTERxCOUNTxINNER");
  const DType dtype = words.types(DType::f32).front();
  const bool reverse = words.flag("reverse");
  const auto seed = static_cast<uint32_t>(words.count("seed", 23));
  if (const std::string reason = ref::legal(Recurrence::Problem{dtype}); !reason.empty()) words.fail(reason);
  if (!words.error().empty()) return nullptr;
  return std::make_unique<CaseExperiment<RecurrenceCase>>(
      name, RecurrenceCase(dtype, sizes[0], sizes[1], sizes[2], reverse, seed));
}

}  // namespace

extern const ProblemFamily kRecurrenceProblems{
    Recurrence::kName, "OUTERxCOUNTxINNER [TYPE] [reverse] [seed=N]", known, named_rows<Recurrence>, make};

}  // namespace orrery::kernels::lab
