// Rows of Attention, fastest first; the arithmetic is in isa/attention*.cpp.
//   unit: up to 64 rows (query head, token) of one sequence and one kv head, so that a group of
//     heads shares its keys
//   many units: threads take units, the costly ones (late tokens) first, with all their keys
//   few units (decode, long keys): threads take chunks of 256 keys of all units in rounds; after each round
//     the caller merges its results in key order (flash decoding)
//   Both ways do the same arithmetic in the same order: no result depends on threads or batch.
//   workspace: a thread's tiles and states, and the states of one round: bounded, whatever the number of keys
#include "kernels/attention.h"

#include <algorithm>
#include <limits>

#include "kernels/cpu/isa/attention.h"
#include "kernels/cpu/split.h"
#include "kernels/cpu/storage.h"

namespace orrery::kernels {
namespace {

constexpr int64_t kItemsPerThread = 4;  // chunks of one round: enough to even out ragged ones
constexpr int64_t kUnitsPerThread = 4;  // below so many units a thread, chunks are dealt out instead

int64_t step_tokens(const Ragged& ragged, int64_t sequence) {
  return ragged.sequence_starts[sequence + 1] - ragged.sequence_starts[sequence];
}

int64_t tiles_of(const Attention::Args& args, int64_t sequence) {
  const int64_t group = args.problem.heads / args.problem.kv_heads;
  return (step_tokens(args.ragged, sequence) * group + kUnitRows - 1) / kUnitRows;
}

int64_t count_units(const Attention::Args& args) {
  int64_t tiles = 0;
  for (int64_t s = 0; s < args.ragged.sequences; ++s) tiles += tiles_of(args, s);
  return tiles * args.problem.kv_heads;
}

KeySource packed_keys(const Attention::Args& args, int64_t first_token, int64_t kv_head) {
  const int64_t offset = kv_head * args.problem.head_dim;
  const DType stored = args.problem.src;
  const auto at = [&](const float* rows, int64_t stride) {
    return reinterpret_cast<const std::byte*>(element_of(rows, stored, first_token * stride + offset));
  };
  const auto element = static_cast<size_t>(dtype_info(stored).block_bytes);
  return {.key = at(args.key, args.key_stride),
          .value = at(args.value, args.value_stride),
          .pages = nullptr,
          .page_stride = 0,
          .page_tokens = 0,
          .key_stride = static_cast<size_t>(args.key_stride) * element,
          .value_stride = static_cast<size_t>(args.value_stride) * element,
          .format = kv_format(stored)};
}

KeySource paged_keys(const Attention::Args& args, int64_t sequence, int64_t kv_head) {
  const PagedKv& kv = args.kv;
  const size_t row = row_bytes(kv.dtype, kv.head_dim).value_or(0);
  const std::byte* key = kv.base + static_cast<size_t>(kv_head * kv.page_tokens) * row;
  return {.key = key,
          .value = key + static_cast<size_t>(kv.kv_heads * kv.page_tokens) * row,
          .pages = args.ragged.page_table + sequence * args.ragged.max_pages,
          .page_stride = kv.page_stride,
          .page_tokens = kv.page_tokens,
          .key_stride = row,
          .value_stride = row,
          .format = kv_format(kv.dtype)};
}

AttentionUnit make_unit(const Attention::Args& args, int64_t sequence, int64_t kv_head, int64_t tile) {
  const Attention::Problem& problem = args.problem;
  const int64_t group = problem.heads / problem.kv_heads;
  const int64_t tokens = step_tokens(args.ragged, sequence);
  const int64_t first_token = args.ragged.sequence_starts[sequence];
  const int64_t length = args.ragged.kv_lengths[sequence];
  const int64_t head = kv_head * group * problem.head_dim;
  return {.query = element_of(args.query, problem.src, first_token * args.query_stride + head),
          .dst = element_of(args.dst, problem.dst, first_token * args.dst_stride + head),
          .query_stride = args.query_stride,
          .dst_stride = args.dst_stride,
          .first_row = tile * kUnitRows,
          .rows = std::min(kUnitRows, tokens * group - tile * kUnitRows),
          .group = group,
          .head_dim = problem.head_dim,
          .step_rows = tokens * group,
          .first_position = length - tokens,
          .length = length,
          .window = problem.window,
          .causal = problem.causal,
          .rounded = problem.dst == DType::bf16,
          .scale = args.scale,
          .softcap = problem.softcap,
          .bias = problem.bias_reach > 0
                      ? args.bias + kv_head * group * (2 * problem.bias_reach + 1) + problem.bias_reach
                      : nullptr,
          .bias_reach = problem.bias_reach,
          .fastmax = {.p = problem.fastmax.p,
                      .normalise = problem.fastmax.normalise,
                      .limit = problem.fastmax.limit,
                      .largest_score = Attention::Fastmax::kLargestScore,
                      .shortest = Attention::Fastmax::kShortest,
                      .longest = Attention::Fastmax::kLongest},
          .keys = problem.keys == Attention::Keys::packed ? packed_keys(args, first_token, kv_head)
                                                          : paged_keys(args, sequence, kv_head)};
}

/// Walks over the units in order: sequence, kv head, then tiles from the last (most keys) to the first.
class UnitCursor {
 public:
  explicit UnitCursor(const Attention::Args& args) : args_(args) {}

