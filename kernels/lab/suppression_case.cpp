#include "kernels/lab/suppression_case.h"

#include <cmath>

namespace orrery::kernels::lab {

SuppressionCase::SuppressionCase(const Suppression::Problem& asked, uint32_t seed, int64_t kinds,
                                 Distribution distribution)
    : problem(asked),
      boxes_(random_floats(static_cast<size_t>(asked.images * asked.boxes * 4), seed, 1.0F,
                           Distribution::uniform)),
      scores_(random_floats(static_cast<size_t>(asked.images * asked.classes * asked.boxes), seed + 1, 1.0F,
                            distribution)) {
  // Middles in [-4, 4), sides of up to 1.2: corners in any order.
  for (size_t b = 0; b < boxes_.size(); b += 4)
    for (size_t d = 0; d < 2; ++d) {
      const float middle = boxes_[b + d] * 4.0F, side = boxes_[b + d + 2] * 0.6F;
      boxes_[b + d] = middle - side;
      boxes_[b + d + 2] = middle + side;
    }
  if (kinds > 0)
    for (float& score : scores_) score = std::floor(score * static_cast<float>(kinds)) / 8.0F;
}

Call<Suppression> SuppressionCase::place(const Row<Suppression>&, Place& place) const {
  const auto classes = static_cast<size_t>(problem.images * problem.classes);
  const size_t taken = classes * static_cast<size_t>(problem.most);
  Call<Suppression> call;
  call.args = {.problem = problem, .boxes = place.put(boxes_), .scores = place.put(scores_)};
  int64_t* selected = call.args.selected = place.put(std::vector<int64_t>(taken, 7));
  int64_t* counts = call.args.counts = place.put(std::vector<int64_t>(classes, 7));
  call.read = [=, most = problem.most](Place& from) {
    const auto numbers = [&](const int64_t* memory, size_t count) {
      const std::vector<int64_t> read = from.get(memory, count);
      return std::vector<float>(read.begin(), read.end());
    };
    return std::vector<Output>{{.name = "selected", .values = numbers(selected, taken), .cols = most},
                               {.name = "counts", .values = numbers(counts, classes)}};
  };
  return call;
}

std::vector<Expected> SuppressionCase::expected(const Roundings&) const {
  std::vector<Expected> expected;
  for (Output& output : run_reference<SuppressionCase>(*this, suppression_rows()))
    expected.push_back({.output = std::move(output)});
  return expected;
}

/// A comparison a score; overlaps depend on what is taken.
Work SuppressionCase::work() const {
  return {.bytes = static_cast<double>((boxes_.size() + scores_.size()) * sizeof(float)) +
                   static_cast<double>(problem.images * problem.classes * (problem.most + 1)) * 8,
          .flops = static_cast<double>(scores_.size())};
}

}  // namespace orrery::kernels::lab
