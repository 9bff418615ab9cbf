// Problems of Norm by name.
#include "kernels/lab/norm_case.h"
#include "kernels/lab/problems.h"

namespace orrery::kernels::lab {
namespace {

std::vector<std::string> known() {
  std::vector<std::string> names = {"SmolLM2 decode 1x576", "SmolLM2 prompt 512x576 residual",
                                    "8B decode 1x4096 residual", "8B prompt 512x4096 residual"};
  for (const int64_t tokens : {128, 4096, 8192})
    names.push_back("encoder norm " + std::to_string(tokens) + "x768 layer residual");
  return names;
}

std::unique_ptr<Experiment> make(const std::string& name, Words& words) {
  const std::vector<int64_t> sizes = words.sizes(2, "TOKENSxCOLS");
  NormShape shape{.tokens = sizes[0], .cols = sizes[1]};
  if (words.flag("layer")) shape.kind = Norm::Kind::layer;
  words.flag("rms");
  shape.bias = shape.kind == Norm::Kind::layer;
  shape.residual = words.flag("residual");
  const Distribution inputs =
      words.inputs({Distribution::normal, Distribution::uniform, Distribution::heavy});
  const auto seed = static_cast<uint32_t>(words.count("seed", 1));
  if (!words.error().empty()) return nullptr;
  return std::make_unique<CaseExperiment<NormCase>>(name, NormCase(shape, inputs, seed));
}

}  // namespace

extern const ProblemFamily kNormProblems{
    Norm::kName, "TOKENSxCOLS [rms|layer] [residual] [inputs=normal|uniform|heavy] [seed=N]", known,
    named_rows<Norm>, make};

}  // namespace orrery::kernels::lab
