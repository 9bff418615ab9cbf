// Problems of the two ops of mixtures of experts by name.
#include "kernels/lab/moe_case.h"
#include "kernels/lab/problems.h"

namespace orrery::kernels::lab {
namespace {

std::vector<std::string> known_choices() { return {"decode 1x128x8", "prompt 512x128x8", "prompt 512x8x2"}; }

std::unique_ptr<Experiment> make_choice(const std::string& name, Words& words) {
  const std::vector<int64_t> sizes = words.sizes(3, "TOKENSxEXPERTSxACTIVE");
  const TopExperts::Problem problem{sizes[1], sizes[2], !words.flag("shares")};
  const Distribution inputs =
      words.inputs({Distribution::normal, Distribution::uniform, Distribution::heavy});
  const auto seed = static_cast<uint32_t>(words.count("seed", 5));
  if (const std::string reason = ref::legal(problem); !reason.empty()) words.fail(reason);
  if (!words.error().empty()) return nullptr;
  return std::make_unique<CaseExperiment<TopExpertsCase>>(
      name,
      TopExpertsCase(problem, random_floats(static_cast<size_t>(sizes[0] * sizes[1]), seed, 3.0F, inputs)));
}

std::vector<std::string> known() {
  return {"decode 1x512x256 Q4_0 experts=16 active=4", "prompt 64x512x256 Q4_0 experts=16 active=4",
          "prompt 64x512x256 bf16 experts=16 active=4"};
}

std::unique_ptr<Experiment> make(const std::string& name, Words& words) {
  const std::vector<int64_t> sizes = words.sizes(3, "TOKENSxWIDTHxINNER");
  const DType type = words.types(DType::f32)[0];
  const ExpertMlp::Problem problem{
      .tokens = sizes[0],
      .min_tokens = sizes[0],
      .width = sizes[1],
      .inner = sizes[2],
      .experts = words.count("experts", 8),
      .active = words.count("active", 2),
      .gate = type,
      .up = type,
      .down = type,
      .activation = words.flag("gelu_tanh_mul") ? Epilogue::gelu_tanh_mul : Epilogue::silu_mul,
      .precision = words.precision()};
  const auto seed = static_cast<uint32_t>(words.count("seed", 7));
  if (const std::string reason = ref::legal(problem); !reason.empty()) words.fail(reason);
  if (!words.error().empty()) return nullptr;
  return std::make_unique<CaseExperiment<ExpertMlpCase>>(name, ExpertMlpCase(problem, sizes[0], seed));
}

}  // namespace

extern const ProblemFamily kTopExpertsProblems{
    TopExperts::kName, "TOKENSxEXPERTSxACTIVE [shares] [inputs=normal|uniform|heavy] [seed=N]", known_choices,
    named_rows<TopExperts>, make_choice};
extern const ProblemFamily kExpertMlpProblems{
    ExpertMlp::kName,
    "TOKENSxWIDTHxINNER TYPE [experts=N] [active=N] [gelu_tanh_mul] [exact|int16|int8] [seed=N]", known,
    named_rows<ExpertMlp>, make};

}  // namespace orrery::kernels::lab
