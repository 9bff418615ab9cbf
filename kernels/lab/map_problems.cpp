// Problems of Map by name.
#include "kernels/lab/map_case.h"
#include "kernels/lab/problems.h"

namespace orrery::kernels::lab {
namespace {

std::vector<std::string> known() {
  return {"layer 512x3072 sigmoid", "layer 512x3072 exp BF16", "map 4096x4096 sqrt",
          "flags 4096x4096 is_nan"};
}

std::vector<std::string_view> names() {
  std::vector<std::string_view> names;
  for (const MapInfo& info : kMapFunctions) names.push_back(info.name);
  return names;
}

std::unique_ptr<Experiment> make(const std::string& name, Words& words) {
  const std::vector<int64_t> sizes = words.sizes(2, "ROWSxCOLS");
  const auto function = static_cast<Map::Function>(words.choice(names(), 0));
  const DType dtype = words.types(DType::f32).front();
  const Distribution inputs =
      words.inputs({Distribution::normal, Distribution::uniform, Distribution::heavy, Distribution::broken});
  const auto seed = static_cast<uint32_t>(words.count("seed", 3));
  const Map::Problem problem{function, dtype,
                             info_of(function).kind == Map::Kind::test ? DType::boolean : dtype};
  if (const std::string reason = ref::legal(problem); !reason.empty()) words.fail(reason);
  if (!words.error().empty()) return nullptr;
  const auto count = static_cast<size_t>(sizes[0] * sizes[1]);
  return std::make_unique<CaseExperiment<MapCase>>(
      name, MapCase(problem, random_elements(dtype, count, seed, inputs)));
}

}  // namespace

extern const ProblemFamily kMapProblems{
    Map::kName, "ROWSxCOLS FUNCTION [TYPE] [inputs=normal|uniform|heavy|broken] [seed=N]", known,
    named_rows<Map>, make};

}  // namespace orrery::kernels::lab
