#include "kernels/lab/embedding_case.h"

namespace orrery::kernels::lab {

EmbeddingCase::EmbeddingCase(DType dtype, int64_t cols, int64_t vocabulary, std::vector<int32_t> ids,
                             float scale, uint32_t seed)
    : problem{dtype, cols},
      vocabulary_(vocabulary),
      scale_(scale),
      ids_(std::move(ids)),
      table_(random_weights(dtype, vocabulary, cols, seed)) {}

Call<Embedding> EmbeddingCase::place(const Row<Embedding>&, Place& place) const {
  const size_t count = ids_.size() * static_cast<size_t>(problem.cols);
  float* dst = place.put(std::vector<float>(count, -1.0F));
  Call<Embedding> call;
  call.args = {.ids = place.put(ids_),
               .table = place.put(table_),
               .dst = dst,
               .tokens = static_cast<int64_t>(ids_.size()),
               .vocabulary = vocabulary_,
               .cols = problem.cols,
               .dtype = problem.table,
               .scale = scale_};
  call.read = [dst, count, cols = problem.cols](Place& from) {
    return std::vector<Output>{{.name = "dst", .values = from.get(dst, count), .cols = cols}};
  };
  return call;
}

std::vector<Expected> EmbeddingCase::expected(const Roundings&) const {
  return {{.output = run_reference<EmbeddingCase>(*this, embedding_rows())[0]}};
}

Work EmbeddingCase::work() const {
  const auto tokens = static_cast<double>(ids_.size());
  return {.bytes = tokens * (4.0 + static_cast<double>(row_bytes(problem.table, problem.cols).value_or(0)) +
                             4.0 * static_cast<double>(problem.cols)),
          .flops = tokens * static_cast<double>(problem.cols)};
}

}  // namespace orrery::kernels::lab
