#include "kernels/top_k.h"

#include <cstring>
#include <limits>
#include <numeric>

#include "kernels/half.h"
#include "kernels/lab/top_k_case.h"
#include "kernels/quantise.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

using lab::Distribution;
using lab::TopKCase;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr DType kTypes[] = {DType::f32, DType::f16, DType::bf16, DType::i8,     DType::i16,
                            DType::i32, DType::i64, DType::u8,   DType::boolean};

struct Sizes {
  int64_t outer, count, inner;
};

TopKCase random_case(DType dtype, const Sizes& sizes, int64_t k, bool largest,
                     Distribution inputs = Distribution::normal) {
  const auto elements = static_cast<size_t>(sizes.outer * sizes.count * sizes.inner);
  return {{.dtype = dtype, .k = k, .largest = largest},
          sizes.outer,
          sizes.count,
          sizes.inner,
          lab::random_elements(dtype, elements, 5, inputs)};
}

void expect_agreement(const TopKCase& c, std::span<const testing::Guard> guards = testing::kOneGuard) {
  SCOPED_TRACE(std::string(name_of(c.problem.dtype)) + ", " + std::to_string(c.problem.k) + " of " +
               std::to_string(c.problem.rows) + " x " + std::to_string(c.problem.count) +
               (c.problem.largest ? "" : ", smallest"));
  testing::expect_rows_agree(c, top_k_rows(), guards);
}

/// Few, some, and all of them.
std::vector<int64_t> counts_of(int64_t count) {
  std::vector<int64_t> counts;
  for (const int64_t k : {1, 2, 20, 50})
    if (k < count) counts.push_back(k);
  counts.push_back(count);
  return counts;
}

TEST(TopK, rows_agree_with_the_reference) {
  for (const DType dtype : kTypes)
    for (const int64_t count : {1, 2, 31, 32, 33, 64, 65, 1000, 1023, 2048, 2049, 4096, 4097})
      for (const int64_t k : counts_of(count))
        for (const bool largest : {true, false})
          expect_agreement(random_case(dtype, {3, count, 1}, k, largest));
}

TEST(TopK, rows_agree_on_vocabularies) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::i64, DType::u8})
    for (const int64_t k : counts_of(128256)) expect_agreement(random_case(dtype, {2, 128256, 1}, k, k != 2));
}

TEST(TopK, many_rows_are_shared) {
  for (const Sizes& sizes : {Sizes{1021, 32, 1}, {700, 100, 1}, {5, 33, 130}, {2, 4097, 3}, {513, 3, 1}})
    for (const DType dtype : {DType::f32, DType::f16, DType::i64})
      for (const int64_t k : {int64_t{3}, TopK::kAll})
        expect_agreement(random_case(dtype, sizes, k, true), testing::guards());
}

TEST(TopK, axes_that_are_not_the_last) {
  for (const DType dtype : kTypes)
    for (const Sizes& sizes : {Sizes{1, 31, 7}, {3, 33, 2}, {2, 1000, 5}, {1, 4097, 2}})
      for (const int64_t k : {int64_t{1}, int64_t{20}, sizes.count, TopK::kAll})
        for (const bool largest : {true, false}) expect_agreement(random_case(dtype, sizes, k, largest));
}

// Between half and all of a long row, on both sides of what is sorted within a block.
TEST(TopK, large_parts_of_rows) {
  for (const int64_t k : {255, 256, 257, 1023, 1024, 1025, 2047, 2048, 2049, 5000})
    for (const DType dtype : {DType::f32, DType::i8, DType::i64})
      for (const int64_t inner : {1, 3})
        expect_agreement(random_case(dtype, {2, 9001, inner}, k, k % 2 == 0));
}

