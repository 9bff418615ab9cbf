#include "kernels/matmul.h"

#include <cstring>

#include "kernels/lab/matmul_case.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

using lab::MatmulCase;

constexpr DType kTypes[] = {DType::f32, DType::f16, DType::bf16};

struct Shape {
  int64_t rows, depth, cols;
};

/// One batch dim; each operand as it is or transposed.
Matmul::Args arguments(const Shape& shape, int64_t batch = 1, bool transpose_a = false,
                       bool transpose_b = false, DType dtype = DType::f32) {
  const auto [rows, depth, cols] = shape;
  Matmul::Args args{};
  args.a_type = args.b_type = args.dst_type = dtype;
  args.rows = rows;
  args.depth = depth;
  args.cols = cols;
  args.a_row = transpose_a ? 1 : depth;
  args.a_depth = transpose_a ? rows : 1;
  args.b_depth = transpose_b ? 1 : cols;
  args.b_col = transpose_b ? depth : 1;
  args.batch.rank = 1;
  args.batch.sizes[0] = batch;
  args.batch.strides[0][0] = rows * depth;
  args.batch.strides[1][0] = depth * cols;
  return args;
}

constexpr Shape kShapes[] = {{1, 1, 1},    {1, 64, 1},    {5, 7, 3},     {48, 256, 64}, {49, 257, 65},
                             {6, 300, 17}, {97, 31, 129}, {1, 513, 200}, {131, 64, 131}};

TEST(Matmul, rows_agree_with_the_reference) {
  for (const Shape& shape : kShapes)
    for (const bool transpose_a : {false, true})
      for (const bool transpose_b : {false, true}) {
        SCOPED_TRACE(std::to_string(shape.rows) + " x " + std::to_string(shape.depth) + " x " +
                     std::to_string(shape.cols));
        testing::expect_rows_agree(MatmulCase(arguments(shape, 3, transpose_a, transpose_b)), matmul_rows());
      }
}

TEST(Matmul, every_type_of_floats) {
  for (const DType a : kTypes)
    for (const DType b : kTypes)
      for (const DType dst : kTypes) {
        Matmul::Args args = arguments({19, 70, 77}, 2, false, true);
        args.a_type = a;
        args.b_type = b;
        args.dst_type = dst;
        SCOPED_TRACE(std::string(name_of(a)) + " " + std::string(name_of(b)) + " " +
                     std::string(name_of(dst)));
        testing::expect_rows_agree(MatmulCase(args), matmul_rows());
      }
}

TEST(Matmul, batches_are_broadcast) {
  Matmul::Args args = arguments({9, 20, 33});
  args.batch.rank = 4;
  const int64_t sizes[] = {2, 3, 2, 2};
  std::copy_n(sizes, 4, args.batch.sizes);
  const int64_t a[] = {360, 0, 180, 0}, b[] = {0, 1320, 0, 660};  // a of (2, 1, 2, 1), b of (1, 3, 1, 2)
  std::copy_n(a, 4, args.batch.strides[0]);
  std::copy_n(b, 4, args.batch.strides[1]);
  testing::expect_rows_agree(MatmulCase(args), matmul_rows());
  args.batch.rank = 0;
  testing::expect_rows_agree(MatmulCase(args), matmul_rows());
}

TEST(Matmul, heads_of_packed_rows_are_read_where_they_lie) {
  Matmul::Args args = arguments({37, 16, 37}, 4, false, true);  // (tokens, heads, head_dim)
  args.a_row = args.b_col = 4 * 16;
  args.batch.strides[0][0] = args.batch.strides[1][0] = 16;
  testing::expect_rows_agree(MatmulCase(args), matmul_rows());
}

TEST(Matmul, a_sum_is_the_same_whatever_is_beside_it) {
  const Matmul::Args whole = arguments({101, 300, 70});
  Matmul::Args part = whole;
  part.rows = 7;
  for (const Row<Matmul>& row : testing::all_rows(matmul_rows())) {
    if (!lab::refusal_of(row, MatmulCase(whole).problem).empty()) continue;
    ThreadTeam team(2);
    testing::GuardedPlace place(team, testing::placed(row, testing::Guard::after));
    const auto a = lab::random_floats(101 * 300, 1), b = lab::random_floats(300 * 70, 2);
    const auto run = [&](Matmul::Args args) {
      args.a = place.put(a);
      args.b = place.put(b);
      auto* dst = place.put(std::vector<float>(static_cast<size_t>(args.rows * args.cols)));
      args.dst = dst;
      row.run(args, place.launch(lab::put_workspace(row, MatmulCase(whole).problem, place)));
      place.wait();
      return place.get(dst, 7 * 70);
    };
    EXPECT_EQ(run(part), run(whole)) << row.name;
  }
}

TEST(Matmul, refuses_what_is_no_float) {
  for (const Row<Matmul>& row : testing::all_rows(matmul_rows())) {
    EXPECT_EQ(lab::refusal_of(row, {DType::i8, DType::f32, DType::f32, 0}), "i8; it takes f32, f16 or bf16");
    EXPECT_EQ(lab::refusal_of(row, {DType::f32, DType::f32, DType::f32, 5}), "7 dims; kernels walk 6");
  }
}

}  // namespace
}  // namespace orrery::kernels
