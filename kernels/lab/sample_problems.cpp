// Problems of Sample by name.
#include "kernels/lab/problems.h"
#include "kernels/lab/sample_case.h"

namespace orrery::kernels::lab {
namespace {

std::vector<std::string> known() {
  return {"SmolLM2 1x49152",
          "SmolLM2 1x49152 temperature=0",
          "Llama 32x128256",
          "Gemma 1x262144 top_k=64",
          "fused 1x128256 top_k=50 batch",
          "fused 8x128256 top_k=50 batch",
          "fused 64x128256 top_k=50 batch",
          "fused 256x128256 top_k=50 batch",
          "fused 64x128256 top_k=50 BF16 batch",
          "nucleus 64x128256 top_k=0 top_p=0.9 batch",
          "penalties and bias 8x128256 recent=64 frequency=0.5 presence=0.5 bias batch"};
}

std::unique_ptr<Experiment> make(const std::string& name, Words& words) {
  const std::vector<int64_t> sizes = words.sizes(2, "REQUESTSxVOCABULARY");
  Sample::Request request;
  request.params.temperature = static_cast<float>(words.number("temperature", 0.8));
  request.params.top_k = static_cast<int32_t>(words.count("top_k", 40));
  request.params.top_p = static_cast<float>(words.number("top_p", 0.95));
  request.params.min_p = static_cast<float>(words.number("min_p", 0.05));
  request.params.repeat_penalty = static_cast<float>(words.number("repeat", 1));
  request.params.frequency_penalty = static_cast<float>(words.number("frequency", 0));
  request.params.presence_penalty = static_cast<float>(words.number("presence", 0));
  request.top = static_cast<int32_t>(std::min<int64_t>(words.count("top", 0), Sample::kMaxTop));
  request.recent_count = static_cast<int32_t>(words.count("recent", 0));
  const bool biased = words.flag("bias"), as_batch = words.flag("batch");
  const DType dtype = words.types(DType::f32).front();
  if (!is_float(dtype)) words.fail("logits are floats");
  const Distribution inputs = words.inputs({Distribution::normal, Distribution::uniform, Distribution::heavy,
                                            Distribution::masked, Distribution::broken});
  const auto seed = static_cast<uint32_t>(words.count("seed", 9));
  if (!words.error().empty()) return nullptr;
  std::vector<Sample::Request> requests(static_cast<size_t>(sizes[0]), request);
  const std::vector<float> bias = random_floats(static_cast<size_t>(biased ? sizes[1] : 0), seed + 1);
  std::vector<int32_t> recent(static_cast<size_t>(request.recent_count));  // some of them twice
  for (size_t i = 0; i < recent.size(); ++i) recent[i] = static_cast<int32_t>(i * i % 97 * 911 % sizes[1]);
  for (size_t i = 0; i < requests.size(); ++i) {
    requests[i].params.seed = 1000 + i;
    if (biased) requests[i].bias = bias.data();
    if (!recent.empty()) requests[i].recent = recent.data();
  }
  std::vector<float> logits = random_floats(static_cast<size_t>(sizes[0] * sizes[1]), seed, 4.0F, inputs);
  SampleCase c(std::move(logits), std::move(requests), dtype);
  c.as_batch = as_batch;
  return std::make_unique<CaseExperiment<SampleCase>>(name, std::move(c));
}

}  // namespace

extern const ProblemFamily kSampleProblems{
    Sample::kName,
    "REQUESTSxVOCABULARY [temperature=X] [top_k=N] [top_p=X] [min_p=X] [repeat=X] [frequency=X] [presence=X] "
    "[recent=N] [bias] [top=N] [F16|BF16] [batch] "
    "[inputs=normal|uniform|heavy|masked|broken] [seed=N]",
    known, named_rows<Sample>, make};

}  // namespace orrery::kernels::lab
