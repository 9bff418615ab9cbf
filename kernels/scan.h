// Recurrences over the text of a sequence (Mamba: Gu and Dao 2023, arXiv 2312.00752), token after token:
//   CausalConvolution: dst[t][c] = bias[c] + sum_k weight[k][c] src[t - (kernel - 1) + k][c]
//   SelectiveScan:     step = softplus(delta[t][c]) = log(1 + e^delta[t][c])
//                      h[n][c] = e^(step a[n][c]) h[n][c] + step b[t][n] src[t][c]
//                      dst[t][c] = d[c] src[t][c] + sum_n c[t][n] h[n][c]
// All f32, rows contiguous. Channels are independent of each other.
//
// What a sequence needs of the tokens before the step's own is its record: the last kernel - 1 rows of src,
// oldest first (kernel - 1, channels), or h (states, channels); zeros before the first token. Each page of
// the sequence (kernels/attention.h) has one, as it is after the last token of the page that was read. A step
// begins with the record of the page that holds the token before it, and writes those of all pages that it
// brings tokens of. So the end of every full page is a place to go on from. However a text is cut into steps,
// each number is the same on one row.
#pragma once

#include <algorithm>

#include "kernels/attention.h"
#include "kernels/host_device.h"

namespace orrery::kernels {

/// The records of one state: that of page p begins at base + p * page_stride.
struct PagedRecord {
  std::byte* base = nullptr;
  size_t page_stride = 0;  // bytes, a multiple of 4
  int64_t page_tokens = 0;
};

/// Tokens of a step that lie in one page of their sequence.
struct PageRun {
  int64_t row = 0, tokens = 0;    // rows [row, row + tokens) of the step
  const float* before = nullptr;  // the record that they begin with; null: zeros
  float* after = nullptr;         // where the record is written that they leave; may be `before`
};

/// body(PageRun) for the tokens that a step brings of one sequence, in their order.
ORRERY_NO_EXEC_CHECK
template <class Body>
ORRERY_HOST_DEVICE_INLINE void each_page_run(const Ragged& ragged, const PagedRecord& record,
                                             int64_t sequence, Body&& body) {
  const int64_t end = ragged.sequence_starts[sequence + 1];
  int64_t row = ragged.sequence_starts[sequence];
  int64_t position = ragged.kv_lengths[sequence] - (end - row);
  const int32_t* pages = ragged.page_table + sequence * ragged.max_pages;
  const float* before = nullptr;
  if (position > 0) {
    const int64_t page = pages[(position - 1) / record.page_tokens];
    before = reinterpret_cast<const float*>(record.base + static_cast<size_t>(page) * record.page_stride);
  }
  while (row < end) {
    const int64_t room = record.page_tokens - position % record.page_tokens;
    const int64_t tokens = room < end - row ? room : end - row;
    const int64_t page = pages[position / record.page_tokens];
    auto* after = reinterpret_cast<float*>(record.base + static_cast<size_t>(page) * record.page_stride);
    body(PageRun{row, tokens, before, after});
    before = after;
    row += tokens;
    position += tokens;
  }
}

struct CausalConvolution {
  static constexpr std::string_view kName = "causal_convolution";
  struct Problem {
    int64_t channels = 0, kernel = 0;
  };
  struct Args {
    Problem problem;
    const float* src = nullptr;     // (tokens, channels)
    float* dst = nullptr;           // (tokens, channels); not src
    const float* weight = nullptr;  // (kernel, channels)
    const float* bias = nullptr;    // (channels) or null
    Ragged ragged;
    PagedRecord record;  // (kernel - 1, channels)
  };
};
std::span<const Row<CausalConvolution>> causal_convolution_rows();
namespace cuda {
std::span<const Row<CausalConvolution>> causal_convolution_rows();
}
namespace ref {
void causal_convolution(const CausalConvolution::Args& args, const Launch& launch);
std::string legal(const CausalConvolution::Problem& problem);
}  // namespace ref

struct SelectiveScan {
  static constexpr std::string_view kName = "selective_scan";
  struct Problem {
    int64_t channels = 0, states = 0;
  };
  struct Args {
    Problem problem;
    const float* src = nullptr;    // (tokens, channels)
    const float* delta = nullptr;  // (tokens, channels), before the softplus
    const float* b = nullptr;      // (tokens, states)
    const float* c = nullptr;      // (tokens, states)
    const float* a = nullptr;      // (states, channels), negative where the state fades
    const float* d = nullptr;      // (channels)
    float* dst = nullptr;          // (tokens, channels); may be src or delta
    Ragged ragged;
    PagedRecord record;  // (states, channels)
  };
};
std::span<const Row<SelectiveScan>> selective_scan_rows();
namespace cuda {
std::span<const Row<SelectiveScan>> selective_scan_rows();
}
namespace ref {
/// Kept in float32 from token to token, as in a record; all else is float64.
void selective_scan(const SelectiveScan::Args& args, const Launch& launch);
std::string legal(const SelectiveScan::Problem& problem);
}  // namespace ref

}  // namespace orrery::kernels
