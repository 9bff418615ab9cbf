// Linear with random inputs. Rows that round activations are compared with the oracle on activations rounded
// the same way, so that the tolerance of float32 holds for them too.
#pragma once

#include <memory>

#include "kernels/lab/inputs.h"
#include "kernels/lab/op_case.h"
#include "kernels/linear.h"

namespace orrery::kernels::lab {

class LinearCase {
 public:
  using Op = Linear;
  struct Segment {
    int64_t rows;
    DType dtype;
    bool bias = false;
  };
  struct Inputs {
    Distribution distribution = Distribution::normal;
    uint32_t seed = 11;
    int64_t period = 0;  // weight rows repeat after so many; 0: they do not
  };

  LinearCase(int64_t tokens, int64_t cols, const std::vector<Segment>& segments,
             Epilogue epilogue = Epilogue::none, Precision precision = Precision::balanced)
      : LinearCase(tokens, cols, segments, epilogue, precision, Inputs{}) {}
  LinearCase(int64_t tokens, int64_t cols, const std::vector<Segment>& segments, Epilogue epilogue,
             Precision precision, const Inputs& inputs);

  /// The same with so many tokens, of the same weights and activations, for a plan of [least, most] tokens.
  LinearCase with_tokens(int64_t tokens, int64_t least, int64_t most) const;

  Call<Linear> place(const Row<Linear>& row, Place& place) const;
  void cool(Linear::Args& args, const Row<Linear>& row, Place& place, size_t copy) const;
  bool is_cold() const { return tokens() <= 8; }
  /// dst of each output; with a dst_gap also what lies between rows of dst.
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  int64_t tokens() const { return static_cast<int64_t>(src.size()) / problem.cols; }
  int outputs() const;
  /// |x_t| |w_r| for each element of dst: what rounding errors scale with. Gated: the product of both.
  std::vector<float> scales(int output, const std::vector<float>& source) const;

  Linear::Problem problem;
  std::vector<float> src;          // (tokens, cols), as float32 however it is stored
  int64_t src_gap = 0;             // NaNs between the rows of src
  int64_t dst_gap = 0;             // elements between the rows of dst, which no row may write
  size_t most_checked = SIZE_MAX;  // tokens that are read and compared

 private:
  /// Of all segments, shared by cases that differ in tokens.
  struct Weights {
    uint64_t number = 0;
    int64_t period = 0;
    std::vector<std::vector<std::byte>> stored;
    std::vector<std::vector<float>> biases;
  };

  const std::byte* put_weight(const Row<Linear>& row, size_t segment, Place& place, size_t copy) const;
  std::vector<int64_t> checked() const;
  std::vector<float> seen(Rounding rounding, size_t segment) const;
  double tolerance(Rounding rounding) const;
  LinearCase part(const std::vector<float>& source, const std::vector<int64_t>& tokens) const;
  std::vector<float> norms(size_t segment) const;

  std::shared_ptr<const Weights> weights_;
};

}  // namespace orrery::kernels::lab
