// What liborrery_cuda.so exports (kernels/device_module.h).
#include "kernels/attention.h"
#include "kernels/combine.h"
#include "kernels/convolution.h"
#include "kernels/copy.h"
#include "kernels/cuda/backend.h"
#include "kernels/cuda/card.h"
#include "kernels/cumsum.h"
#include "kernels/device_module.h"
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
#include "kernels/program.h"
#include "kernels/recurrence.h"
#include "kernels/reduce.h"
#include "kernels/resize.h"
#include "kernels/roi_align.h"
#include "kernels/rope.h"
#include "kernels/sample.h"
#include "kernels/scan.h"
#include "kernels/scatter.h"
#include "kernels/softmax.h"
#include "kernels/suppression.h"
#include "kernels/take.h"
#include "kernels/top_k.h"

extern "C" __attribute__((visibility("default"))) const orrery::kernels::DeviceModule*
orrery_device_module() {
  using namespace orrery::kernels;
  static const DeviceModule module{.count = cuda::count_devices,
                                   .open = cuda::open_device,
                                   .machine = cuda::machine_of_card,
                                   .rows = {cuda::linear_rows(),
                                            cuda::attention_rows(),
                                            cuda::kv_append_rows(),
                                            cuda::norm_rows(),
                                            cuda::rope_rows(),
                                            cuda::elementwise_rows(),
                                            cuda::embedding_rows(),
                                            cuda::gather_rows(),
                                            cuda::sample_rows(),
                                            cuda::top_experts_rows(),
                                            cuda::expert_mlp_rows(),
                                            cuda::causal_convolution_rows(),
                                            cuda::selective_scan_rows(),
                                            cuda::combine_rows(),
                                            cuda::copy_rows(),
                                            cuda::matmul_rows(),
                                            cuda::softmax_rows(),
                                            cuda::map_rows(),
                                            cuda::reduce_rows(),
                                            cuda::cumsum_rows(),
                                            cuda::take_rows(),
                                            cuda::scatter_rows(),
                                            cuda::top_k_rows(),
                                            cuda::dropout_norm_rows(),
                                            cuda::dropout_norm_backward_rows(),
                                            cuda::flash_attention_rows(),
                                            cuda::flash_attention_backward_rows(),
                                            cuda::fastmax_rows(),
                                            cuda::fastmax_backward_rows(),
                                            cuda::fastmax_scan_rows(),
                                            cuda::matmul_ladder_rows(),
                                            cuda::group_norm_rows(),
                                            cuda::nonzero_rows(),
                                            cuda::generate_rows(),
                                            cuda::mask_rows(),
                                            cuda::pad_rows(),
                                            cuda::convolution_rows(),
                                            cuda::pooling_rows(),
                                            cuda::pooling_backward_rows(),
                                            cuda::resize_rows(),
                                            cuda::resize_backward_rows(),
                                            cuda::roi_align_rows(),
                                            cuda::roi_align_backward_rows(),
                                            cuda::suppression_rows(),
                                            cuda::fold_rows(),
                                            cuda::hann_rows(),
                                            cuda::irfft_rows(),
                                            cuda::irfft_backward_rows(),
                                            cuda::recurrence_rows(),
                                            cuda::program_rows()}};
  return &module;
}
