// Problems of Pad by name.
#include "kernels/lab/pad_case.h"
#include "kernels/lab/problems.h"

namespace orrery::kernels::lab {
namespace {

std::vector<std::string> known() {
  return {"images 16x64x224x224 by=1", "mirrored 16x64x224x224 by=1 reflect",
          "rows 1x1x4096x4096 by=8 edge BF16"};
}

/// The last two dims are padded.
std::unique_ptr<Experiment> make(const std::string& name, Words& words) {
  const std::vector<int64_t> sizes = words.sizes(4, "BATCHxCHANNELSxROWSxCOLS");
  const auto mode = static_cast<Pad::Mode>(words.choice(kPadNames, 0));
  const DType dtype = words.types(DType::f32).front();
  const int64_t by = words.count("by", 1);
  const auto seed = static_cast<uint32_t>(words.count("seed", 12));
  const Pad::Problem problem{mode, dtype, 4};
  if (const std::string reason = ref::legal(problem); !reason.empty()) words.fail(reason);
  if (by < 0) words.fail("by is less than 0");
  if (!words.error().empty()) return nullptr;
  const auto count = static_cast<size_t>(sizes[0] * sizes[1] * sizes[2] * sizes[3]);
  return std::make_unique<CaseExperiment<PadCase>>(
      name, PadCase(problem, sizes, {0, 0, by, by}, {0, 0, by, by}, random_elements(dtype, count, seed)));
}

}  // namespace

extern const ProblemFamily kPadProblems{Pad::kName,
                                        "BATCHxCHANNELSxROWSxCOLS [constant|reflect|edge|wrap] [TYPE] [by=N] "
                                        "[seed=N]",
                                        known, named_rows<Pad>, make};

}  // namespace orrery::kernels::lab
