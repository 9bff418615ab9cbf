// Embedding of ids in any order, some of them outside of the table.
#pragma once

#include "kernels/embedding.h"
#include "kernels/lab/inputs.h"
#include "kernels/lab/op_case.h"

namespace orrery::kernels::lab {

class EmbeddingCase {
 public:
  using Op = Embedding;

  EmbeddingCase(DType dtype, int64_t cols, int64_t vocabulary, std::vector<int32_t> ids, float scale = 1.0F,
                uint32_t seed = 3);

  Call<Embedding> place(const Row<Embedding>& row, Place& place) const;
  std::vector<Expected> expected(const Roundings& roundings) const;
  Work work() const;
  const std::vector<std::byte>& table() const { return table_; }

  Embedding::Problem problem;

 private:
  int64_t vocabulary_;
  float scale_;
  std::vector<int32_t> ids_;
  std::vector<std::byte> table_;
};

}  // namespace orrery::kernels::lab