TEST(TopK, infinities_and_what_is_no_number) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16})
    for (const Distribution inputs : {Distribution::masked, Distribution::broken, Distribution::heavy})
      for (const int64_t count : {40, 1000, 10'007})
        for (const int64_t k : {1, 20, 39})
          for (const bool largest : {true, false})
            expect_agreement(random_case(dtype, {3, count, 1}, k, largest, inputs));
}

/// Every element is one of `kinds` numbers.
TopKCase tied_case(DType dtype, const Sizes& sizes, int64_t k, int64_t kinds) {
  std::vector<float> values(static_cast<size_t>(sizes.outer * sizes.count * sizes.inner));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>((i * 7919) % 104'729 % static_cast<size_t>(kinds));
  std::vector<std::byte> src(row_bytes(dtype, static_cast<int64_t>(values.size())).value_or(0));
  quantise_row(dtype, values.data(), static_cast<int64_t>(values.size()), src.data());
  return {{.dtype = dtype, .k = k}, sizes.outer, sizes.count, sizes.inner, std::move(src)};
}

TEST(TopK, equal_elements_stand_in_the_order_of_their_indices) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::i32, DType::i64, DType::u8})
    for (const int64_t kinds : {1, 2, 50})
      for (const int64_t count : {33, 2048, 5001, 70'001})
        for (const int64_t k : {1, 30, 33}) expect_agreement(tied_case(dtype, {2, count, 1}, k, kinds));
  for (const int64_t k : {2000, 2049, 5001}) expect_agreement(tied_case(DType::f32, {2, 5001, 1}, k, 1));
  // The bins of the first digits hold nearly all, so that a row is narrowed down to its indices.
  const TopKCase alike = tied_case(DType::f32, {1, 70'001, 1}, 40, 1);
  testing::each_fast_row(top_k_rows(), alike.problem, [&](const Row<TopK>& row) {
    std::vector<float> expected(40);
    std::iota(expected.begin(), expected.end(), 0.0F);
    EXPECT_EQ(testing::run(alike, row)[0].values, expected);
  });
}

// Sorted rows, in either direction: the best come last, or first.
TEST(TopK, rows_that_are_in_order) {
  for (const int64_t count : {1000, 20'000})
    for (const bool rising : {true, false}) {
      std::vector<int32_t> values(static_cast<size_t>(count));
      std::iota(values.begin(), values.end(), -count / 2);
      if (!rising) std::reverse(values.begin(), values.end());
      std::vector<std::byte> src(values.size() * sizeof(int32_t));
      std::memcpy(src.data(), values.data(), src.size());
      for (const int64_t k : {1, 50, 700})
        for (const bool largest : {true, false})
          expect_agreement({{.dtype = DType::i32, .k = k, .largest = largest}, 1, count, 1, src});
    }
}

template <class T>
struct Found {
  std::vector<int64_t> indices;
  std::vector<T> values;
};

/// One row, whose values come back bit by bit.
template <class T>
Found<T> found(const Row<TopK>& row, DType dtype, const std::vector<T>& values, int64_t k, bool largest) {
  const auto count = static_cast<int64_t>(values.size());
  ThreadTeam team(1);
  testing::GuardedPlace place(team, testing::placed(row, testing::Guard::after));
  TopK::Args args{.problem = {.dtype = dtype, .k = k, .largest = largest, .rows = 1, .count = count},
                  .outer = 1,
                  .count = count};
  args.src = place.put(values);
  auto* kept = place.put(std::vector<T>(static_cast<size_t>(k)));
  auto* indices = place.put(std::vector<int64_t>(static_cast<size_t>(k)));
  args.values = kept;
  args.indices = indices;
  row.run(args, place.launch(lab::put_workspace(row, args.problem, place)));
  place.wait();
  return {place.get(indices, static_cast<size_t>(k)), place.get(kept, static_cast<size_t>(k))};
}

TEST(TopK, orders_floats_as_its_header_says) {
  const std::vector<float> src = {0.0F, kNaN, -kInfinity, -0.0F, kInfinity, -kNaN, 1e-45F, -1e-45F, 0.0F};
  using Indices = std::vector<int64_t>;
  for (const Row<TopK>& row : testing::all_rows(top_k_rows())) {
    SCOPED_TRACE(std::string(row.name));
    const Found<float> largest = found(row, DType::f32, src, 9, true);
    EXPECT_EQ(largest.indices, (Indices{1, 5, 4, 6, 0, 3, 8, 7, 2}));
    EXPECT_EQ(found(row, DType::f32, src, 9, false).indices, (Indices{2, 7, 0, 3, 8, 6, 4, 1, 5}));
    for (size_t j = 0; j < src.size(); ++j)
      EXPECT_EQ(bits_of_float(largest.values[j]), bits_of_float(src[static_cast<size_t>(largest.indices[j])]))
          << j;
    const std::vector<uint16_t> halves = {0x0000, 0xFFFF, 0xFC00, 0x8000, 0x7C00, 0x7E01, 0x0001, 0x8001};
    EXPECT_EQ(found(row, DType::f16, halves, 8, true).indices, (Indices{1, 5, 4, 6, 0, 3, 7, 2}));
    EXPECT_EQ(found(row, DType::f16, halves, 8, true).values[0], 0xFFFF) << "a NaN keeps its bits";
  }
}

TEST(TopK, whole_numbers_are_compared_to_their_last_bit) {
  const int64_t far = (int64_t{1} << 53);
  const std::vector<int64_t> src = {far, far + 1, INT64_MIN, INT64_MAX, -1, far + 1, INT64_MIN + 1};
  using Indices = std::vector<int64_t>;
  for (const Row<TopK>& row : testing::all_rows(top_k_rows())) {
    SCOPED_TRACE(std::string(row.name));
    EXPECT_EQ(found(row, DType::i64, src, 7, true).indices, (Indices{3, 1, 5, 0, 4, 6, 2}));
    const Found<int64_t> smallest = found(row, DType::i64, src, 3, false);
    EXPECT_EQ(smallest.indices, (Indices{2, 6, 4}));
    EXPECT_EQ(smallest.values, (std::vector<int64_t>{INT64_MIN, INT64_MIN + 1, -1}));
    const std::vector<uint8_t> bytes = {0, 255, 128, 127, 255};
    EXPECT_EQ(found(row, DType::u8, bytes, 5, true).indices, (Indices{1, 4, 2, 3, 0}));
    const std::vector<int8_t> signed_bytes = {0, -1, -128, 127, -1};
    EXPECT_EQ(found(row, DType::i8, signed_bytes, 5, false).indices, (Indices{2, 1, 4, 0, 3}));
  }
}

TEST(TopK, indices_of_32_bits_and_no_values) {
  for (const Sizes& sizes : {Sizes{3, 32, 1}, {3, 1000, 1}, {2, 9001, 1}, {2, 9001, 2}})
    for (const int64_t k : {int64_t{7}, TopK::kAll}) {
      TopKCase c = random_case(DType::f32, sizes, k, false);
      c.problem.indices = DType::i32;
      expect_agreement(c);
      c.values_wanted = false;
      expect_agreement(c);
    }
}

// A plan is made for the largest step: its calls may be smaller.
TEST(TopK, calls_are_smaller_than_their_problem) {
  for (const int64_t most : {64, 2048, 5000})
    for (const int64_t k : {int64_t{20}, TopK::kAll})
      for (const Sizes& sizes : {Sizes{3, 20, 1}, {1, 63, 2}}) {
        TopKCase c = random_case(DType::bf16, sizes, k, true);
        c.problem.rows = 40;
        c.problem.count = most;
        expect_agreement(c);
      }
}

TEST(TopK, refuses_what_has_no_meaning) {
  const auto problem = [](int64_t k, int64_t count) {
    return TopK::Problem{.k = k, .rows = 2, .count = count};
  };
  for (const Row<TopK>& row : testing::all_rows(top_k_rows())) {
    SCOPED_TRACE(std::string(row.name));
    EXPECT_EQ(lab::refusal_of(row, problem(0, 4)), "the first 0 of 4 elements");
    EXPECT_EQ(lab::refusal_of(row, problem(5, 4)), "the first 5 of 4 elements");
    EXPECT_EQ(lab::refusal_of(row, problem(-2, 4)), "the first -2 of 4 elements");
    EXPECT_EQ(lab::refusal_of(row, {.dtype = DType::q8_0, .count = 32}), "Q8_0 has no elements");
    EXPECT_EQ(lab::refusal_of(row, {.indices = DType::f32, .count = 32}),
              "indices of f32; they are i64 or i32");
  }
}

}  // namespace
}  // namespace orrery::kernels
