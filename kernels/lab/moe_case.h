// The two ops of mixtures of experts with random inputs.
#pragma once

#include "kernels/lab/inputs.h"
#include "kernels/lab/op_case.h"
#include "kernels/moe.h"

namespace orrery::kernels::lab {

class TopExpertsCase {
 public:
  using Op = TopExperts;

  /// logits (tokens, experts)
  TopExpertsCase(const TopExperts::Problem& asked, std::vector<float> logits)
      : problem(asked), logits_(std::move(logits)) {}

  Call<TopExperts> place(const Row<TopExperts>& row, Place& place) const;
  /// experts, to the number, and weights.
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  TopExperts::Problem problem;

 private:
  int64_t tokens() const { return static_cast<int64_t>(logits_.size()) / problem.experts; }

  std::vector<float> logits_;
};

class ExpertMlpCase {
 public:
  using Op = ExpertMlp;

  /// Each token takes `active` experts at random. The weights of elements of deviation 0.3 are of types that
  /// quantise_row writes.
  ExpertMlpCase(const ExpertMlp::Problem& asked, int64_t tokens, uint32_t seed = 7,
                Distribution distribution = Distribution::normal);
  /// The last tokens of it only.
  ExpertMlpCase last(int64_t tokens) const;

  Call<ExpertMlp> place(const Row<ExpertMlp>& row, Place& place) const;
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;

  ExpertMlp::Problem problem;

 private:
  int64_t tokens() const { return static_cast<int64_t>(src_.size()) / problem.width; }
  std::vector<std::byte> stored(DType dtype, int64_t rows, int64_t cols, uint32_t seed) const;

  std::vector<std::byte> gate_, up_, down_;
  std::vector<float> src_, weights_;
  std::vector<int32_t> experts_;
};

}  // namespace orrery::kernels::lab
