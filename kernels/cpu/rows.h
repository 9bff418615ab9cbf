// The rows of the CPU: every op that has kernels.
#pragma once

#include <tuple>

#include "kernels/attention.h"
#include "kernels/combine.h"
#include "kernels/copy.h"
#include "kernels/elementwise.h"
#include "kernels/embedding.h"
#include "kernels/gather.h"
#include "kernels/linear.h"
#include "kernels/matmul.h"
#include "kernels/moe.h"
#include "kernels/norm.h"
#include "kernels/rope.h"
#include "kernels/row_list.h"
#include "kernels/sample.h"
#include "kernels/scan.h"
#include "kernels/softmax.h"

namespace orrery::kernels {

inline constexpr auto kCpuLists = std::make_tuple(
    linear_rows, attention_rows, kv_append_rows, norm_rows, rope_rows, elementwise_rows, embedding_rows,
    gather_rows, sample_rows, top_experts_rows, expert_mlp_rows, causal_convolution_rows, selective_scan_rows,
    combine_rows, copy_rows, matmul_rows, softmax_rows);

inline const RowTable& cpu_rows() {
  static const RowTable table = std::apply([](auto... list) { return RowTable{list()...}; }, kCpuLists);
  return table;
}

}  // namespace orrery::kernels
