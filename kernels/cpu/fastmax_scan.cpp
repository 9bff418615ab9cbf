// Rows of FastmaxScan, fastest first. First each kv head of each sequence makes its queries and keys ready
// and takes its counts through the tokens; then blocks of columns of each head do so with the sums, which are
// most of the state: small enough that few heads keep all threads busy.
#include "kernels/fastmax_scan.h"

#include <algorithm>

#include "kernels/cpu/isa/fastmax_scan.h"
#include "kernels/cpu/split.h"

namespace orrery::kernels {
namespace {

/// ScanSizes of a problem.
struct ScanSizes {
  explicit ScanSizes(const FastmaxScan::Problem& problem)
      : heads(problem.heads),
        kv_heads(problem.kv_heads),
        dim(problem.head_dim),
        group(heads / kv_heads),
        padded(FastmaxScan::padded(dim)),
        features(FastmaxScan::features(problem.fastmax.p, dim)) {}
  int64_t heads, kv_heads, dim, group, padded, features;

  /// Of what the first part leaves for the second, a token.
  int64_t floats_per_token() const { return (heads + kv_heads) * padded + heads; }
};

constexpr int64_t kMostColumns = 32;  // of a table's columns_at_once

int64_t scratch_floats(const ScanSizes& sizes) {
  return FastmaxColumnRun::kTokens * sizes.group * kMostColumns;
}

/// Where the parts lie in a workspace.
struct ScanParts {
  ScanParts(const FastmaxScan::Args& args, const ScanSizes& sizes, std::byte* workspace, int64_t tokens)
      : queries(reinterpret_cast<float*>(workspace)),
        keys(queries + tokens * sizes.heads * sizes.padded),
        inverse(keys + tokens * sizes.kv_heads * sizes.padded),
        scratch(reinterpret_cast<float*>(workspace) + args.problem.tokens * sizes.floats_per_token()) {}
  float *queries, *keys, *inverse, *scratch;
};

size_t workspace(const FastmaxScan::Problem& problem, const Machine&, int threads) {
  const ScanSizes sizes(problem);
  const int64_t floats = problem.tokens * sizes.floats_per_token() + threads * scratch_floats(sizes);
  return static_cast<size_t>(floats) * sizeof(float);
}

FastmaxCountRun count_run(const FastmaxScan::Args& args, const ScanSizes& sizes, const ScanParts& parts,
                          const RecordRun& run, int64_t kv_head) {
  const Attention::Fastmax& fastmax = args.problem.fastmax;
  const int64_t head = kv_head * sizes.group, counts = FastmaxScan::counts_at(args.problem, kv_head);
  return {.query = args.query + (run.row * sizes.heads + head) * sizes.dim,
          .key = args.key + (run.row * sizes.kv_heads + kv_head) * sizes.dim,
          .queries = parts.queries + (run.row * sizes.heads + head) * sizes.padded,
          .keys = parts.keys + (run.row * sizes.kv_heads + kv_head) * sizes.padded,
          .inverse = parts.inverse + run.row * sizes.heads + head,
          .before = run.before != nullptr ? run.before + counts : nullptr,
          .after = run.after + counts,
          .query_stride = sizes.heads * sizes.dim,
          .key_stride = sizes.kv_heads * sizes.dim,
          .queries_stride = sizes.heads * sizes.padded,
          .keys_stride = sizes.kv_heads * sizes.padded,
          .inverse_stride = sizes.heads,
          .head_dim = sizes.dim,
          .padded = sizes.padded,
          .features = sizes.features,
          .group = sizes.group,
          .tokens = run.tokens,
          .p = fastmax.p,
          .normalise = fastmax.normalise,
          .query_factor = fastmax.normalise ? fastmax.limit * fastmax.limit : args.scale,
          .shortest = Attention::Fastmax::kShortest,
          .longest = Attention::Fastmax::kLongest};
}

FastmaxColumnRun column_run(const FastmaxScan::Args& args, const ScanSizes& sizes, const ScanParts& parts,
                            const RecordRun& run, int64_t kv_head, int64_t column, int64_t columns) {
  const int64_t head = kv_head * sizes.group, sums = FastmaxScan::sums_at(args.problem, kv_head) + column;
  return {.queries = parts.queries + (run.row * sizes.heads + head) * sizes.padded,
          .keys = parts.keys + (run.row * sizes.kv_heads + kv_head) * sizes.padded,
          .inverse = parts.inverse + run.row * sizes.heads + head,
          .value = args.value + (run.row * sizes.kv_heads + kv_head) * sizes.dim + column,
          .dst = args.dst + (run.row * sizes.heads + head) * sizes.dim + column,
          .before = run.before != nullptr ? run.before + sums : nullptr,
          .after = run.after + sums,
          .scratch = nullptr,
          .queries_stride = sizes.heads * sizes.padded,
          .keys_stride = sizes.kv_heads * sizes.padded,
          .inverse_stride = sizes.heads,
          .value_stride = sizes.kv_heads * sizes.dim,
          .dst_stride = sizes.heads * sizes.dim,
          .head_dim = sizes.dim,
          .padded = sizes.padded,
          .features = sizes.features,
          .group = sizes.group,
          .tokens = run.tokens,
          .columns = columns,
          .p = args.problem.fastmax.p};
}

/// Sequences whose results nobody reads.
void clear_unread(const FastmaxScan::Args& args, const ScanSizes& sizes) {
  for (int64_t s = 0; s < args.ragged.sequences; ++s) {
    if (args.uses[s].after >= 0) continue;
    const int64_t begin = args.ragged.sequence_starts[s], end = args.ragged.sequence_starts[s + 1];
    std::fill(args.dst + begin * sizes.heads * sizes.dim, args.dst + end * sizes.heads * sizes.dim, 0.0F);
  }
}

template <const FastmaxScanTable& kTable>
void scan_fastmax(const FastmaxScan::Args& args, const Launch& launch) {
  const Ragged& ragged = args.ragged;
  if (ragged.sequences == 0) return;
  const ScanSizes sizes(args.problem);
  const int64_t tokens = ragged.sequence_starts[ragged.sequences];
  const ScanParts parts(args, sizes, launch.workspace, tokens);
  clear_unread(args, sizes);
  const int64_t each = std::max<int64_t>(tokens / ragged.sequences, 1);
  const auto runs = [&](int64_t sequence, const auto& body) {
    each_record_run(ragged, args.records, args.uses, sequence, body);
  };
  split(launch, ragged.sequences * sizes.kv_heads, each * (1 + sizes.group) * sizes.features,
        [&](int64_t begin, int64_t end, int) {
          for (int64_t item = begin; item < end; ++item)
            runs(item / sizes.kv_heads, [&](const RecordRun& run) {
              kTable.count(count_run(args, sizes, parts, run, item % sizes.kv_heads));
            });
        });
  const int64_t columns = kTable.columns_at_once, blocks = (sizes.dim + columns - 1) / columns;
  split(launch, ragged.sequences * sizes.kv_heads * blocks,
        each * (1 + sizes.group) * sizes.features * columns, [&](int64_t begin, int64_t end, int thread) {
          for (int64_t item = begin; item < end; ++item) {
            const int64_t column = item % blocks * columns, kv_head = item / blocks % sizes.kv_heads;
            runs(item / blocks / sizes.kv_heads, [&](const RecordRun& run) {
              FastmaxColumnRun own =
                  column_run(args, sizes, parts, run, kv_head, column, std::min(columns, sizes.dim - column));
              own.scratch = parts.scratch + thread * scratch_floats(sizes);
              kTable.columns(own);
            });
          }
        });
}

}  // namespace

std::span<const Row<FastmaxScan>> fastmax_scan_rows() {
  static const Row<FastmaxScan> rows[] = {
      {.name = "cpu.avx512",
       .supports = legal_on<FastmaxScan, ref::legal, kAvx512>,
       .run = scan_fastmax<avx512::kFastmaxScan>,
       .workspace = workspace,
       .source = "cpu/isa/fastmax_scan.cpp"},
      {.name = "cpu.avx2",
       .supports = legal_on<FastmaxScan, ref::legal, kAvx2>,
       .run = scan_fastmax<avx2::kFastmaxScan>,
       .workspace = workspace,
       .source = "cpu/isa/fastmax_scan.cpp"},
      {.name = "cpu.reference",
       .supports = on_any_machine<FastmaxScan, ref::legal>,
       .run = ref::fastmax_scan,
       .source = "ref/fastmax_scan.cpp"},
  };
  return rows;
}

}  // namespace orrery::kernels