  /// Indices must not decrease from call to call.
  AttentionUnit at(int64_t index) {
    while (index >= base_ + tiles_of(args_, sequence_) * args_.problem.kv_heads) {
      base_ += tiles_of(args_, sequence_) * args_.problem.kv_heads;
      ++sequence_;
    }
    const int64_t tiles = tiles_of(args_, sequence_);
    const int64_t local = index - base_;
    return make_unit(args_, sequence_, local / tiles, tiles - 1 - local % tiles);
  }

 private:
  const Attention::Args& args_;
  int64_t sequence_ = 0;
  int64_t base_ = 0;
};

/// The chunks of keys that any row of a unit sees.
struct Chunks {
  int64_t begin, end;  // keys

  explicit Chunks(const AttentionUnit& unit) {
    const int64_t first = unit.first_position + unit.first_row / unit.group;
    const int64_t last = unit.first_position + (unit.first_row + unit.rows - 1) / unit.group;
    end = visible_end(unit, last);
    begin = unit.window > 0 ? std::max<int64_t>(0, first + 1 - unit.window) : 0;
  }
  int64_t first() const { return begin / kChunkKeys; }
  int64_t count() const { return end > begin ? (end - 1) / kChunkKeys + 1 - first() : 0; }
  int64_t chunk_begin(int64_t i) const { return std::max(begin, (first() + i) * kChunkKeys); }
  int64_t chunk_end(int64_t i) const { return std::min(end, (first() + i + 1) * kChunkKeys); }
};

int64_t count_chunks(const Attention::Args& args, int64_t units) {
  UnitCursor cursor(args);
  int64_t chunks = 0;
  for (int64_t i = 0; i < units; ++i) chunks += std::max<int64_t>(1, Chunks(cursor.at(i)).count());
  return chunks;
}

/// Slices of the workspace: `threads` scratches, then states.
class Memory {
 public:
  Memory(std::byte* workspace, int64_t head_dim, int threads)
      : base_(reinterpret_cast<float*>(workspace)), head_dim_(head_dim), threads_(threads) {}

  float* scratch(int thread) const { return base_ + thread * attention_scratch_floats(head_dim_); }
  AttentionState state(int64_t i) const {
    float* at = scratch(threads_) + i * attention_state_floats(head_dim_);
    return {.largest = at, .sum = at + kUnitRows, .total = at + 2 * kUnitRows};
  }
  static size_t bytes(int64_t head_dim, int threads) {
    const int64_t states = std::max<int64_t>(2, kItemsPerThread) * threads + 1;
    return static_cast<size_t>(attention_scratch_floats(head_dim) * threads +
                               attention_state_floats(head_dim) * states) *
           sizeof(float);
  }

