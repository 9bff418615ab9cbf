#include "kernels/gather.h"

#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

using Kind = Gather::Kind;
using testing::Guard;
using testing::Guarded;
using testing::random_floats;

TEST(Gather, rows_agree_with_the_reference) {
  const std::vector<int32_t> starts = {0, 5, 5, 6, 203, 300};  // the second sequence is empty
  const std::vector<int32_t> index = {299, 0, 7, 7, 150};
  for (const int64_t cols : testing::kOddSizes) {
    const std::vector<float> src = random_floats(static_cast<size_t>(300 * cols), 21);
    for (const Kind kind : {Kind::rows, Kind::mean, Kind::first, Kind::last}) {
      const auto run = [&](const Row<Gather>& row, Guard guard) {
        guard = testing::placed(row, guard);
        const Guarded<float> from(src, guard);
        const Guarded<int32_t> rows(index, guard);
        const Guarded<int32_t> sequences(starts, guard);
        Guarded<float> dst(static_cast<size_t>(5 * cols), -1.0F, guard);
        testing::run_row(row, {kind, cols},
                         {.kind = kind,
                          .src = from.data(),
                          .index = rows.data(),
                          .sequence_starts = sequences.data(),
                          .dst = dst.data(),
                          .count = 5,
                          .cols = cols},
                         2, guard);
        return dst.values();
      };
      const std::vector<float> expected = run(testing::reference_of(gather_rows()), Guard::after);
      testing::each_fast_row(gather_rows(), {kind, cols}, [&](const Row<Gather>& row) {
        for (const Guard guard : testing::guards()) {
          EXPECT_LT(testing::relative_error(run(row, guard), expected), 2e-7)
              << static_cast<int>(kind) << " " << cols;
        }
      });
    }
  }
}

TEST(Gather, picks_what_its_name_says) {
  for (const Row<Gather>& row : testing::all_rows(gather_rows())) {
    const Guard guard = testing::placed(row, Guard::after);
    const Guarded<float> src({1, 2, 3, 4, 5, 6}, guard);  // 3 rows of 2
    const Guarded<int32_t> starts({0, 3, 3}, guard);
    const auto run = [&](Kind kind) {
      Guarded<float> dst(4, -1.0F, guard);
      testing::run_row(row, {kind, 2},
                       {.kind = kind,
                        .src = src.data(),
                        .sequence_starts = starts.data(),
                        .dst = dst.data(),
                        .count = 2,
                        .cols = 2});
      return dst.values();
    };
    EXPECT_EQ(run(Kind::mean), (std::vector<float>{3, 4, 0, 0}));
    EXPECT_EQ(run(Kind::first), (std::vector<float>{1, 2, 0, 0}));
    EXPECT_EQ(run(Kind::last), (std::vector<float>{5, 6, 0, 0}));
  }
}

}  // namespace
}  // namespace orrery::kernels
