// Problems of Copy by name.
#include "kernels/lab/copy_case.h"
#include "kernels/lab/problems.h"

namespace orrery::kernels::lab {
namespace {

constexpr std::string_view kKinds[] = {"transpose", "slice", "flat"};

std::vector<std::string> known() {
  return {"heads of 512x12x64 transpose", "every second of 512x12x64 slice",
          "half of 512x12x64 flat F32+BF16"};
}

std::unique_ptr<Experiment> make(const std::string& name, Words& words) {
  const std::vector<int64_t> sizes = words.sizes(3, "AxBxC");
  const size_t kind = words.choice(kKinds, 0);
  const std::vector<DType> types = words.types(DType::f32);
  const Distribution inputs =
      words.inputs({Distribution::normal, Distribution::uniform, Distribution::heavy});
  const auto seed = static_cast<uint32_t>(words.count("seed", 3));
  for (const DType dtype : types)
    if (!is_element(dtype)) words.fail(std::string(name_of(dtype)) + " has no elements");
  if (!words.error().empty()) return nullptr;
  Walk<2> walk{.rank = 3};
  std::copy_n(sizes.begin(), 3, walk.sizes);
  pack_strides(3, walk.sizes, walk.strides[0]);
  if (kind == 0) {
    std::swap(walk.sizes[0], walk.sizes[1]);
    std::swap(walk.strides[0][0], walk.strides[0][1]);
  } else if (kind == 1) {
    walk.sizes[2] = (walk.sizes[2] + 1) / 2;
    walk.strides[0][2] = 2;
  }
  pack_strides(3, walk.sizes, walk.strides[1]);
  return std::make_unique<CaseExperiment<CopyCase>>(
      name, CopyCase(types.front(), types.back(), walk, seed, inputs));
}

}  // namespace

extern const ProblemFamily kCopyProblems{
    Copy::kName, "AxBxC [transpose|slice|flat] [TYPE[+TYPE]] [inputs=normal|uniform|heavy] [seed=N]", known,
    named_rows<Copy>, make};

}  // namespace orrery::kernels::lab
