// How the rows of FlashAttention and of its gradients take a call apart, and which problems those in bf16
// take.
//   unit: up to 64 rows (query head, query) of one batch and kv head, heads outside, so that few queries of a
//     group of heads share their keys
#pragma once

#include <algorithm>
#include <string>
#include <type_traits>

#include "kernels/cpu/isa/flash_attention.h"
#include "kernels/cpu/split.h"
#include "kernels/flash_attention.h"

namespace orrery::kernels {

inline int64_t tiles_of_keys(int64_t keys) { return (keys + kTileKeys - 1) / kTileKeys; }

/// Where an element lies; null stays null.
inline const std::byte* element_at(const void* base, DType dtype, int64_t element) {
  return base != nullptr ? static_cast<const std::byte*>(base) + element * dtype_info(dtype).block_bytes
                         : nullptr;
}
inline std::byte* element_at(void* base, DType dtype, int64_t element) {
  return const_cast<std::byte*>(element_at(static_cast<const void*>(base), dtype, element));
}

struct KeyRange {
  int64_t begin = 0, end = 0;
  bool empty() const { return begin >= end; }
};

/// The units of a call, numbered batch by batch, kv head by kv head.
class FlashUnits {
 public:
  explicit FlashUnits(const FlashAttention::Args& args)
      : args_(args),
        group_(args.problem.heads / args.problem.kv_heads),
        tiles_((group_ * args.queries + kUnitRows - 1) / kUnitRows) {}

  int64_t tiles() const { return tiles_; }  // units of a kv head
  int64_t heads() const { return args_.batch * args_.problem.kv_heads; }
  int64_t count() const { return heads() * tiles_; }

  struct Place {
    int64_t batch, kv_head, first, rows;
  };
  Place place(int64_t kv_head, int64_t tile) const {
    const int64_t first = tile * kUnitRows;
    return {kv_head / args_.problem.kv_heads, kv_head % args_.problem.kv_heads, first,
            std::min(kUnitRows, group_ * args_.queries - first)};
  }
  /// Keys that a row of the unit may see.
  KeyRange seen(const Place& unit, int64_t row) const {
    const FlashAttention::Problem& problem = args_.problem;
    const int64_t queries = length(args_.query_lengths, unit.batch, args_.queries);
    const int64_t keys = length(args_.key_lengths, unit.batch, args_.keys);
    const int64_t query = (unit.first + row) % args_.queries, place = query + keys - queries;
    KeyRange range{0, query < queries ? keys : 0};
    if (problem.causal) range.end = std::min(range.end, place + 1);
    if (problem.window_right >= 0 && problem.window_right < args_.keys + args_.queries)
      range.end = std::min(range.end, place + problem.window_right + 1);
    if (problem.window_left >= 0 && problem.window_left < args_.keys + args_.queries)
      range.begin = std::max<int64_t>(0, place - problem.window_left);
    return range.empty() ? KeyRange{} : range;
  }
  /// And any row of it.
  KeyRange seen(const Place& unit) const {
    KeyRange all{args_.keys, 0};
    for (int64_t row = 0; row < unit.rows; ++row) {
      const KeyRange one = seen(unit, row);
      if (one.empty()) continue;
      all.begin = std::min(all.begin, one.begin);
      all.end = std::max(all.end, one.end);
    }
    return all.empty() ? KeyRange{} : all;
  }
  int64_t head(const Place& unit, int64_t row) const {
    return unit.kv_head * group_ + (unit.first + row) / args_.queries;
  }
  int64_t query(const Place& unit, int64_t row) const { return (unit.first + row) % args_.queries; }
  /// Of a row in tensors of (batch, heads, queries).
  int64_t number(const Place& unit, int64_t row) const {
    return (unit.batch * args_.problem.heads + head(unit, row)) * args_.queries + query(unit, row);
  }
  /// Of a row among elements.
  int64_t element(const HeadStrides& strides, const Place& unit, int64_t row) const {
    return unit.batch * strides.batch + head(unit, row) * strides.head + query(unit, row) * strides.token;
  }
  int64_t element(const ScoreStrides& strides, const Place& unit, int64_t row) const {
    return unit.batch * strides.batch + head(unit, row) * strides.head + query(unit, row) * strides.query;
  }

