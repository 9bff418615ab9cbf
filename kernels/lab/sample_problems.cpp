// Problems of Sample by name.
#include "kernels/lab/problems.h"
#include "kernels/lab/sample_case.h"

namespace orrery::kernels::lab {
namespace {

std::vector<std::string> known() {
  return {"SmolLM2 1x49152", "SmolLM2 1x49152 temperature=0", "Llama 32x128256", "Gemma 1x262144 top_k=64"};
}

std::unique_ptr<Experiment> make(const std::string& name, Words& words) {
  const std::vector<int64_t> sizes = words.sizes(2, "REQUESTSxVOCABULARY");
  Sample::Request request;
  request.params.temperature = static_cast<float>(words.number("temperature", 0.8));
  request.params.top_k = static_cast<int32_t>(words.count("top_k", 40));
  request.params.top_p = static_cast<float>(words.number("top_p", 0.95));
  request.params.min_p = static_cast<float>(words.number("min_p", 0.05));
  request.top = static_cast<int32_t>(std::min<int64_t>(words.count("top", 0), Sample::kMaxTop));
  const Distribution inputs = words.inputs({Distribution::normal, Distribution::uniform, Distribution::heavy,
                                            Distribution::masked, Distribution::broken});
  const auto seed = static_cast<uint32_t>(words.count("seed", 9));
  if (!words.error().empty()) return nullptr;
  std::vector<Sample::Request> requests(static_cast<size_t>(sizes[0]), request);
  for (size_t i = 0; i < requests.size(); ++i) requests[i].params.seed = 1000 + i;
  std::vector<float> logits = random_floats(static_cast<size_t>(sizes[0] * sizes[1]), seed, 4.0F, inputs);
  return std::make_unique<CaseExperiment<SampleCase>>(name,
                                                      SampleCase(std::move(logits), std::move(requests)));
}

}  // namespace

extern const ProblemFamily kSampleProblems{
    Sample::kName,
    "REQUESTSxVOCABULARY [temperature=X] [top_k=N] [top_p=X] [min_p=X] [top=N] "
    "[inputs=normal|uniform|heavy|masked|broken] [seed=N]",
    known, row_names<Sample>, make};

}  // namespace orrery::kernels::lab
