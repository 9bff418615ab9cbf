// Problems of Irfft and of its gradients by name.
#include "kernels/lab/irfft_case.h"
#include "kernels/lab/problems.h"

namespace orrery::kernels::lab {
namespace {

std::vector<std::string> known() {
  return {"frames 1000x201x400", "frames 256x513x1024", "prime 64x504x1007"};
}

constexpr std::string_view kWords = "ROWSxBINSxCOUNT [TYPE] [seed=N]";

template <class Case>
std::unique_ptr<Experiment> make(const std::string& name, Words& words) {
  const std::vector<int64_t> sizes = words.sizes(3, "ROWSxBINSxCOUNT");
  const Irfft::Problem problem{.dtype = words.types(DType::f32).front(), .bins = sizes[1], .count = sizes[2]};
  const auto seed = static_cast<uint32_t>(words.count("seed", 29));
  if (const std::string reason = ref::legal(problem); !reason.empty()) words.fail(reason);
  if (!words.error().empty()) return nullptr;
  return std::make_unique<CaseExperiment<Case>>(
      name, Case(problem, sizes[0], 1.0 / static_cast<double>(sizes[2]), seed));
}

}  // namespace

extern const ProblemFamily kIrfftProblems{Irfft::kName, kWords, known, named_rows<Irfft>, make<IrfftCase>};
extern const ProblemFamily kIrfftBackwardProblems{IrfftBackward::kName, kWords, known,
                                                  named_rows<IrfftBackward>, make<IrfftBackwardCase>};

}  // namespace orrery::kernels::lab
