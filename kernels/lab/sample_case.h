// Sample from given logits.
#pragma once

#include <span>

#include "kernels/lab/inputs.h"
#include "kernels/lab/op_case.h"
#include "kernels/sample.h"

namespace orrery::kernels::lab {

class SampleCase {
 public:
  using Op = Sample;

  /// logits (requests, vocabulary), stored in dtype. What requests point at is copied, but for chains.
  SampleCase(std::vector<float> logits, std::vector<Sample::Request> requests, DType dtype = DType::f32);

  Call<Sample> place(const Row<Sample>& row, Place& place) const;
  /// Of each request: its id and those of the most probable, to the number; their log-probabilities.
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;
  /// What a call left at call.args.choices.
  std::vector<Sample::Choice> choices(const Call<Sample>& call, Place& place) const;

  Sample::Problem problem;
  /// Asked, and answered, by tensors: all requests are the first but for seeds, positions, recent ids (as
  /// many each) and biases (each with its own, or all with that of the first).
  bool as_batch = false;

 private:
  Call<Sample> place_batch(Place& place) const;

  std::vector<std::byte> logits_;
  std::vector<Sample::Request> requests_;
  std::vector<std::vector<int32_t>> recent_;  // of each request
  std::vector<std::vector<float>> bias_;      // likewise
};

}  // namespace orrery::kernels::lab
