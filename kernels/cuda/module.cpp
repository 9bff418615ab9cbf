// What liborrery_cuda.so exports (kernels/device_module.h).
#include "kernels/attention.h"
#include "kernels/combine.h"
#include "kernels/copy.h"
#include "kernels/cuda/backend.h"
#include "kernels/cuda/card.h"
#include "kernels/device_module.h"
#include "kernels/elementwise.h"
#include "kernels/embedding.h"
#include "kernels/gather.h"
#include "kernels/linear.h"
#include "kernels/matmul.h"
#include "kernels/moe.h"
#include "kernels/norm.h"
#include "kernels/rope.h"
#include "kernels/sample.h"
#include "kernels/scan.h"
#include "kernels/softmax.h"

extern "C" __attribute__((visibility("default"))) const orrery::kernels::DeviceModule*
orrery_device_module() {
  using namespace orrery::kernels;
  static const DeviceModule module{
      .count = cuda::count_devices,
      .open = cuda::open_device,
      .machine = cuda::machine_of_card,
      .rows = {cuda::linear_rows(), cuda::attention_rows(), cuda::kv_append_rows(), cuda::norm_rows(),
               cuda::rope_rows(), cuda::elementwise_rows(), cuda::embedding_rows(), cuda::gather_rows(),
               cuda::sample_rows(), cuda::top_experts_rows(), cuda::expert_mlp_rows(),
               cuda::causal_convolution_rows(), cuda::selective_scan_rows(), cuda::combine_rows(),
               cuda::copy_rows(), cuda::matmul_rows(), cuda::softmax_rows()}};
  return &module;
}