  /// Writes the rows, but for what is of the gradients alone.
  FlashUnit make(const Place& place, FlashRow* rows) const {
    const FlashAttention::Problem& problem = args_.problem;
    const DType dtype = problem.dtype;
    for (int64_t r = 0; r < place.rows; ++r) {
      const KeyRange range = seen(place, r);
      rows[r] = {.query = element_at(args_.query, dtype, element(args_.query_strides, place, r)),
                 .out = element_at(args_.out, dtype, element(args_.out_strides, place, r)),
                 .bias = element_at(args_.bias, problem.bias, element(args_.bias_strides, place, r)),
                 .mask = args_.mask != nullptr ? args_.mask + element(args_.mask_strides, place, r) : nullptr,
                 .low = range.begin,
                 .high = range.end,
                 .number = number(place, r),
                 .grad_out = nullptr,
                 .grad_bias = nullptr,
                 .log_sum_exp = -__builtin_inff(),
                 .dot = 0};
    }
    return {.row = rows,
            .rows = place.rows,
            .head_dim = problem.head_dim,
            .keys = keys(place),
            .bias = kv_format(problem.bias),
            .bias_step = args_.bias_strides.key,
            .mask_step = args_.mask_strides.key,
            .scale = args_.scale,
            .softcap = problem.softcap,
            .dropout = {args_.dropout.seed(), args_.dropout.stream, 0, args_.dropout.most,
                        args_.dropout.drops(), args_.dropout.scale, nullptr}};
  }

 private:
  static int64_t length(const int32_t* lengths, int64_t batch, int64_t most) {
    return lengths != nullptr ? std::clamp<int64_t>(lengths[batch], 0, most) : most;
  }
  KeySource keys(const Place& unit) const {
    const DType dtype = args_.problem.dtype;
    const auto at = [&](const void* base, const HeadStrides& strides) {
      return element_at(base, dtype, unit.batch * strides.batch + unit.kv_head * strides.head);
    };
    const auto bytes = [&](int64_t elements) {
      return static_cast<size_t>(elements * dtype_info(dtype).block_bytes);
    };
    return {.key = at(args_.key, args_.key_strides),
            .value = at(args_.value, args_.value_strides),
            .pages = nullptr,
            .page_stride = 0,
            .page_tokens = 0,
            .key_stride = bytes(args_.key_strides.token),
            .value_stride = bytes(args_.value_strides.token),
            .format = kv_format(dtype)};
  }

  const FlashAttention::Args& args_;
  int64_t group_, tiles_;
};

/// Fewer rows read keys and values once, where they lie, in float32 (attention_few.h): a third faster.
inline constexpr int64_t kPairRows = 5;

inline const FlashAttention::Problem& forward_of(const FlashAttention::Problem& problem) { return problem; }
inline const FlashAttention::Problem& forward_of(const FlashAttentionBackward::Problem& problem) {
  return problem.forward;
}

template <class Op, CpuFeatures needed>
std::string supports_bf16(const typename Op::Problem& asked, const Machine& machine) {
  const FlashAttention::Problem& problem = forward_of(asked);
  if (std::string reason = ref::legal(problem); !reason.empty()) return reason;
  if (std::string reason = missing(needed, machine); !reason.empty()) return reason;
  if (problem.dtype != DType::bf16)
    return "query, key and value are " + std::string(name_of(problem.dtype)) + "; it multiplies bf16";
  if constexpr (std::is_same_v<Op, FlashAttention>) {
    const int64_t rows = problem.heads / problem.kv_heads * problem.queries;
    if (rows < kPairRows)
      return std::to_string(rows) + " queries share their keys; tiles of pairs pay from " +
             std::to_string(kPairRows);
  }
  return too_coarse(problem.precision, Rounded::bf16);
}

/// Their operands are bf16 as they come; what is between their products is rounded.
template <class Op>
Rounding rounds_weights(const typename Op::Problem&, int) {
  return {Rounded::bf16, Rounded::no};
}

template <class Op, CpuFeatures needed>
Row<Op> bf16_row(std::string_view name, decltype(Row<Op>::run) run, decltype(Row<Op>::workspace) workspace) {
  return {.name = name,
          .supports = supports_bf16<Op, needed>,
          .run = run,
          .workspace = workspace,
          .arithmetic = Arithmetic::bf16,
          .rounding = rounds_weights<Op>};
}

}  // namespace orrery::kernels
