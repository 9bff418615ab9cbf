// Elementwise with random inputs.
#pragma once

#include "kernels/elementwise.h"
#include "kernels/lab/inputs.h"
#include "kernels/lab/op_case.h"

namespace orrery::kernels::lab {

class ElementwiseCase {
 public:
  using Op = Elementwise;

  /// a (tokens, cols); b the same, or one row where problem.broadcast.
  ElementwiseCase(const Elementwise::Problem& asked, std::vector<float> a, std::vector<float> b,
                  float factor = 1.0F, double tolerance = 1e-6)
      : problem(asked), a_(std::move(a)), b_(std::move(b)), factor_(factor), tolerance_(tolerance) {}
  ElementwiseCase(const Elementwise::Problem& asked, int64_t tokens,
                  Distribution distribution = Distribution::normal, uint32_t seed = 5);

  Call<Elementwise> place(const Row<Elementwise>& row, Place& place) const;
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  Elementwise::Problem problem;
  bool in_place = true;  // as plans do it

 private:
  bool reads_two() const;

  std::vector<float> a_, b_;
  float factor_;
  double tolerance_;
};

}  // namespace orrery::kernels::lab
