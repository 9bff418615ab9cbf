#include "kernels/lab/moe_case.h"

#include <numeric>
#include <random>
#include <set>

#include "kernels/quantise.h"

namespace orrery::kernels::lab {

Call<TopExperts> TopExpertsCase::place(const Row<TopExperts>&, Place& place) const {
  const auto pairs = static_cast<size_t>(tokens() * problem.active);
  Call<TopExperts> call;
  call.args = {.problem = problem,
               .logits = place.put(logits_),
               .experts = place.put(std::vector<int32_t>(pairs, -1)),
               .weights = place.put(std::vector<float>(pairs, -1.0F)),
               .tokens = tokens()};
  call.read = [args = call.args, pairs](Place& from) {
    const std::vector<int32_t> experts = from.get(args.experts, pairs);
    return std::vector<Output>{
        {.name = "experts", .values = {experts.begin(), experts.end()}, .cols = args.problem.active},
        {.name = "weights", .values = from.get(args.weights, pairs), .cols = args.problem.active}};
  };
  return call;
}

std::vector<Expected> TopExpertsCase::expected(const Roundings&) const {
  std::vector<Output> outputs = run_reference<TopExpertsCase>(*this, top_experts_rows());
  return {{.output = std::move(outputs[0])}, {.output = std::move(outputs[1]), .tolerance = 2e-6}};
}

Work TopExpertsCase::work() const {
  return {.bytes = 4.0 * static_cast<double>(logits_.size()) +
                   8.0 * static_cast<double>(tokens() * problem.active),
          .flops = static_cast<double>(logits_.size())};
}

ExpertMlpCase::ExpertMlpCase(const ExpertMlp::Problem& asked, int64_t tokens, uint32_t seed,
                             Distribution distribution)
    : problem(asked),
      gate_(stored(problem.gate, problem.inner, problem.width, 1)),
      up_(stored(problem.up, problem.inner, problem.width, 2)),
      down_(stored(problem.down, problem.width, problem.inner, 3)),
      src_(random_floats(static_cast<size_t>(tokens * problem.width), seed, 1.0F, distribution)),
      weights_(random_floats(static_cast<size_t>(tokens * problem.active), seed + 1)) {
  std::mt19937 random(seed);
  std::vector<int32_t> all(static_cast<size_t>(problem.experts));
  std::iota(all.begin(), all.end(), 0);
  for (int64_t t = 0; t < tokens; ++t) {
    std::shuffle(all.begin(), all.end(), random);
    experts_.insert(experts_.end(), all.begin(), all.begin() + problem.active);
  }
}

ExpertMlpCase ExpertMlpCase::last(int64_t tokens) const {
  ExpertMlpCase part = *this;
  const auto keep_last = [tokens](auto& values, int64_t each) {
    values.erase(values.begin(), values.end() - tokens * each);
  };
  keep_last(part.src_, problem.width);
  keep_last(part.weights_, problem.active);
  keep_last(part.experts_, problem.active);
  return part;
}

std::vector<std::byte> ExpertMlpCase::stored(DType dtype, int64_t rows, int64_t cols, uint32_t seed) const {
  rows *= problem.experts;
  const size_t bytes = row_bytes(dtype, cols).value_or(0);
  const std::vector<float> values = random_floats(static_cast<size_t>(rows * cols), seed, 0.3F);
  std::vector<std::byte> result(static_cast<size_t>(rows) * bytes);
  for (int64_t r = 0; r < rows; ++r)
    quantise_row(dtype, values.data() + r * cols, cols, result.data() + static_cast<size_t>(r) * bytes);
  return result;
}

Call<ExpertMlp> ExpertMlpCase::place(const Row<ExpertMlp>&, Place& place) const {
  const auto matrices = [&](const std::vector<std::byte>& all) {
    return ExpertMlp::Matrices{place.put(all), all.size() / static_cast<size_t>(problem.experts)};
  };
  Call<ExpertMlp> call;
  call.args = {.problem = problem,
               .src = place.put(src_),
               .experts = place.put(experts_),
               .weights = place.put(weights_),
               .gate = matrices(gate_),
               .up = matrices(up_),
               .down = matrices(down_),
               .dst = place.put(std::vector<float>(src_.size(), -9.0F)),
               .tokens = tokens()};
  call.read = [dst = call.args.dst, count = src_.size(), cols = problem.width](Place& from) {
    return std::vector<Output>{{.name = "dst", .values = from.get(dst, count), .cols = cols}};
  };
  return call;
}

std::vector<Expected> ExpertMlpCase::expected(const Roundings& roundings) const {
  const Rounded rounded = roundings[0].activations;
  const double tolerance = rounded == Rounded::no ? 1e-5 : rounded == Rounded::int8 ? 5e-2 : 1e-3;
  return {{.output = run_reference<ExpertMlpCase>(*this, expert_mlp_rows())[0], .tolerance = tolerance}};
}

Work ExpertMlpCase::work() const {
  const std::set<int32_t> met(experts_.begin(), experts_.end());
  const double share = static_cast<double>(met.size()) / static_cast<double>(problem.experts);
  return {.bytes = share * static_cast<double>(gate_.size() + up_.size() + down_.size()) +
                   8.0 * static_cast<double>(src_.size()),
          .flops = 6.0 * static_cast<double>(tokens() * problem.active * problem.width * problem.inner)};
}

}  // namespace orrery::kernels::lab
