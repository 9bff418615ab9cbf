// What dropout_norm.cpp offers, built once per ISA: one row of a call (kernels/dropout_norm.h). The rows in
// cpu/dropout_norm.cpp split the work over the team and call these on each thread's share.
#pragma once

#include <cstdint>

#include "kernels/cpu/isa/dropout_row.h"
#include "kernels/dtype.h"

namespace orrery::kernels {

/// All but weight and x may be null: no src adds nothing, and without out, out2 and quantised no norm is
/// taken. The second source and norm are seen where `parallel` is set.
struct DropoutNormRow {
  DType src_type, residual_type, x_type;
  bool layer, parallel;
  int64_t cols;
  float eps;
  DropoutRow dropout, dropout2;
  const void* src;
  const void* src2;
  const void* residual;
  const float* weight;
  const float* bias;
  const float* weight2;  // where out2 is
  const float* bias2;
  const float* colscale;
  float* x;  // room for a row
  void* out;
  void* out2;
  int8_t* quantised;
  float* scale;  // where quantised is
  void* residual_out;
};

/// But x and weight all may be null, src where no sum_colscale is; no grad_out counts as zeros. The second
/// source and norm are seen where `parallel` is set.
struct DropoutNormBackwardRow {
  DType src_type, x_type;
  bool layer, parallel;
  int64_t cols;
  float eps;
  DropoutRow dropout, dropout2;
  const void* grad_out;
  const void* grad_out2;
  const void* grad_residual_out;
  const void* x;
  const void* src;
  const float* weight;
  const float* weight2;  // where grad_out2 is
  const float* colscale;
  void* grad_src;
  void* grad_src2;
  void* grad_residual;
  double* sum_weight;  // what the row adds to the gradients of vectors over the columns
  double* sum_bias;
  double* sum_weight2;
  double* sum_bias2;
  double* sum_colscale;
};

struct DropoutNormTable {
  void (*forward)(const DropoutNormRow& row);
  void (*backward)(const DropoutNormBackwardRow& row);
};

namespace avx2 {
extern const DropoutNormTable kDropoutNorm;
}
namespace avx512 {
extern const DropoutNormTable kDropoutNorm;
}

}  // namespace orrery::kernels
