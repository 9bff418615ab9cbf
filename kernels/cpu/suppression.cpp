// Rows of Suppression (suppression.h). An item is a class of an image: its candidates are sorted by their
// scores once, and each is then held against those that were taken before it.
//   workspace  per thread: the candidates
//   traffic    scores once; boxes once for each that is taken, from L1 and L2
#include "kernels/suppression.h"

#include <algorithm>

#include "kernels/cpu/split.h"

namespace orrery::kernels {
namespace {

void suppress_class(const Suppression::Args& args, int64_t item, int64_t* candidates) {
  const Suppression::Problem& p = args.problem;
  const float* scores = args.scores + item * p.boxes;
  const float* boxes = args.boxes + item / p.classes * p.boxes * 4;
  int64_t count = 0;
  for (int64_t b = 0; b < p.boxes; ++b)
    if (scores[b] > p.least_score) candidates[count++] = b;
  std::sort(candidates, candidates + count, [scores](int64_t a, int64_t b) {
    return scores[a] > scores[b] || (scores[a] == scores[b] && a < b);
  });
  int64_t* selected = args.selected + item * p.most;
  int64_t taken = 0;
  for (int64_t i = 0; i < count && taken < p.most; ++i) {
    const auto overlapped = [&](int64_t other) {
      return overlap_more(boxes + other * 4, boxes + candidates[i] * 4, p.overlap);
    };
    if (std::none_of(selected, selected + taken, overlapped)) selected[taken++] = candidates[i];
  }
  std::fill(selected + taken, selected + p.most, -1);
  args.counts[item] = taken;
}

void run_classes(const Suppression::Args& args, const Launch& launch) {
  const Suppression::Problem& p = args.problem;
  split(launch, p.images * p.classes, std::max<int64_t>(p.boxes * 16, 1),
        [&](int64_t begin, int64_t end, int thread) {
          auto* candidates = reinterpret_cast<int64_t*>(launch.workspace) + thread * p.boxes;
          for (int64_t item = begin; item < end; ++item) suppress_class(args, item, candidates);
        });
}

size_t candidates_of_threads(const Suppression::Problem& problem, const Machine&, int threads) {
  return static_cast<size_t>(problem.boxes * threads) * sizeof(int64_t);
}

}  // namespace

std::span<const Row<Suppression>> suppression_rows() {
  static const Row<Suppression> rows[] = {
      {.name = "cpu.sorted",
       .supports = on_any_machine<Suppression, ref::legal>,
       .run = run_classes,
       .workspace = candidates_of_threads},
      {.name = "cpu.reference", .supports = on_any_machine<Suppression, ref::legal>, .run = ref::suppression},
  };
  return rows;
}

}  // namespace orrery::kernels
