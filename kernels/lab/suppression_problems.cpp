// Problems of Suppression by name.
#include "kernels/lab/problems.h"
#include "kernels/lab/suppression_case.h"

namespace orrery::kernels::lab {
namespace {

std::vector<std::string> known() {
  return {"detections 1x80x8400 most=100", "proposals 4x1x12000 most=1000"};
}

std::unique_ptr<Experiment> make(const std::string& name, Words& words) {
  const std::vector<int64_t> sizes = words.sizes(3, "IMAGESxCLASSESxBOXES");
  const Suppression::Problem problem{.images = sizes[0],
                                     .classes = sizes[1],
                                     .boxes = sizes[2],
                                     .most = words.count("most", 100),
                                     .overlap = static_cast<float>(words.number("overlap", 0.5)),
                                     .least_score = static_cast<float>(words.number("least_score", 0.0))};
  const auto seed = static_cast<uint32_t>(words.count("seed", 19));
  if (const std::string reason = ref::legal(problem); !reason.empty()) words.fail(reason);
  if (!words.error().empty()) return nullptr;
  return std::make_unique<CaseExperiment<SuppressionCase>>(name, SuppressionCase(problem, seed));
}

}  // namespace

extern const ProblemFamily kSuppressionProblems{
    Suppression::kName, "IMAGESxCLASSESxBOXES [most=N] [overlap=X] [least_score=X] [seed=N]", known,
    named_rows<Suppression>, make};

}  // namespace orrery::kernels::lab
