// Problems of Rope by name.
#include "kernels/lab/problems.h"
#include "kernels/lab/rope_case.h"

namespace orrery::kernels::lab {
namespace {

std::vector<std::string> known() {
  return {"SmolLM2 decode 1x9x64", "SmolLM2 prompt 512x9x64", "8B prompt 512x32x128 half"};
}

std::unique_ptr<Experiment> make(const std::string& name, Words& words) {
  const std::vector<int64_t> sizes = words.sizes(3, "TOKENSxHEADSxDIM");
  RopeShape shape{.tokens = sizes[0], .heads = sizes[1], .head_dim = sizes[2]};
  if (words.flag("half")) shape.style = Rope::Style::half;
  shape.rope_dims = words.count("rope_dims", shape.head_dim);
  shape.first_position = static_cast<int32_t>(words.count("at", 0));
  const auto seed = static_cast<uint32_t>(words.count("seed", 11));
  if (shape.rope_dims > shape.head_dim || shape.rope_dims % 2 != 0)
    words.fail("what is rotated is no even part of a head");
  if (!words.error().empty()) return nullptr;
  return std::make_unique<CaseExperiment<RopeCase>>(name, RopeCase(shape, Distribution::normal, seed));
}

}  // namespace

extern const ProblemFamily kRopeProblems{Rope::kName,
                                         "TOKENSxHEADSxDIM [half] [rope_dims=N] [at=POSITION] [seed=N]",
                                         known, named_rows<Rope>, make};

}  // namespace orrery::kernels::lab
