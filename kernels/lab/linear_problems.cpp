// Problems of Linear by name.
#include <cmath>

#include "kernels/lab/linear_case.h"
#include "kernels/lab/problems.h"

namespace orrery::kernels::lab {
namespace {

constexpr std::string_view kEpilogues[] = {
    "none",
#define ORRERY_ACTIVATION(name, flops) #name,
#include "kernels/activations.inc"
#undef ORRERY_ACTIVATION
#define ORRERY_ACTIVATION(name, flops) #name "_mul",
#include "kernels/activations.inc"
#undef ORRERY_ACTIVATION
};
constexpr int64_t kPeriod = 256;    // of weight rows: inputs of a large matrix are made in a moment
constexpr size_t kMostChecked = 4;  // tokens, where there are many products
constexpr double kManyProducts = 1e8;

std::vector<std::string> known() {
  struct Shape {
    std::string_view type;
    int64_t rows, cols;
  };
  constexpr Shape kShapes[] = {{"Q4_1", 1536, 576},    {"Q4_1", 576, 1536},    {"Q4_0", 1536, 576},
                               {"Q8_0", 4096, 576},    {"Q4_K", 8192, 2048},   {"Q6_K", 2048, 8192},
                               {"f32", 1536, 384},     {"f32", 384, 1536},     {"bf16", 2048, 2048},
                               {"f16", 2048, 2048},    {"Q5_K", 8192, 2048},   {"Q5_0", 8192, 2048},
                               {"Q5_1", 8192, 2048},   {"Q3_K", 8192, 2048},   {"Q2_K", 8192, 2048},
                               {"IQ4_NL", 8192, 2048}, {"IQ4_XS", 8192, 2048}, {"MXFP4", 8192, 2048}};
  std::vector<std::string> names;
  for (const auto& [type, rows, cols] : kShapes) {
    for (const int64_t tokens : {1, 2, 4, 8, 16, 64, 512}) {
      const char* label = tokens == 1 ? "decode " : tokens < 64 ? "batch " : "prompt ";
      const std::string name = label + std::to_string(tokens) + "x" + std::to_string(cols) + "x" +
                               std::to_string(rows) + " " + std::string(type);
      names.push_back(name);
      names.push_back(name + " exact");
    }
  }
  for (const int64_t tokens : {128, 4096, 8192}) {
    const std::string first = std::to_string(tokens) + "x";
    names.push_back("encoder qkv " + first + "768x768+768+768 bf16 bias");
    names.push_back("encoder out " + first + "768x768 bf16 bias");
    names.push_back("encoder up " + first + "768x3072 bf16 gelu_erf bias");
    names.push_back("encoder down " + first + "3072x768 bf16 bias");
  }
  return names;
}

std::unique_ptr<Experiment> make(const std::string& name, Words& words) {
  const std::vector<int64_t> sizes = words.sizes(3, "TOKENSxCOLSxROWS");
  std::vector<int64_t> rows = words.last_sizes();
  const std::vector<DType> types = words.types(DType::f32);
  const auto epilogue = static_cast<Epilogue>(words.choice(kEpilogues, 0));
  const bool bias = words.flag("bias");
  const Precision precision = words.precision();
  const LinearCase::Inputs inputs{
      .distribution = words.inputs({Distribution::normal, Distribution::uniform, Distribution::heavy}),
      .seed = static_cast<uint32_t>(words.count("seed", 11)),
      .period = kPeriod};
  if (rows.size() == 1 && epilogue >= Epilogue::silu_mul) rows.push_back(rows[0]);
  if (rows.size() > Linear::kMaxSegments) words.fail("more than 4 matrices");
  std::vector<LinearCase::Segment> segments;
  for (size_t s = 0; s < rows.size(); ++s) {
    segments.push_back({rows[s], types[std::min(s, types.size() - 1)], bias});
    if (!row_bytes(segments[s].dtype, sizes[1])) words.fail("rows of that length are no whole blocks");
  }
  if (!words.error().empty()) return nullptr;
  LinearCase c(sizes[0], sizes[1], segments, epilogue, precision, inputs);
  if (c.work().flops > kManyProducts) c.most_checked = kMostChecked;
  return std::make_unique<CaseExperiment<LinearCase>>(name, std::move(c));
}

}  // namespace

extern const ProblemFamily kLinearProblems{
    Linear::kName,
    "TOKENSxCOLSxROWS[+ROWS..] TYPE[+TYPE..] ["
#define ORRERY_ACTIVATION(name, flops) #name "|" #name "_mul|"
#include "kernels/activations.inc"
#undef ORRERY_ACTIVATION
    "none] [bias] [exact|int16|int8] [inputs=normal|uniform|heavy] [seed=N]",
    known, named_rows<Linear>, make};

}  // namespace orrery::kernels::lab
