#include "kernels/dropout_norm.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <tuple>

#include "kernels/half.h"
#include "kernels/lab/dropout_norm_case.h"
#include "tests/kernels/differences.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels {
namespace {

using lab::DropoutNormBackwardCase;
using lab::DropoutNormCase;
using lab::DropoutNormShape;
using lab::Output;

constexpr int64_t kCols[] = {1, 7, 32, 33, 768, 1000, 1024, 1025, 4097, 8192, 20000};
constexpr int64_t kRows[] = {1, 3, 17};

struct Types {
  DType src, residual, x;
};
constexpr Types kTypes[] = {{DType::f32, DType::f32, DType::f32},   {DType::bf16, DType::bf16, DType::bf16},
                            {DType::f16, DType::f16, DType::f16},   {DType::bf16, DType::f32, DType::f32},
                            {DType::bf16, DType::bf16, DType::f32}, {DType::f16, DType::f32, DType::f32}};

/// Every size; options and types are drawn.
template <class Body>
void each_shape(Body&& body) {
  std::mt19937 random(1);
  for (const int64_t cols : kCols)
    for (const int64_t rows : kRows)
      for (const double p : {0.0, 0.1, 0.9})
        for (const Norm::Kind kind : {Norm::Kind::layer, Norm::Kind::rms}) {
          const auto is = [&] { return random() % 2 == 0; };
          const Types types = kTypes[random() % std::size(kTypes)];
          const DropoutNormShape shape{.kind = kind,
                                       .rows = rows,
                                       .cols = cols,
                                       .src = types.src,
                                       .residual_type = types.residual,
                                       .x = types.x,
                                       .residual = is(),
                                       .bias = is(),
                                       .rowscale = is(),
                                       .colscale = is(),
                                       .p = p,
                                       .in_place = types.residual == types.x && is(),
                                       .seed = static_cast<uint32_t>(random()),
                                       .quantised = is(),
                                       .subset = is(),
                                       .src2 = is(),
                                       .norm2 = is()};
          SCOPED_TRACE(std::to_string(rows) + "x" + std::to_string(cols) + " of " +
                       std::string(name_of(types.src)) + ", p " + std::to_string(p));
          body(shape);
        }
}

TEST(DropoutNorm, rows_agree_with_the_reference) {
  each_shape([](const DropoutNormShape& shape) {
    testing::expect_rows_agree(DropoutNormCase(shape), dropout_norm_rows(), testing::kOneGuard);
  });
}

TEST(DropoutNorm, gradients_agree_with_the_reference) {
  each_shape([](const DropoutNormShape& shape) {
    testing::expect_rows_agree(DropoutNormBackwardCase(shape), dropout_norm_backward_rows(),
                               testing::kOneGuard);
  });
}

TEST(DropoutNorm, every_option_of_every_type) {
  for (const Types& types : kTypes)
    for (int options = 0; options < 128; ++options) {
      const auto has = [&](int option) { return (options >> option & 1) != 0; };
      const DropoutNormShape shape{.kind = has(0) ? Norm::Kind::rms : Norm::Kind::layer,
                                   .rows = 5,
                                   .cols = has(5) ? 264 : 45,
                                   .src = types.src,
                                   .residual_type = types.residual,
                                   .x = types.x,
                                   .residual = has(1),
                                   .bias = has(2),
                                   .rowscale = has(3),
                                   .colscale = has(4),
                                   .p = 0.25,
                                   .seed = 3,
                                   .src2 = has(6),
                                   .norm2 = has(6) == has(1)};
      SCOPED_TRACE("options " + std::to_string(options) + " of " + std::string(name_of(types.src)));
      testing::expect_rows_agree(DropoutNormCase(shape), dropout_norm_rows());
      testing::expect_rows_agree(DropoutNormBackwardCase(shape), dropout_norm_backward_rows());
    }
}

/// So many rows that every part has several, and so many columns that a row lies in registers, in shared
/// memory, and in neither.
TEST(DropoutNorm, many_rows_and_long_ones) {
  for (const auto& [rows, cols] :
       {std::pair<int64_t, int64_t>{1537, 96}, {700, 1032}, {40, 16392}, {2, 140'000}, {3, 20'001}}) {
    SCOPED_TRACE(std::to_string(rows) + "x" + std::to_string(cols));
    for (const auto& [subset, parallel] : {std::pair{false, false}, {true, false}, {true, true}}) {
      const DropoutNormShape shape{.rows = rows,
                                   .cols = cols,
                                   .residual = true,
                                   .bias = true,
                                   .colscale = true,
                                   .p = 0.1,
                                   .subset = subset,
                                   .src2 = parallel,
                                   .norm2 = parallel};
      testing::expect_rows_agree(DropoutNormCase(shape), dropout_norm_rows(), testing::kOneGuard);
      testing::expect_rows_agree(DropoutNormBackwardCase(shape), dropout_norm_backward_rows(),
                                 testing::kOneGuard);
    }
  }
}

/// Enough rows to fill a card, each as wide as what a block keeps entirely in registers when elements have 16
/// bits.
TEST(DropoutNorm, many_rows_of_many_columns) {
  for (const auto& [cols, dtype, options] :
       {std::tuple{8200, DType::f16, false}, {8200, DType::bf16, true}, {18'440, DType::bf16, true}}) {
    SCOPED_TRACE(std::to_string(cols) + " columns of " + std::string(name_of(dtype)));
    const DropoutNormShape shape{.kind = options ? Norm::Kind::layer : Norm::Kind::rms,
                                 .rows = 512,
                                 .cols = cols,
                                 .src = dtype,
                                 .residual_type = dtype,
                                 .x = dtype,
                                 .residual = true,
                                 .bias = options,
                                 .rowscale = options,
                                 .colscale = options,
                                 .p = options ? 0.1 : 0.0,
                                 .in_place = options,
                                 .quantised = options};
    testing::expect_rows_agree(DropoutNormCase(shape), dropout_norm_rows(), testing::kOneGuard);
  }
}

/// 257 is no bf16 and 2049 no f16: what is stored are equal numbers, of which nothing is left.
TEST(DropoutNorm, the_norm_sees_what_is_stored) {
  for (const DType dtype : {DType::bf16, DType::f16})
    for (const Row<DropoutNorm>& row : testing::rows_taking({.cols = 8}, dropout_norm_rows()))
      for (const bool stored : {false, true}) {
        const float large = dtype == DType::bf16 ? 256.0F : 2048.0F;
        const auto put = [&](lab::Place& place, const std::vector<float>& values) {
          std::vector<uint16_t> halves;
          for (const float value : values)
            halves.push_back(dtype == DType::bf16 ? bf16_from_float(value) : f16_from_float(value));
          return place.put(halves);
        };
        ThreadTeam team(1);
        testing::GuardedPlace place(team, testing::placed(row, testing::Guard::after));
        uint16_t* out = put(place, {7, 7});
        const DropoutNorm::Args args{.problem = {Norm::Kind::layer, 2, dtype, dtype, dtype},
                                     .src = put(place, {large, large}),
                                     .residual = put(place, {1, 0}),
                                     .weight = place.put(std::vector<float>{1, 1}),
                                     .out = out,
                                     .residual_out = stored ? put(place, {7, 7}) : nullptr,
                                     .rows = 1};
        row.run(args, place.launch(lab::put_workspace(row, args.problem, place)));
        place.wait();
        EXPECT_EQ(place.get(out, 2), (std::vector<uint16_t>{0, 0})) << row.name << " " << name_of(dtype);
      }
}

/// The norm is of x as it would be stored, also where it is not.
TEST(DropoutNorm, a_sum_that_nobody_reads_changes_nothing) {
  for (const Types& types : {kTypes[0], kTypes[1], kTypes[3]})
    for (const int64_t cols : {45, 1032, 1100, 140'000}) {
      const DropoutNormCase c({.rows = 2,
                               .cols = cols,
                               .src = types.src,
                               .residual_type = types.residual,
                               .x = types.x,
                               .residual = true,
                               .p = 0.1});
      testing::each_fast_row(dropout_norm_rows(), c.problem, [&](const Row<DropoutNorm>& row) {
        const std::vector<float> with = testing::run(c, row)[0].values;
        ThreadTeam team(2);
        testing::GuardedPlace place(team, testing::placed(row, testing::Guard::after));
        auto call = c.place(row, place);
        call.args.residual_out = nullptr;
        row.run(call.args, place.launch(lab::put_workspace(row, c.problem, place)));
        place.wait();
        const size_t bytes = row_bytes(types.src, 2 * cols).value_or(0);
        EXPECT_EQ(lab::as_floats(types.src, place.get(static_cast<const std::byte*>(call.args.out), bytes)),
                  with);
      });
    }
}

TEST(DropoutNorm, rows_of_8_bits) {
  for (const Row<DropoutNorm>& row : testing::rows_taking({.cols = 8}, dropout_norm_rows()))
    for (const bool with_out : {false, true}) {
      SCOPED_TRACE(std::string(row.name));
      constexpr int64_t kLong = 9001;
      std::vector<float> src(4 * kLong, 0.0F), weight(kLong, 1.0F), bias(kLong, 0.0F);
      bias[0] = 254.0F;
      bias[1] = -127.0F;
      bias[2] = 3.0F;  // 1.5 and 2.5 of the factor: halves go to the even number
      bias[3] = 5.0F;
      bias[kLong - 1] = -254.0F;
      src[kLong] = std::nanf("");
      src[2 * kLong + 5] = std::numeric_limits<float>::infinity();
      ThreadTeam team(2);
      testing::GuardedPlace place(team, testing::placed(row, testing::Guard::after));
      const DropoutNorm::Args args{.problem = {Norm::Kind::rms, kLong},
                                   .src = place.put(src),
                                   .weight = place.put(weight),
                                   .bias = place.put(bias),
                                   .out = with_out ? place.put(src) : nullptr,
                                   .quantised = place.put(std::vector<int8_t>(4 * kLong, int8_t{9})),
                                   .scales = place.put(std::vector<float>(4)),
                                   .rows = 4};
      row.run(args, place.launch(lab::put_workspace(row, args.problem, place)));
      place.wait();
      const std::vector<int8_t> numbers = place.get(args.quantised, 4 * kLong);
      const std::vector<float> scales = place.get(args.scales, 4);
      for (const size_t good : {size_t{0}, size_t{3}}) {
        EXPECT_EQ(scales[good], 2.0F);
        const auto* of = numbers.data() + good * kLong;
        EXPECT_EQ(std::vector<int8_t>(of, of + 5), (std::vector<int8_t>{127, -64, 2, 2, 0}));
        EXPECT_EQ(of[kLong - 1], -127);
      }
      for (const size_t odd : {size_t{1}, size_t{2}}) {
        EXPECT_TRUE(std::isnan(scales[odd]));
        EXPECT_EQ(std::count(numbers.begin() + static_cast<int64_t>(odd) * kLong,
                             numbers.begin() + static_cast<int64_t>(odd + 1) * kLong, 0),
                  kLong);
      }
    }
}

TEST(DropoutNorm, reference_is_the_formula) {
  const float src[] = {3.0F, -4.0F}, residual[] = {1.0F, 0.0F}, weight[] = {1.0F, 2.0F},
              bias[] = {0.5F, 0.0F};
  const float rowscale[] = {2.0F}, colscale[] = {1.0F, 0.5F};
  float out[2], x[2];
  DropoutNorm::Args args{.problem = {Norm::Kind::rms, 2},
                         .src = src,
                         .residual = residual,
                         .weight = weight,
                         .bias = bias,
                         .rowscale = rowscale,
                         .colscale = colscale,
                         .out = out,
                         .residual_out = x,
                         .rows = 1,
                         .eps = 0.5F};
  testing::reference_of(dropout_norm_rows()).run(args, {});
  EXPECT_EQ(x[0], 7.0F);
  EXPECT_EQ(x[1], -4.0F);
  EXPECT_FLOAT_EQ(out[0], 7.0F / std::sqrt(33.0F) + 0.5F);  // mean square 32.5
  EXPECT_FLOAT_EQ(out[1], -8.0F / std::sqrt(33.0F));
  args.problem.kind = Norm::Kind::layer;
  testing::reference_of(dropout_norm_rows()).run(args, {});
  EXPECT_FLOAT_EQ(out[0], 5.5F / std::sqrt(30.75F) + 0.5F);  // mean 1.5, variance 30.25
  EXPECT_FLOAT_EQ(out[1], -11.0F / std::sqrt(30.75F));
}

/// Without a second source, and with nobody who reads the first norm.
TEST(DropoutNorm, a_second_norm_is_the_first_with_other_weights) {
  for (const int64_t cols : {45, 1032, 1100, 9000}) {
    const DropoutNormCase c({.rows = 3, .cols = cols, .bias = true, .norm2 = true});
    for (const Row<DropoutNorm>& row : testing::rows_taking({.cols = 8}, dropout_norm_rows())) {
      ThreadTeam team(2);
      testing::GuardedPlace place(team, testing::placed(row, testing::Guard::after));
      auto call = c.place(row, place);
      const void* second = call.args.out2;
      call.args.out = nullptr;
      row.run(call.args, place.launch(lab::put_workspace(row, c.problem, place)));
      place.wait();
      const auto count = static_cast<size_t>(3 * cols);
      const std::vector<float> out2 = place.get(static_cast<const float*>(second), count);
      DropoutNorm::Args alone = call.args;
      alone.problem.parallel = false;
      alone.weight = call.args.weight2;
      alone.bias = call.args.bias2;
      alone.out = call.args.out2;
      alone.weight2 = alone.bias2 = nullptr;
      alone.out2 = nullptr;
      row.run(alone, place.launch(lab::put_workspace(row, alone.problem, place)));
      place.wait();
      const std::vector<float> first = place.get(static_cast<const float*>(second), count);
      // On a card a kernel of two norms has half the threads, and so adds a long row up in another order.
      if (row.device == DeviceKind::cpu)
        EXPECT_EQ(first, out2) << row.name << " " << cols;
      else
        EXPECT_THAT(first, ::testing::Pointwise(::testing::FloatNear(4e-6F), out2))
            << row.name << " " << cols;
    }
  }
}

// ---- gradients against differences of the forward formula ----

/// All operands in float64, and what the loss weighs its results with.
struct Model {
  Norm::Kind kind;
  size_t rows, cols;
  Dropout dropout;
  std::vector<double> src, src2, residual, weight, bias, weight2, bias2, rowscale, colscale, of_out, of_out2,
      of_x;
  double eps = 1e-3;

  std::vector<double> x() const {
    std::vector<double> sums(src.size());
    for (size_t i = 0; i < src.size(); ++i) {
      const size_t r = i / cols, c = i % cols;
      const bool stays = dropout.keeps(static_cast<int64_t>(r), static_cast<int64_t>(c));
      sums[i] = (stays ? src[i] * rowscale[r] / (1 - dropout.p) : 0.0) * colscale[c] + residual[i];
      const Dropout second = dropout.of(Dropout::kSecondNormStream);
      if (second.keeps(static_cast<int64_t>(r), static_cast<int64_t>(c)))
        sums[i] += src2[i] / (1 - dropout.p);
    }
    return sums;
  }
  /// The sum of all results, weighed.
  double loss() const {
    const std::vector<double> sums = x();
    double loss = 0;
    for (size_t r = 0; r < rows; ++r) {
      double mean = 0, squares = 0;
      for (size_t c = 0; c < cols; ++c) mean += sums[r * cols + c] / static_cast<double>(cols);
      if (kind == Norm::Kind::rms) mean = 0;
      for (size_t c = 0; c < cols; ++c)
        squares += std::pow(sums[r * cols + c] - mean, 2) / static_cast<double>(cols);
      for (size_t c = 0; c < cols; ++c) {
        const size_t i = r * cols + c;
        const double y = (sums[i] - mean) / std::sqrt(squares + eps);
        loss += of_out[i] * (y * weight[c] + bias[c]) + of_out2[i] * (y * weight2[c] + bias2[c]) +
                of_x[i] * sums[i];
      }
    }
    return loss;
  }
};

std::vector<double> as_doubles(const std::vector<float>& values) { return {values.begin(), values.end()}; }
std::vector<float> as_singles(const std::vector<double>& values) { return {values.begin(), values.end()}; }

TEST(DropoutNorm, gradients_are_the_slopes_of_the_forward_formula) {
  constexpr size_t kModelRows = 6, kModelCols = 24, kCount = kModelRows * kModelCols;
  for (const Norm::Kind kind : {Norm::Kind::layer, Norm::Kind::rms}) {
    for (const double p : {0.0, 0.3}) {
      const auto random = [](size_t count, uint32_t seed) {
        return as_doubles(testing::random_floats(count, seed));
      };
      Model model{.kind = kind,
                  .rows = kModelRows,
                  .cols = kModelCols,
                  .dropout = Dropout(p, 5),
                  .src = random(kCount, 1),
                  .src2 = random(kCount, 9),
                  .residual = random(kCount, 2),
                  .weight = random(kModelCols, 3),
                  .bias = random(kModelCols, 4),
                  .weight2 = random(kModelCols, 10),
                  .bias2 = random(kModelCols, 11),
                  .rowscale = random(kModelRows, 5),
                  .colscale = random(kModelCols, 6),
                  .of_out = random(kCount, 7),
                  .of_out2 = random(kCount, 12),
                  .of_x = random(kCount, 8)};
      // Stored as f32, which is what the gradients are taken of.
      const std::vector<float> x = as_singles(model.x());
      for (const Row<DropoutNormBackward>& row :
           testing::rows_taking({.cols = 8}, dropout_norm_backward_rows())) {
        SCOPED_TRACE(row.name);
        ThreadTeam team(2);
        testing::GuardedPlace place(team, testing::placed(row, testing::Guard::after));
        const auto put = [&](const std::vector<double>& values) { return place.put(as_singles(values)); };
        auto* grad_src = put(model.src);
        auto *grad_residual = put(model.src), *grad_src2 = put(model.src);
        const DropoutNormBackward::Args args{.problem = {kind, kModelCols, DType::f32, DType::f32, true},
                                             .grad_out = put(model.of_out),
                                             .grad_out2 = put(model.of_out2),
                                             .grad_residual_out = put(model.of_x),
                                             .x = place.put(x),
                                             .src = put(model.src),
                                             .weight = put(model.weight),
                                             .weight2 = put(model.weight2),
                                             .rowscale = put(model.rowscale),
                                             .colscale = put(model.colscale),
                                             .grad_src = grad_src,
                                             .grad_src2 = grad_src2,
                                             .grad_residual = grad_residual,
                                             .grad_weight = put(model.weight),
                                             .grad_bias = put(model.weight),
                                             .grad_weight2 = put(model.weight),
                                             .grad_bias2 = put(model.weight),
                                             .grad_colscale = put(model.weight),
                                             .rows = kModelRows,
                                             .dropout = model.dropout,
                                             .eps = static_cast<float>(model.eps)};
        row.run(args, place.launch(lab::put_workspace(row, args.problem, place)));
        place.wait();
        const auto get = [&](const float* values, size_t count) { return place.get(values, count); };
        testing::expect_close_to(get(grad_src, kCount), testing::differences(model, &Model::src), 2e-5,
                                 "src");
        testing::expect_close_to(get(grad_src2, kCount), testing::differences(model, &Model::src2), 2e-5,
                                 "src2");
        testing::expect_close_to(get(grad_residual, kCount), testing::differences(model, &Model::residual),
                                 2e-5, "residual");
        testing::expect_close_to(get(args.grad_weight2, kModelCols),
                                 testing::differences(model, &Model::weight2), 2e-5, "weight2");
        testing::expect_close_to(get(args.grad_bias2, kModelCols), testing::differences(model, &Model::bias2),
                                 2e-5, "bias2");
        testing::expect_close_to(get(args.grad_weight, kModelCols),
                                 testing::differences(model, &Model::weight), 2e-5, "weight");
        testing::expect_close_to(get(args.grad_bias, kModelCols), testing::differences(model, &Model::bias),
                                 2e-5, "bias");
        testing::expect_close_to(get(args.grad_colscale, kModelCols),
                                 testing::differences(model, &Model::colscale), 2e-5, "colscale");
      }
    }
  }
}

TEST(DropoutNorm, gradients_are_the_same_bits_however_many_threads_there_are) {
  for (const auto& [rows, cols, parallel] : {std::tuple<int64_t, int64_t, bool>{1537, 96, false},
                                             {130, 1100, false},
                                             {9, 9000, false},
                                             {130, 1100, true}}) {
    const DropoutNormBackwardCase c({.rows = rows,
                                     .cols = cols,
                                     .residual = true,
                                     .colscale = true,
                                     .p = 0.1,
                                     .src2 = parallel,
                                     .norm2 = parallel});
    testing::each_fast_row(dropout_norm_backward_rows(), c.problem, [&](const auto& row) {
      const std::vector<Output> once = testing::run(c, row, 1);
      for (const int threads : {1, 2, 3}) {
        const std::vector<Output> again = testing::run(c, row, threads);
        for (size_t i = 0; i < once.size(); ++i) EXPECT_EQ(again[i].values, once[i].values) << once[i].name;
      }
    });
  }
}

TEST(DropoutNorm, what_nobody_asks_for_is_not_written) {
  const DropoutNormShape shape{
      .rows = 5, .cols = 48, .residual = true, .colscale = true, .p = 0.1, .src2 = true, .norm2 = true};
  const DropoutNormBackwardCase c(shape);
  const std::vector<lab::Expected> expected = c.expected({});
  ThreadTeam team(2);
  for (const Row<DropoutNormBackward>& row : testing::rows_taking({.cols = 8}, dropout_norm_backward_rows()))
    for (int asked = 0; asked < 8; ++asked) {
      testing::GuardedPlace place(team, testing::placed(row, testing::Guard::after));
      auto call = c.place(row, place);
      const DropoutNormBackward::Args all = call.args;
      DropoutNormBackward::Args& args = call.args;
      args.grad_src = asked == 0 ? all.grad_src : nullptr;
      args.grad_residual = asked == 1 ? all.grad_residual : nullptr;
      args.grad_weight = asked == 2 ? all.grad_weight : nullptr;
      args.grad_bias = asked == 3 ? all.grad_bias : nullptr;
      args.grad_colscale = asked == 4 ? all.grad_colscale : nullptr;
      args.grad_src2 = asked == 5 ? all.grad_src2 : nullptr;
      args.grad_weight2 = asked == 6 ? all.grad_weight2 : nullptr;
      args.grad_bias2 = asked == 7 ? all.grad_bias2 : nullptr;
      row.run(args, place.launch(lab::put_workspace(row, c.problem, place)));
      place.wait();
      const std::vector<Output> outputs = call.read(place);
      for (int i = 0; i < 8; ++i) {
        const auto place_of = static_cast<size_t>(i);
        const lab::Agreement agreement = lab::compare(outputs[place_of], expected[place_of]);
        EXPECT_EQ(agreement.ok, i == asked) << row.name << ": " << outputs[place_of].name;
      }
    }
}

TEST(DropoutNorm, gradients_of_no_rows_are_zeros) {
  for (const Row<DropoutNormBackward>& row :
       testing::rows_taking({.cols = 8}, dropout_norm_backward_rows())) {
    ThreadTeam team(2);
    testing::GuardedPlace place(team, testing::placed(row, testing::Guard::after));
    const std::vector<float> ones(40, 1.0F);
    const DropoutNormBackward::Args args{.problem = {Norm::Kind::layer, 40},
                                         .weight = place.put(ones),
                                         .grad_weight = place.put(ones),
                                         .grad_bias = place.put(ones)};
    row.run(args, place.launch(lab::put_workspace(row, args.problem, place)));
    place.wait();
    EXPECT_EQ(place.get(args.grad_weight, 40), std::vector<float>(40)) << row.name;
    EXPECT_EQ(place.get(args.grad_bias, 40), std::vector<float>(40)) << row.name;
  }
}

TEST(DropoutNorm, refuses_what_has_no_meaning) {
  const Norm::Kind layer = Norm::Kind::layer;
  for (const Row<DropoutNorm>& row : testing::all_rows(dropout_norm_rows())) {
    EXPECT_EQ(lab::refusal_of(row, {layer, 0}), "the rows have no columns");
    EXPECT_EQ(lab::refusal_of(row, {layer, 8, DType::i32, DType::i32, DType::i32}),
              "src is i32; it must be f32, f16 or bf16");
    EXPECT_EQ(lab::refusal_of(row, {layer, 8, DType::f32, DType::f32, DType::bf16}),
              "x is bf16; it must be f32 or as src, which is f32");
    EXPECT_EQ(lab::refusal_of(row, {layer, 8, DType::f16, DType::f32, DType::f16}),
              "residual is f32, but x is f16");
  }
  for (const Row<DropoutNormBackward>& row : testing::all_rows(dropout_norm_backward_rows())) {
    EXPECT_EQ(lab::refusal_of(row, {layer, 0}), "the rows have no columns");
    EXPECT_NE(lab::refusal_of(row, {layer, 8, DType::f16, DType::bf16}), "");
  }
}

}  // namespace
}  // namespace orrery::kernels
