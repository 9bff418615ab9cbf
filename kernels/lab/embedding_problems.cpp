// Problems of Embedding by name.
#include <random>

#include "kernels/lab/embedding_case.h"
#include "kernels/lab/problems.h"

namespace orrery::kernels::lab {
namespace {

std::vector<std::string> known() {
  return {"SmolLM2 decode 1x576 Q8_0 vocabulary=49152", "SmolLM2 prompt 512x576 Q8_0 vocabulary=49152",
          "prompt 512x2048 Q6_K vocabulary=32768"};
}

std::unique_ptr<Experiment> make(const std::string& name, Words& words) {
  const std::vector<int64_t> sizes = words.sizes(2, "TOKENSxCOLS");
  const DType type = words.types(DType::f32)[0];
  const int64_t vocabulary = std::max<int64_t>(words.count("vocabulary", 1000), 1);
  const auto seed = static_cast<uint32_t>(words.count("seed", 3));
  if (const std::string reason = ref::legal(Embedding::Problem{type, sizes[1]}); !reason.empty())
    words.fail(reason);
  if (!words.error().empty()) return nullptr;
  std::mt19937 engine(seed);
  std::vector<int32_t> ids;
  for (int64_t t = 0; t < sizes[0]; ++t)
    ids.push_back(static_cast<int32_t>(engine() % static_cast<uint32_t>(vocabulary)));
  return std::make_unique<CaseExperiment<EmbeddingCase>>(
      name, EmbeddingCase(type, sizes[1], vocabulary, std::move(ids), 1.0F, seed));
}

}  // namespace

extern const ProblemFamily kEmbeddingProblems{Embedding::kName, "TOKENSxCOLS TYPE [vocabulary=N] [seed=N]",
                                              known, named_rows<Embedding>, make};

}  // namespace orrery::kernels::lab
