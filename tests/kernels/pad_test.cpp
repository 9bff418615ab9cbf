#include "kernels/pad.h"

#include <cstring>

#include "kernels/lab/pad_case.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

using lab::PadCase;
using Sizes = std::vector<int64_t>;

constexpr Pad::Mode kModes[] = {Pad::Mode::constant, Pad::Mode::reflect, Pad::Mode::edge, Pad::Mode::wrap};

PadCase random_case(Pad::Mode mode, DType dtype, const Sizes& sizes, const Sizes& before,
                    const Sizes& after) {
  size_t count = 1;
  for (const int64_t size : sizes) count *= static_cast<size_t>(size);
  return {{mode, dtype, static_cast<int>(sizes.size())}, sizes, before, after,
          lab::random_elements(dtype, count, 12),        0x3c};
}

TEST(Pad, every_mode_of_every_size_of_element) {
  for (const Pad::Mode mode : kModes)
    for (const DType dtype : {DType::f32, DType::bf16, DType::i64, DType::u8, DType::boolean}) {
      SCOPED_TRACE(std::string(kPadNames[static_cast<size_t>(mode)]) + " " + std::string(name_of(dtype)));
      const auto expect = [&](const Sizes& sizes, const Sizes& before, const Sizes& after) {
        testing::expect_rows_agree(random_case(mode, dtype, sizes, before, after), pad_rows());
      };
      expect({7}, {3}, {2});
      expect({1}, {3}, {5});    // nothing to mirror
      expect({3}, {11}, {20});  // mirrored again and again
      expect({5, 33}, {1, 0}, {0, 3});
      expect({2, 3, 65}, {0, 2, 4}, {1, 1, 0});
      expect({2, 2, 2, 3, 2, 5}, {1, 1, 0, 0, 1, 2}, {0, 1, 1, 0, 0, 2});
      expect({2, 9000}, {0, 5}, {1, 4000});
    }
}

TEST(Pad, is_what_the_formula_says) {
  const std::vector<float> values = {1, 2, 3};
  std::vector<std::byte> bytes(12);
  std::memcpy(bytes.data(), values.data(), bytes.size());
  const float nine = 9;
  uint32_t bits = 0;
  std::memcpy(&bits, &nine, sizeof(bits));
  const std::vector<float> expected[] = {
      {9, 9, 1, 2, 3, 9}, {3, 2, 1, 2, 3, 2}, {1, 1, 1, 2, 3, 3}, {2, 3, 1, 2, 3, 1}};
  for (const Pad::Mode mode : kModes) {
    const PadCase c({mode, DType::f32, 1}, {3}, {2}, {1}, bytes, bits);
    for (const Row<Pad>& row : testing::all_rows(pad_rows()))
      EXPECT_EQ(testing::run(c, row)[0].values, expected[static_cast<size_t>(mode)]) << row.name;
  }
}

TEST(Pad, refuses_what_it_cannot_walk) {
  for (const Row<Pad>& row : testing::all_rows(pad_rows())) {
    EXPECT_EQ(lab::refusal_of(row, {Pad::Mode::edge, DType::f32, 0}), "it has no dims") << row.name;
    EXPECT_EQ(lab::refusal_of(row, {Pad::Mode::edge, DType::f32, 7}), "7 dims; kernels walk 6") << row.name;
    EXPECT_NE(lab::refusal_of(row, {Pad::Mode::edge, DType::q8_0, 1}), "") << row.name;
  }
}

}  // namespace
}  // namespace orrery::kernels
