// Rows of FlashAttentionBackward, fastest first; the arithmetic is in isa/flash_attention_backward*.cpp.
// Threads take kv heads, tile of 64 keys by tile, each with all units that see it (flash_units.h), in their
// order; where there are too few heads for the threads, the tiles of keys alone, and then units, each with
// all tiles of keys that it sees. The arithmetic is the same, and what an item computes does not depend on
// who takes it.
//   workspace: grad_out . out of each query; then a thread's tiles and sums of the queries of a kv head
#include <tuple>

#include "kernels/cpu/element_runs.h"
#include "kernels/cpu/flash_units.h"

namespace orrery::kernels {
namespace {

/// Sums of the queries' gradients of a kv head, where one thread works out all of it; 0: too many to keep.
int64_t query_sum_floats(const FlashAttention::Problem& problem) {
  constexpr int64_t kMost = 1 << 22;
  const int64_t rows = (problem.heads / problem.kv_heads * problem.queries + kUnitRows - 1) / kUnitRows *
                       kUnitRows * padded_dim(problem.head_dim);
  return rows <= kMost ? rows : 0;
}

int64_t backward_floats(const FlashAttention::Problem& problem) {
  return flash_backward_floats(problem.head_dim) + query_sum_floats(problem);
}

/// A number for each query of each head, in whole lines.
int64_t dot_floats(int64_t batch, int64_t heads, int64_t queries) {
  return (batch * heads * queries + 15) / 16 * 16;
}

size_t backward_workspace(const FlashAttentionBackward::Problem& problem, const Machine&, int threads) {
  const FlashAttention::Problem& forward = problem.forward;
  const int64_t dots = dot_floats(forward.batch, forward.heads, forward.queries);
  return static_cast<size_t>(dots + backward_floats(forward) * std::max(threads, 1)) * sizeof(float);
}

/// dots[row] = grad_out . out
void multiply_rows(const FlashAttentionBackward::Args& args, const Launch& launch, float* dots) {
  const FlashAttention::Args& forward = args.forward;
  const auto [dtype, heads, dim] =
      std::tuple(forward.problem.dtype, forward.problem.heads, forward.problem.head_dim);
  split(launch, forward.batch * heads * forward.queries, dim, [&](int64_t begin, int64_t end, int) {
    float grad[FlashAttention::kLargestHead], out[FlashAttention::kLargestHead];
    for (int64_t row = begin; row < end; ++row) {
      const auto load = [&](const void* base, const HeadStrides& strides, float* to) {
        const int64_t at = row / forward.queries / heads * strides.batch +
                           row / forward.queries % heads * strides.head +
                           row % forward.queries * strides.token;
        load_run(dtype, element_at(base, dtype, at), 1, dim, to);
      };
      load(args.grad_out, args.grad_out_strides, grad);
      load(forward.out, forward.out_strides, out);
      double sum = 0;
      for (int64_t d = 0; d < dim; ++d) sum += static_cast<double>(grad[d]) * out[d];
      dots[row] = static_cast<float>(sum);
    }
  });
}

/// A call of the gradients, and the memory of one of its threads.
struct Backward {
  const FlashAttentionBackward::Args& args;
  const FlashAttention::Args& forward;
  FlashUnits units;
  const float* dots;
  int64_t dim, padded;

  Backward(const FlashAttentionBackward::Args& call, const float* products)
      : args(call),
        forward(call.forward),
        units(forward),
        dots(products),
        dim(forward.problem.head_dim),
        padded(padded_dim(dim)) {}

  /// The unit with what its gradients are made of; grad_bias where this is who writes it.
  FlashUnit make(const FlashUnits::Place& place, bool with_bias, FlashRow* rows) const {
    const DType dtype = forward.problem.dtype;
    const FlashUnit unit = units.make(place, rows);
    for (int64_t r = 0; r < place.rows; ++r) {
      FlashRow& row = rows[r];
      row.out = element_at(args.grad_query, dtype, row.number * dim);
      row.grad_out = element_at(args.grad_out, dtype, units.element(args.grad_out_strides, place, r));
      row.log_sum_exp = forward.log_sum_exp[row.number];
      row.dot = dots[row.number];
      if (with_bias && args.grad_bias != nullptr) row.grad_bias = args.grad_bias + row.number * forward.keys;
    }
    return unit;
  }
  /// The tiles of keys that a unit sees any of.
  KeyRange tiles_seen(const FlashUnits::Place& place) const {
    const KeyRange seen = units.seen(place);
    return {seen.begin / kTileKeys * kTileKeys,
            std::min(forward.keys, (seen.end + kTileKeys - 1) / kTileKeys * kTileKeys)};
  }
  void clear_unseen(const FlashUnit& unit, const KeyRange& seen) const {
    for (int64_t r = 0; args.grad_bias != nullptr && r < unit.rows; ++r) {
      std::fill_n(unit.row[r].grad_bias, seen.begin, 0.0F);
      std::fill(unit.row[r].grad_bias + seen.end, unit.row[r].grad_bias + forward.keys, 0.0F);
    }
  }

