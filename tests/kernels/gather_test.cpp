#include "kernels/gather.h"

#include "kernels/lab/gather_case.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

using Kind = Gather::Kind;

TEST(Gather, rows_agree_with_the_reference) {
  const std::vector<int32_t> starts = {0, 5, 5, 6, 203, 300};  // the second sequence is empty
  const std::vector<int32_t> index = {299, 0, 7, 7, 150};
  for (const int64_t cols : testing::kOddSizes) {
    const std::vector<float> src = testing::random_floats(static_cast<size_t>(300 * cols), 21);
    for (const Kind kind : {Kind::rows, Kind::mean, Kind::first, Kind::last}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(kind)) + " " + std::to_string(cols));
      testing::expect_rows_agree(lab::GatherCase({kind, cols}, src, index, starts), gather_rows());
    }
  }
}

TEST(Gather, picks_what_its_name_says) {
  const std::vector<float> src = {1, 2, 3, 4, 5, 6};  // 3 rows of 2; the second sequence is empty
  for (const Row<Gather>& row : testing::all_rows(gather_rows())) {
    const auto picked = [&](Kind kind) {
      return testing::run(lab::GatherCase({kind, 2}, src, {2, 0}, {0, 3, 3}), row)[0].values;
    };
    EXPECT_EQ(picked(Kind::rows), (std::vector<float>{5, 6, 1, 2}));
    EXPECT_EQ(picked(Kind::mean), (std::vector<float>{3, 4, 0, 0}));
    EXPECT_EQ(picked(Kind::first), (std::vector<float>{1, 2, 0, 0}));
    EXPECT_EQ(picked(Kind::last), (std::vector<float>{5, 6, 0, 0}));
  }
}

}  // namespace
}  // namespace orrery::kernels
