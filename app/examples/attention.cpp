// Attention of one head, written in the ops that it is made of, run, and held against plain loops: an example
// of the engine as a library.
//
//   example_attention [cpu|cuda:0]
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include "engine/api/graph_builder.h"

using namespace orrery;

namespace {

constexpr int64_t kTokens = 5, kHeadDim = 8;

/// Numbers between -1 and 1 that look like any.
api::Array numbers(float phase) {
  api::Array array = api::make_array(DType::f32, {kTokens, kHeadDim}).value();
  auto* elements = reinterpret_cast<float*>(array.data.get());
  for (int64_t i = 0; i < kTokens * kHeadDim; ++i)
    elements[i] = std::sin(phase + 1.7F * static_cast<float>(i));
  return array;
}

std::vector<float> floats(const api::Array& array) {
  std::vector<float> elements(array.bytes / sizeof(float));
  std::memcpy(elements.data(), array.data.get(), array.bytes);
  return elements;
}

/// softmax(query key^T / sqrt(head_dim)) value
std::vector<double> by_loops(const std::vector<float>& query, const std::vector<float>& key,
                             const std::vector<float>& value) {
  std::vector<double> out(kTokens * kHeadDim, 0.0);
  for (int64_t i = 0; i < kTokens; ++i) {
    double weights[kTokens], sum = 0;
    for (int64_t j = 0; j < kTokens; ++j) {
      double score = 0;
      for (int64_t d = 0; d < kHeadDim; ++d) score += double{query[i * kHeadDim + d]} * key[j * kHeadDim + d];
      sum += weights[j] = std::exp(score / std::sqrt(double{kHeadDim}));
    }
    for (int64_t j = 0; j < kTokens; ++j)
      for (int64_t d = 0; d < kHeadDim; ++d)
        out[i * kHeadDim + d] += weights[j] / sum * value[j * kHeadDim + d];
  }
  return out;
}

int fail(const Error& error) {
  std::fprintf(stderr, "error: %s\n", error.to_string().c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  api::GraphBuilder graph;
  const api::GraphValue query = graph.input("query", DType::f32, {"tokens_in", kHeadDim}),
                        key = graph.input("key", DType::f32, {"tokens_in", kHeadDim}),
                        value = graph.input("value", DType::f32, {"tokens_in", kHeadDim});
  const api::GraphValue scores = matmul(query, transpose(key)) * (1 / std::sqrt(double{kHeadDim}));
  graph.output(matmul(softmax(scores), value));

  api::OpenOptions options;
  options.device = argc > 1 ? argv[1] : "cpu";
  const auto session = graph.open(options, "attention");
  if (!session.ok()) return fail(session.error());
  api::RunRequest request;
  request.inputs = {{"query", numbers(0.1F)}, {"key", numbers(0.7F)}, {"value", numbers(1.9F)}};
  const auto run = api::run_graph(**session, request, {});
  if (!run.ok()) return fail(run.error());

  for (const api::PlanStep& step : run->plan.steps)
    std::printf("%-10s %s\n", step.op.c_str(), step.kernel.c_str());
  const std::vector<float> got = floats(run->outputs.front().array);
  const std::vector<double> expected =
      by_loops(floats(request.inputs.at("query")), floats(request.inputs.at("key")),
               floats(request.inputs.at("value")));
  double worst = 0;
  for (size_t i = 0; i < got.size(); ++i) worst = std::max(worst, std::abs(got[i] - expected[i]));
  std::printf("%zu numbers, off by %.1e at most\n", got.size(), worst);
  return worst < 1e-5 ? 0 : 1;
}