  /// The gradients of a tile of keys, and, where there are sums, what it adds to those of queries.
  template <const FlashBackwardTable& kTable>
  void keys(int64_t head, int64_t tile, float* scratch, float* query_sums) const {
    FlashRow rows[kUnitRows];
    const int64_t first = tile * kTileKeys, count = std::min(kTileKeys, forward.keys - first);
    const FlashUnit any = units.make(units.place(head, 0), rows);
    kTable.first(any, first, count, scratch);
    for (int64_t i = 0; i < units.tiles(); ++i) {
      const FlashUnits::Place place = units.place(head, i);
      const KeyRange seen = tiles_seen(place);
      if (seen.begin >= first + count || seen.end <= first) continue;
      kTable.add(make(place, query_sums != nullptr, rows), first, count, scratch,
                 query_sums != nullptr ? query_sums + i * kUnitRows * padded : nullptr);
    }
    const int64_t to = (head * forward.keys + first) * dim;
    kTable.last(any, count, scratch, element_at(args.grad_key, forward.problem.dtype, to),
                element_at(args.grad_value, forward.problem.dtype, to));
  }
  template <const FlashBackwardTable& kTable>
  void queries(const FlashUnits::Place& place, float* scratch) const {
    FlashRow rows[kUnitRows];
    const FlashUnit unit = make(place, true, rows);
    const KeyRange seen = tiles_seen(place);
    clear_unseen(unit, seen);
    kTable.queries(unit, seen.begin, seen.end, scratch);
  }
  /// All of a kv head.
  template <const FlashBackwardTable& kTable>
  void head(int64_t head, float* scratch, float* query_sums) const {
    FlashRow rows[kUnitRows];
    std::fill_n(query_sums, units.tiles() * kUnitRows * padded, 0.0F);
    for (int64_t i = 0; args.grad_bias != nullptr && i < units.tiles(); ++i)
      clear_unseen(make(units.place(head, i), true, rows), tiles_seen(units.place(head, i)));
    for (int64_t tile = 0; tile < tiles_of_keys(forward.keys); ++tile)
      keys<kTable>(head, tile, scratch, query_sums);
    for (int64_t i = 0; args.grad_query != nullptr && i < units.tiles(); ++i)
      kTable.finish_queries(make(units.place(head, i), false, rows), query_sums + i * kUnitRows * padded);
  }
};

/// Whether heads are shared evenly enough that five products for each pair of tiles take less than seven.
bool by_heads(const FlashAttention::Problem& problem, int64_t heads, const Launch& launch) {
  const int64_t threads = launch.team != nullptr ? launch.team->size() : 1;
  const int64_t rounds = (heads + threads - 1) / threads;
  return query_sum_floats(problem) > 0 && 5 * rounds * threads <= 7 * heads;
}

template <const FlashBackwardTable& kTable>
void run_backward(const FlashAttentionBackward::Args& args, const Launch& launch) {
  const FlashAttention::Args& forward = args.forward;
  auto* dots = reinterpret_cast<float*>(launch.workspace);
  float* scratches = dots + dot_floats(forward.batch, forward.problem.heads, forward.queries);
  const Backward call(args, dots);
  const FlashUnits& units = call.units;
  const auto scratch_of = [&](int thread) { return scratches + thread * backward_floats(forward.problem); };
  const bool of_keys = args.grad_key != nullptr || args.grad_value != nullptr,
             of_queries = forward.queries > 0 && (args.grad_query != nullptr || args.grad_bias != nullptr);
  const int64_t tiles = tiles_of_keys(forward.keys);
  const int64_t each_tile = kTileKeys * (units.tiles() + 1) * kUnitRows * call.dim;
  if (forward.queries > 0) multiply_rows(args, launch, dots);
  if (of_keys && of_queries && by_heads(forward.problem, units.heads(), launch))
    return split(launch, units.heads(), (tiles + 1) * each_tile, [&](int64_t begin, int64_t end, int thread) {
      float* sums = scratch_of(thread) + flash_backward_floats(call.dim);
      for (int64_t head = begin; head < end; ++head) call.head<kTable>(head, scratch_of(thread), sums);
    });
  if (of_keys)
    split(launch, units.heads() * tiles, each_tile, [&](int64_t begin, int64_t end, int thread) {
      for (int64_t item = begin; item < end; ++item)
        call.keys<kTable>(item / tiles, item % tiles, scratch_of(thread), nullptr);
    });
  if (of_queries)
    split(launch, units.count(), (tiles + 1) * kTileKeys * kUnitRows * call.dim,
          [&](int64_t begin, int64_t end, int thread) {
            for (int64_t item = begin; item < end; ++item)
              call.queries<kTable>(
                  units.place(item / units.tiles(), units.tiles() - 1 - item % units.tiles()),
                  scratch_of(thread));
          });
}

std::string legal_backward(const FlashAttentionBackward::Problem& problem) { return ref::legal(problem); }

}  // namespace

std::span<const Row<FlashAttentionBackward>> flash_attention_backward_rows() {
  using Op = FlashAttentionBackward;
  static const Row<Op> rows[] = {
      bf16_row<Op, kAmxBf16>("cpu.amx_bf16.flash", run_backward<amx_bf16::kFlashBackward>,
                             backward_workspace),
      bf16_row<Op, kAvx512Bf16>("cpu.avx512_bf16.flash", run_backward<avx512_bf16::kFlashBackward>,
                                backward_workspace),
      {.name = "cpu.avx512.flash",
       .supports = legal_on<Op, legal_backward, kAvx512>,
       .run = run_backward<avx512::kFlashBackward>,
       .workspace = backward_workspace,
       .source = "cpu/isa/flash_attention_backward.cpp"},
      {.name = "cpu.avx2.flash",
       .supports = legal_on<Op, legal_backward, kAvx2>,
       .run = run_backward<avx2::kFlashBackward>,
       .workspace = backward_workspace,
       .source = "cpu/isa/flash_attention_backward.cpp"},
      {.name = "cpu.reference",
       .supports = on_any_machine<Op, legal_backward>,
       .run = ref::flash_attention_backward,
       .source = "ref/flash_attention.cpp"},
  };
  return rows;
}

}  // namespace orrery::kernels
