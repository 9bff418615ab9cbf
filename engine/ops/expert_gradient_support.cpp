#include "engine/ops/expert_gradient_support.h"

#include <numeric>

namespace orrery::ops {
namespace {

/// Those that are asked for of f32[n, active, count], added up along an axis.
Term sum_where(const Term& is_expert, const Term& values, int64_t axis) {
  if (!is_expert || !values) return {};
  return sum(where(is_expert, values, values.rule().number(0, values.type().dtype)), {axis}, false);
}

}  // namespace

Term is_expert(const Term& experts, int64_t count) {
  if (!experts) return {};
  std::vector<double> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0.0);
  Gradients& at = experts.rule();
  const Term all = at.constant({experts.type().dtype, {count}}, std::move(numbers));
  const Term each = unsqueeze(experts, -1);
  return each && all ? at.apply("equal", {each, all}) : Term();
}

Term among_all(const Term& is_expert, const Term& of_chosen) {
  return sum_where(is_expert, unsqueeze(of_chosen, -1), 1);
}

Term of_chosen(const Term& is_expert, const Term& of_all) {
  return sum_where(is_expert, unsqueeze(of_all, 1), 2);
}

}  // namespace orrery::ops
