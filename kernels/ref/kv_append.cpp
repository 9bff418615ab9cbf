// KvAppend, reference: each token's key and value go to the page and slot of its position. One thread.
#include "kernels/attention.h"
#include "kernels/quantise.h"

namespace orrery::kernels::ref {
namespace {

/// Writes the heads of one token; `slot` is where head 0 begins, heads are page_tokens rows apart.
void write_heads(const PagedKv& kv, const float* src, std::byte* slot) {
  const size_t row = row_bytes(kv.dtype, kv.head_dim).value_or(0);
  for (int64_t h = 0; h < kv.kv_heads; ++h) {
    quantise_row(kv.dtype, src + h * kv.head_dim, kv.head_dim,
                 slot + static_cast<size_t>(h * kv.page_tokens) * row);
  }
}

}  // namespace

std::string kept_refusal(DType kv, int64_t head_dim) {
  if (kv == DType::q8_0) {
    if (row_bytes(kv, head_dim)) return {};
    return "heads of " + std::to_string(head_dim) + " elements; Q8_0 keeps blocks of 32";
  }
  if (kv == DType::f32 || kv == DType::f16 || kv == DType::bf16) return {};
  return "keys and values are kept as f32, f16, bf16 or Q8_0, not " + std::string(name_of(kv));
}

std::string legal(const KvAppend::Problem& problem) {
  if (problem.head_dim <= 0) return "the heads have no dimensions";
  return kept_refusal(problem.kv, problem.head_dim);
}

void kv_append(const KvAppend::Args& args, const Launch&) {
  const PagedKv& kv = args.kv;
  const size_t row = row_bytes(kv.dtype, kv.head_dim).value_or(0);
  const size_t values = static_cast<size_t>(kv.kv_heads * kv.page_tokens) * row;
  for (int64_t s = 0; s < args.ragged.sequences; ++s) {
    const int64_t begin = args.ragged.sequence_starts[s];
    const int64_t end = args.ragged.sequence_starts[s + 1];
    for (int64_t t = begin; t < end; ++t) {
      const int64_t position = args.ragged.kv_lengths[s] - (end - t);
      const int64_t page = args.ragged.page_table[s * args.ragged.max_pages + position / kv.page_tokens];
      std::byte* slot = kv.base + static_cast<size_t>(page) * kv.page_stride +
                        static_cast<size_t>(position % kv.page_tokens) * row;
      write_heads(kv, args.key + t * args.key_stride, slot);
      write_heads(kv, args.value + t * args.value_stride, slot + values);
    }
  }
}

}  // namespace orrery::kernels::ref
