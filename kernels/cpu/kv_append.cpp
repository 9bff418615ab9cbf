// Rows of KvAppend, fastest first. Tokens are split over the team; a head's row is rounded into its slot.
#include <algorithm>

#include "kernels/attention.h"
#include "kernels/cpu/isa/pointwise.h"
#include "kernels/cpu/split.h"

namespace orrery::kernels {
namespace {

/// Rows [begin, end) of the step, as far as they belong to `sequence`.
template <const PointwiseTable& kTable>
void append(const KvAppend::Args& args, int64_t sequence, int64_t begin, int64_t end) {
  const PagedKv& kv = args.kv;
  const Ragged& ragged = args.ragged;
  const int64_t last = ragged.sequence_starts[sequence + 1];
  const size_t row = row_bytes(kv.dtype, kv.head_dim).value_or(0);
  const size_t head = row * static_cast<size_t>(kv.page_tokens);
  const KvFormat format = kv_format(kv.dtype);
  for (int64_t t = begin; t < end; ++t) {
    const int64_t position = ragged.kv_lengths[sequence] - (last - t);
    const int64_t page = ragged.page_table[sequence * ragged.max_pages + position / kv.page_tokens];
    std::byte* slot = kv.base + static_cast<size_t>(page) * kv.page_stride +
                      static_cast<size_t>(position % kv.page_tokens) * row;
    for (int64_t h = 0; h < kv.kv_heads; ++h) {
      const int64_t offset = h * kv.head_dim;
      kTable.narrow(format, args.key + t * args.key_stride + offset, slot + static_cast<size_t>(h) * head,
                    kv.head_dim);
      kTable.narrow(format, args.value + t * args.value_stride + offset,
                    slot + static_cast<size_t>(kv.kv_heads + h) * head, kv.head_dim);
    }
  }
}

template <const PointwiseTable& kTable>
void run(const KvAppend::Args& args, const Launch& launch) {
  const int32_t* starts = args.ragged.sequence_starts;
  const int64_t tokens = starts[args.ragged.sequences];
  split(launch, tokens, 2 * args.kv.kv_heads * args.kv.head_dim, [&](int64_t begin, int64_t end, int) {
    for (int64_t s = 0; s < args.ragged.sequences; ++s) {
      append<kTable>(args, s, std::max<int64_t>(begin, starts[s]), std::min<int64_t>(end, starts[s + 1]));
    }
  });
}

}  // namespace

std::span<const Row<KvAppend>> kv_append_rows() {
  static const Row<KvAppend> rows[] = {
      {.name = "cpu.avx512",
       .supports = legal_on<KvAppend, ref::legal, kAvx512>,
       .run = run<avx512::kPointwise>},
      {.name = "cpu.avx2", .supports = legal_on<KvAppend, ref::legal, kAvx2>, .run = run<avx2::kPointwise>},
      {.name = "cpu.reference", .supports = on_any_machine<KvAppend, ref::legal>, .run = ref::kv_append},
  };
  return rows;
}

}  // namespace orrery::kernels