 private:
  float* base_;
  int64_t head_dim_;
  int threads_;
};

void clear(const AttentionState& state, int64_t head_dim) {
  std::fill_n(state.largest, kUnitRows, -std::numeric_limits<float>::infinity());
  std::fill_n(state.sum, kUnitRows, 0.0F);
  std::fill_n(state.total, kUnitRows * padded_dim(head_dim), 0.0F);
}

template <const AttentionTable& kTable>
void whole_unit(const AttentionUnit& unit, float* scratch, const AttentionState& total,
                const AttentionState& part) {
  const Chunks chunks(unit);
  if (chunks.count() == 0) clear(total, unit.head_dim);
  for (int64_t i = 0; i < chunks.count(); ++i) {
    kTable.chunk(unit, chunks.chunk_begin(i), chunks.chunk_end(i), scratch, i == 0 ? total : part);
    if (i > 0) kTable.merge(unit.rows, unit.head_dim, total, part);
  }
  kTable.finish(unit, total);
}

template <const AttentionTable& kTable>
void run_units(const Attention::Args& args, const Launch& launch, int64_t units, int threads) {
  const Memory memory(launch.workspace, args.problem.head_dim, threads);
  const auto work = [&](ThreadTeam::Range chunk, int thread) {
    UnitCursor cursor(args);
    for (int64_t i = chunk.begin; i < chunk.end; ++i) {
      whole_unit<kTable>(cursor.at(i), memory.scratch(thread), memory.state(2 * thread),
                         memory.state(2 * thread + 1));
    }
  };
  if (threads == 1) return work({0, units}, 0);
  launch.team->run(units, 1, work);
}

/// An item is one chunk of one unit; items are numbered unit by unit, chunks in key order.
struct Item {
  AttentionUnit unit;
  int64_t chunk, chunks;
};

class ItemCursor {
 public:
  explicit ItemCursor(const Attention::Args& args) : cursor_(args) {}

  Item at(int64_t index) {
    while (true) {
      const AttentionUnit unit = cursor_.at(unit_);
      const int64_t chunks = std::max<int64_t>(1, Chunks(unit).count());
      if (index < base_ + chunks) return {unit, index - base_, chunks};
      base_ += chunks;
      ++unit_;
    }
  }

