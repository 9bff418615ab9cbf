#include "kernels/suppression.h"

#include <limits>

#include "kernels/lab/suppression_case.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

using lab::Distribution;
using lab::SuppressionCase;

TEST(Suppression, rows_agree_with_the_reference) {
  for (const int64_t boxes : {1, 2, 31, 255, 256, 257, 1000})
    for (const int64_t most : {1, 5, 300})
      for (const float overlap : {0.0F, 0.3F, 0.5F, 1.0F})
        for (const int64_t kinds : {0, 3})
          testing::expect_rows_agree(
              SuppressionCase({.images = 2, .classes = 3, .boxes = boxes, .most = most, .overlap = overlap},
                              19, kinds),
              suppression_rows(), testing::kOneGuard);
}

TEST(Suppression, scores_of_any_kind) {
  for (const Distribution inputs : {Distribution::masked, Distribution::broken})
    for (const float least : {-std::numeric_limits<float>::infinity(), -0.5F, 0.7F, 1e9F})
      testing::expect_rows_agree(
          SuppressionCase({.images = 2, .classes = 2, .boxes = 200, .most = 40, .least_score = least}, 3, 0,
                          inputs),
          suppression_rows(), testing::kOneGuard);
}

// Worked out by hand: of two equal boxes the better, of equal scores the first; a third of both is no half.
TEST(Suppression, takes_the_best_and_leaves_out_what_overlaps_it) {
  const std::vector<float> boxes = {0, 0, 2, 2, 0, 0, 2, 2, 1, 0, 3, 2, 5, 5, 4, 4, 4, 4, 5, 5, 9, 9, 9, 9};
  const std::vector<float> scores = {0.5F, 0.9F, 0.8F, 0.25F, 0.25F, 0.1F};
  for (const Row<Suppression>& row : testing::all_rows(suppression_rows())) {
    SCOPED_TRACE(std::string(row.name));
    const auto of = [&](float overlap, float least) {
      const Suppression::Problem problem{.boxes = 6, .most = 6, .overlap = overlap, .least_score = least};
      ThreadTeam team(1);
      testing::GuardedPlace place(team, testing::placed(row, testing::Guard::after));
      Suppression::Args args{.problem = problem, .boxes = place.put(boxes), .scores = place.put(scores)};
      args.selected = place.put(std::vector<int64_t>(6));
      args.counts = place.put(std::vector<int64_t>(1));
      row.run(args, place.launch(lab::put_workspace(row, problem, place)));
      place.wait();
      std::vector<int64_t> selected = place.get(args.selected, 6);
      selected.push_back(place.get(args.counts, 1)[0]);
      return selected;
    };
    using Numbers = std::vector<int64_t>;
    EXPECT_EQ(of(0.5F, 0.0F), (Numbers{1, 2, 3, 5, -1, -1, 4}));
    EXPECT_EQ(of(0.3F, 0.0F), (Numbers{1, 3, 5, -1, -1, -1, 3}));
    EXPECT_EQ(of(0.5F, 0.1F), (Numbers{1, 2, 3, -1, -1, -1, 3})) << "as good is not better";
    EXPECT_EQ(of(1.0F, 0.0F), (Numbers{1, 2, 0, 3, 4, 5, 6})) << "nothing overlaps by more than all";
    EXPECT_EQ(of(0.5F, 1.0F), (Numbers{-1, -1, -1, -1, -1, -1, 0}));
  }
}

TEST(Suppression, refuses_what_is_none) {
  for (const Row<Suppression>& row : testing::all_rows(suppression_rows()))
    EXPECT_EQ(lab::refusal_of(row, {.boxes = 3, .most = 0}), "room for 0 boxes of a class");
}

}  // namespace
}  // namespace orrery::kernels
