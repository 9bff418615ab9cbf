// Problems of GroupNorm by name.
#include "kernels/lab/group_norm_case.h"
#include "kernels/lab/problems.h"

namespace orrery::kernels::lab {
namespace {

std::vector<std::string> known() {
  return {"images 8x320x4096 groups=32", "images 8x320x4096 groups=32 F16", "image 1x512x65536 groups=32"};
}

std::unique_ptr<Experiment> make(const std::string& name, Words& words) {
  const std::vector<int64_t> sizes = words.sizes(3, "BATCHxCHANNELSxINNER");
  const DType dtype = words.types(DType::f32).front();
  const int64_t groups = words.count("groups", 1);
  const bool plain = words.flag("plain");
  const auto seed = static_cast<uint32_t>(words.count("seed", 20));
  if (const std::string reason = ref::legal(GroupNorm::Problem{dtype}); !reason.empty()) words.fail(reason);
  if (words.error().empty() && (groups < 1 || sizes[1] % groups != 0))
    words.fail("groups must divide the channels");
  if (!words.error().empty()) return nullptr;
  const auto count = static_cast<size_t>(sizes[0] * sizes[1] * sizes[2]);
  GroupNormCase made(dtype, sizes[0], sizes[1], sizes[2], groups, random_elements(dtype, count, seed));
  made.scaled = !plain;
  return std::make_unique<CaseExperiment<GroupNormCase>>(name, std::move(made));
}

}  // namespace

extern const ProblemFamily kGroupNormProblems{GroupNorm::kName,
                                              "BATCHxCHANNELSxINNER [TYPE] [groups=N] [plain] [seed=N]",
                                              known, named_rows<GroupNorm>, make};

}  // namespace orrery::kernels::lab