 private:
  UnitCursor cursor_;
  int64_t unit_ = 0;
  int64_t base_ = 0;
};

template <const AttentionTable& kTable>
void run_chunks(const Attention::Args& args, const Launch& launch, int64_t items) {
  const int threads = launch.team->size();
  const int64_t round = kItemsPerThread * threads;
  const int64_t dim = args.problem.head_dim;
  const Memory memory(launch.workspace, dim, threads);
  const AttentionState total = memory.state(round);
  ItemCursor merge(args);
  for (int64_t first = 0; first < items; first += round) {
    const int64_t count = std::min(round, items - first);
    launch.team->run(count, 1, [&](ThreadTeam::Range chunk, int thread) {
      ItemCursor compute(args);
      for (int64_t i = chunk.begin; i < chunk.end; ++i) {
        const Item item = compute.at(first + i);
        const Chunks chunks(item.unit);
        if (chunks.count() == 0) {
          clear(memory.state(i), dim);
        } else {
          kTable.chunk(item.unit, chunks.chunk_begin(item.chunk), chunks.chunk_end(item.chunk),
                       memory.scratch(thread), memory.state(i));
        }
      }
    });
    for (int64_t i = 0; i < count; ++i) {
      const Item item = merge.at(first + i);
      if (item.chunk == 0) clear(total, dim);
      kTable.merge(item.unit.rows, dim, total, memory.state(i));
      if (item.chunk + 1 == item.chunks) kTable.finish(item.unit, total);
    }
  }
}

/// Elements of keys and values that a step reads at least: below kWorthSplitting one thread is faster.
int64_t cost(const Attention::Args& args) {
  int64_t keys = 0;
  for (int64_t s = 0; s < args.ragged.sequences; ++s)
    keys += args.ragged.kv_lengths[s] * std::max<int64_t>(1, tiles_of(args, s));
  return 2 * keys * args.problem.kv_heads * args.problem.head_dim;
}

template <const AttentionTable& kTable>
void run(const Attention::Args& args, const Launch& launch) {
  const int64_t units = count_units(args);
  if (units == 0) return;
  const bool alone = launch.team == nullptr || launch.team->size() == 1 || cost(args) < kWorthSplitting;
  if (alone) return run_units<kTable>(args, launch, units, 1);
  const int threads = launch.team->size();
  if (units < kUnitsPerThread * threads) {
    const int64_t chunks = count_chunks(args, units);
    if (chunks > units) return run_chunks<kTable>(args, launch, chunks);
  }
  run_units<kTable>(args, launch, units, threads);
}

using Kind = Attention::Kind;

template <CpuFeatures needed>
std::string supports_bf16(const Attention::Problem& problem, const Machine& machine) {
  if (std::string reason = ref::legal_of<Kind::softmax>(problem); !reason.empty()) return reason;
  if (std::string reason = missing(needed, machine); !reason.empty()) return reason;
  if (problem.keys != Attention::Keys::packed) return "the keys lie in pages, and are read as they are kept";
  return too_coarse(problem.precision, Rounded::bf16);
}

Rounding rounds_to_bf16(const Attention::Problem&, int) { return {Rounded::bf16, Rounded::bf16}; }

DType bf16(const Attention::Problem&) { return DType::bf16; }

size_t workspace(const Attention::Problem& problem, const Machine&, int threads) {
  return Memory::bytes(problem.head_dim, threads);
}

template <const AttentionTable& kTable, CpuFeatures needed>
Row<Attention> bf16_row(std::string_view name) {
  return {.name = name,
          .supports = supports_bf16<needed>,
          .run = run<kTable>,
          .workspace = workspace,
          .reads = bf16,
          .writes = bf16,
          .arithmetic = Arithmetic::bf16,
          .rounding = rounds_to_bf16};
}

}  // namespace

std::span<const Row<Attention>> attention_rows() {
  static const Row<Attention> rows[] = {
      bf16_row<amx_bf16::kAttention, kAmxBf16>("cpu.amx_bf16.flash"),
      bf16_row<avx512_bf16::kAttention, kAvx512Bf16>("cpu.avx512_bf16.flash"),
      {.name = "cpu.avx512.flash",
       .supports = legal_on<Attention, ref::legal_of<Kind::softmax>, kAvx512>,
       .run = run<avx512::kAttention>,
       .workspace = workspace,
       .source = "cpu/isa/attention.cpp"},
      {.name = "cpu.avx2.flash",
       .supports = legal_on<Attention, ref::legal_of<Kind::softmax>, kAvx2>,
       .run = run<avx2::kAttention>,
       .workspace = workspace,
       .source = "cpu/isa/attention.cpp"},
      {.name = "cpu.avx512.fastmax",
       .supports = legal_on<Attention, ref::legal_of<Kind::fastmax>, kAvx512>,
       .run = run<avx512::kFastmax>,
       .workspace = workspace,
       .source = "cpu/isa/attention_fastmax.cpp"},
      {.name = "cpu.avx2.fastmax",
       .supports = legal_on<Attention, ref::legal_of<Kind::fastmax>, kAvx2>,
       .run = run<avx2::kFastmax>,
       .workspace = workspace,
       .source = "cpu/isa/attention_fastmax.cpp"},
      {.name = "cpu.reference", .supports = on_any_machine<Attention, ref::legal>, .run = ref::attention},
  };
  return rows;
}

}  // namespace orrery::kernels
