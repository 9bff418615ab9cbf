// Embedding, reference: dst[t, :] = scale * dequantise(table row ids[t]). One thread.
#include "kernels/embedding.h"

#include "kernels/linear.h"

namespace orrery::kernels::ref {

std::string legal(const Embedding::Problem& problem) {
  if (problem.cols <= 0) return "the table has no columns";
  if (is_integer(problem.table) || problem.table == DType::boolean)
    return "integer tables hold no embeddings";
  if (!row_bytes(problem.table, problem.cols)) {
    return std::to_string(problem.cols) + " columns are no multiple of a " +
           std::string(name_of(problem.table)) + " block";
  }
  return {};
}

void embedding(const Embedding::Args& args, const Launch&) {
  const size_t stride = row_bytes(args.dtype, args.cols).value_or(0);
  const auto* table = static_cast<const std::byte*>(args.table);
  for (int64_t t = 0; t < args.tokens; ++t) {
    float* dst = args.dst + t * args.cols;
    const int64_t id = args.ids != nullptr ? args.ids[t] : t;
    if (id < 0 || id >= args.vocabulary) {
      for (int64_t c = 0; c < args.cols; ++c) dst[c] = 0.0F;
      continue;
    }
    dequantise_row(args.dtype, table + static_cast<size_t>(id) * stride, args.cols, dst);
    for (int64_t c = 0; c < args.cols; ++c) dst[c] *= args.scale;
  }
}

}  // namespace orrery::kernels::ref
