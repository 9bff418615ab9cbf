// Problems of Take by name.
#include "kernels/lab/problems.h"
#include "kernels/lab/take_case.h"

namespace orrery::kernels::lab {
namespace {

std::vector<std::string> known() { return {"rows 1x49152x576x512", "columns 512x3072x1x64"}; }

std::unique_ptr<Experiment> make(const std::string& name, Words& words) {
  const std::vector<int64_t> sizes = words.sizes(4, "OUTERxCOUNTxINNERxPLACES");
  const DType dtype = words.types(DType::f32).front();
  const auto seed = static_cast<uint32_t>(words.count("seed", 11));
  const Take::Problem problem{dtype, DType::i64};
  if (const std::string reason = ref::legal(problem); !reason.empty()) words.fail(reason);
  if (!words.error().empty()) return nullptr;
  return std::make_unique<CaseExperiment<TakeCase>>(
      name, TakeCase(problem, sizes[0], {sizes[1]}, sizes[2], sizes[3], seed));
}

}  // namespace

extern const ProblemFamily kTakeProblems{Take::kName, "OUTERxCOUNTxINNERxPLACES [TYPE] [seed=N]", known,
                                         named_rows<Take>, make};

}  // namespace orrery::kernels::lab
