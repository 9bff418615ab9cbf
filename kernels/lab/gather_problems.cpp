// Problems of Gather by name.
#include "kernels/lab/gather_case.h"
#include "kernels/lab/problems.h"

namespace orrery::kernels::lab {
namespace {

constexpr std::string_view kKinds[] = {"rows", "mean", "first", "last"};

std::vector<std::string> known() {
  return {"MiniLM 32x128x384 mean", "BERT 32x128x768 first", "8B 32x16x4096 rows"};
}

std::unique_ptr<Experiment> make(const std::string& name, Words& words) {
  const std::vector<int64_t> sizes = words.sizes(3, "SEQUENCESxTOKENSxCOLS");
  const auto kind = static_cast<Gather::Kind>(words.choice(kKinds, 0));
  const Distribution inputs =
      words.inputs({Distribution::normal, Distribution::uniform, Distribution::heavy});
  const auto seed = static_cast<uint32_t>(words.count("seed", 21));
  if (!words.error().empty()) return nullptr;
  std::vector<int32_t> starts, last;
  for (int64_t s = 0; s <= sizes[0]; ++s) starts.push_back(static_cast<int32_t>(s * sizes[1]));
  for (int64_t s = 1; s <= sizes[0]; ++s) last.push_back(starts[static_cast<size_t>(s)] - 1);
  std::vector<float> src =
      random_floats(static_cast<size_t>(sizes[0] * sizes[1] * sizes[2]), seed, 1.0F, inputs);
  return std::make_unique<CaseExperiment<GatherCase>>(
      name, GatherCase({kind, sizes[2]}, std::move(src), std::move(last), std::move(starts)));
}

}  // namespace

extern const ProblemFamily kGatherProblems{
    Gather::kName, "SEQUENCESxTOKENSxCOLS [rows|mean|first|last] [inputs=normal|uniform|heavy] [seed=N]",
    known, named_rows<Gather>, make};

}  // namespace orrery::kernels::lab
