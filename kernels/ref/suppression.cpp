// Boxes that do not overlap better ones, reference. One thread.
#include <algorithm>
#include <vector>

#include "kernels/suppression.h"

namespace orrery::kernels::ref {

std::string legal(const Suppression::Problem& problem) {
  if (problem.images < 0 || problem.boxes < 0 || problem.classes < 1) return "no classes";
  if (problem.most < 1) return "room for " + std::to_string(problem.most) + " boxes of a class";
  if (problem.boxes > (int64_t{1} << 31))
    return std::to_string(problem.boxes) + " boxes; they are counted to 2^31";
  return {};
}

void suppression(const Suppression::Args& args, const Launch&) {
  const Suppression::Problem& p = args.problem;
  for (int64_t item = 0; item < p.images * p.classes; ++item) {
    const float* scores = args.scores + item * p.boxes;
    const float* boxes = args.boxes + item / p.classes * p.boxes * 4;
    std::vector<int64_t> left, taken;
    for (int64_t b = 0; b < p.boxes; ++b)
      if (scores[b] > p.least_score) left.push_back(b);
    while (!left.empty() && static_cast<int64_t>(taken.size()) < p.most) {
      const int64_t best = *std::max_element(left.begin(), left.end(),
                                             [&](int64_t a, int64_t b) { return scores[a] < scores[b]; });
      taken.push_back(best);
      std::erase_if(left, [&](int64_t b) {
        return b == best || overlap_more(boxes + best * 4, boxes + b * 4, p.overlap);
      });
    }
    args.counts[item] = static_cast<int64_t>(taken.size());
    taken.resize(static_cast<size_t>(p.most), -1);
    std::copy(taken.begin(), taken.end(), args.selected + item * p.most);
  }
}

}  // namespace orrery::kernels::ref
