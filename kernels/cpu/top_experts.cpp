// Rows of TopExperts, fastest first. Tokens are split over the team; a token's `active` largest logits are
// kept in order while its experts are walked over once.
#include "kernels/moe.h"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/split.h"

namespace orrery::kernels {
namespace {

void one_token(const TopExperts::Args& args, int64_t token) {
  const auto [experts, active, normalise] = args.problem;
  const float* logits = args.logits + token * experts;
  int32_t* chosen = args.experts + token * active;
  float* weights = args.weights + token * active;
  int64_t count = 0;
  for (int32_t expert = 0; expert < experts; ++expert) {
    if (count == active && !(logits[expert] > logits[chosen[count - 1]])) continue;
    int64_t place = count < active ? count++ : count - 1;
    for (; place > 0 && logits[expert] > logits[chosen[place - 1]]; --place)
      chosen[place] = chosen[place - 1];
    chosen[place] = expert;
  }
  const float largest = logits[chosen[0]];
  double sum = 0;
  for (int64_t i = 0; i < (normalise ? active : experts); ++i)
    sum += std::exp(logits[normalise ? chosen[i] : i] - largest);
  for (int64_t j = 0; j < active; ++j)
    weights[j] = static_cast<float>(std::exp(logits[chosen[j]] - largest) / sum);
}

void run(const TopExperts::Args& args, const Launch& launch) {
  split(launch, args.tokens, 4 * args.problem.experts, [&](int64_t begin, int64_t end, int) {
    for (int64_t token = begin; token < end; ++token) one_token(args, token);
  });
}

}  // namespace

std::span<const Row<TopExperts>> top_experts_rows() {
  static const Row<TopExperts> rows[] = {
      {.name = "cpu.tokens", .supports = on_any_machine<TopExperts, ref::legal>, .run = run},
      {.name = "cpu.reference",
       .supports = on_any_machine<TopExperts, ref::legal>,
       .run = ref::top_experts,
       .source = "ref/moe.cpp"},
  };
  return rows;
}

}  // namespace orrery::kernels
