// A step of attention as the tests ask for it: on keys in pages or packed, alone or beside others.
#pragma once

#include "kernels/lab/attention_case.h"
#include "tests/kernels/row_testing.h"

namespace orrery::kernels::testing {

using lab::AttentionCase;
using lab::Sequence;
using Shape = lab::AttentionShape;
using Part = lab::SequencePart;

/// A step whose pages lie in random order.
class Step {
 public:
  Step(const Shape& shape, const std::vector<Part>& parts, uint32_t page_seed = 1)
      : paged_(shape, Attention::Keys::paged, parts, page_seed),
        packed_(paged_.with_keys(Attention::Keys::packed)) {}

  const AttentionCase& on(Attention::Keys keys = Attention::Keys::paged) const {
    return keys == Attention::Keys::paged ? paged_ : packed_;
  }
  const Attention::Problem& problem(Attention::Keys keys = Attention::Keys::paged) const {
    return on(keys).problem;
  }
  std::vector<float> run(const Row<Attention>& row, Attention::Keys keys = Attention::Keys::paged,
                         int threads = 2) const {
    return testing::run(on(keys), row, threads)[0].values;
  }

 private:
  AttentionCase paged_, packed_;
};

}  // namespace orrery::kernels::testing
