// The rows of the CPU: every op that has kernels.
#pragma once

#include <tuple>

#include "kernels/attention.h"
#include "kernels/combine.h"
#include "kernels/convolution.h"
#include "kernels/copy.h"
#include "kernels/cumsum.h"
#include "kernels/dropout_norm.h"
#include "kernels/elementwise.h"
#include "kernels/embedding.h"
#include "kernels/fastmax.h"
#include "kernels/fastmax_scan.h"
#include "kernels/flash_attention.h"
#include "kernels/fold.h"
#include "kernels/gather.h"
#include "kernels/generate.h"
#include "kernels/group_norm.h"
#include "kernels/hann.h"
#include "kernels/irfft.h"
#include "kernels/linear.h"
#include "kernels/map.h"
#include "kernels/mask.h"
#include "kernels/matmul.h"
#include "kernels/matmul_ladder.h"
#include "kernels/moe.h"
#include "kernels/nonzero.h"
#include "kernels/norm.h"
#include "kernels/pad.h"
#include "kernels/pooling.h"
#include "kernels/recurrence.h"
#include "kernels/reduce.h"
#include "kernels/resize.h"
#include "kernels/roi_align.h"
#include "kernels/rope.h"
#include "kernels/row_list.h"
#include "kernels/sample.h"
#include "kernels/scan.h"
#include "kernels/scatter.h"
#include "kernels/softmax.h"
#include "kernels/suppression.h"
#include "kernels/take.h"
#include "kernels/top_k.h"

namespace orrery::kernels {

inline constexpr auto kCpuLists = std::make_tuple(
    linear_rows, attention_rows, kv_append_rows, norm_rows, rope_rows, elementwise_rows, embedding_rows,
    gather_rows, sample_rows, top_experts_rows, expert_mlp_rows, causal_convolution_rows, selective_scan_rows,
    combine_rows, copy_rows, matmul_rows, softmax_rows, map_rows, reduce_rows, cumsum_rows, take_rows,
    scatter_rows, top_k_rows, dropout_norm_rows, dropout_norm_backward_rows, flash_attention_rows,
    flash_attention_backward_rows, fastmax_rows, fastmax_backward_rows, fastmax_scan_rows, matmul_ladder_rows,
    group_norm_rows, nonzero_rows, generate_rows, mask_rows, pad_rows, convolution_rows, pooling_rows,
    pooling_backward_rows, resize_rows, resize_backward_rows, roi_align_rows, roi_align_backward_rows,
    suppression_rows, fold_rows, hann_rows, irfft_rows, irfft_backward_rows, recurrence_rows);

inline const RowTable& cpu_rows() {
  static const RowTable table = std::apply([](auto... list) { return RowTable{list()...}; }, kCpuLists);
  return table;
}

}  // namespace orrery::kernels
