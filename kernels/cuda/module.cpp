// What liborrery_cuda.so exports (kernels/device_module.h).
#include "kernels/cuda/backend.h"
#include "kernels/cuda/rows.h"

extern "C" __attribute__((visibility("default"))) const orrery::kernels::DeviceModule*
orrery_device_module() {
  using namespace orrery::kernels;
  static const DeviceModule module{.count = cuda::count_devices,
                                   .open = cuda::open_device,
                                   .rows = {.linear = cuda::linear_rows(),
                                            .attention = cuda::attention_rows(),
                                            .kv_append = cuda::kv_append_rows(),
                                            .norm = cuda::norm_rows(),
                                            .rope = cuda::rope_rows(),
                                            .elementwise = cuda::elementwise_rows(),
                                            .embedding = cuda::embedding_rows(),
                                            .gather = cuda::gather_rows(),
                                            .sample = cuda::sample_rows(),
                                            .top_experts = cuda::top_experts_rows(),
                                            .expert_mlp = cuda::expert_mlp_rows()}};
  return &module;
}
