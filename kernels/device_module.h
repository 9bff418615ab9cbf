// The CUDA module: liborrery_cuda.so, opened at run time when a person asks for a CUDA device. It lies beside
// the program or in ../lib of it; ORRERY_CUDA_MODULE names another file. Absent, built for another version,
// or without a driver, it is a refusal with its reason.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "kernels/attention.h"
#include "kernels/device.h"
#include "kernels/elementwise.h"
#include "kernels/embedding.h"
#include "kernels/gather.h"
#include "kernels/linear.h"
#include "kernels/moe.h"
#include "kernels/norm.h"
#include "kernels/rope.h"
#include "kernels/sample.h"

namespace orrery::kernels {

/// The row lists of one kind of device, fastest first.
struct DeviceRows {
  std::span<const Row<Linear>> linear;
  std::span<const Row<Attention>> attention;
  std::span<const Row<KvAppend>> kv_append;
  std::span<const Row<Norm>> norm;
  std::span<const Row<Rope>> rope;
  std::span<const Row<Elementwise>> elementwise;
  std::span<const Row<Embedding>> embedding;
  std::span<const Row<Gather>> gather;
  std::span<const Row<Sample>> sample;
  std::span<const Row<TopExperts>> top_experts;
  std::span<const Row<ExpertMlp>> expert_mlp;
};

/// Raised when device.h, a Problem, an Args or this struct changes: program and module are built together.
constexpr uint32_t kDeviceModuleVersion = 3;

/// What `orrery_device_module` of the module returns.
struct DeviceModule {
  uint32_t version = kDeviceModuleVersion;
  /// Devices that can be opened; 0 with the reason (no driver, driver too old, no card).
  int (*count)(std::string& reason) = nullptr;
  /// Throws DeviceError.
  std::unique_ptr<Device> (*open)(int index) = nullptr;
  DeviceRows rows;
};

/// The module, opened at the first call and kept; null with the reason and what to do.
const DeviceModule* cuda_module(std::string& reason);

/// The program's own rows, or the module's (empty where there is none).
const DeviceRows& rows_of(DeviceKind device);

}  // namespace orrery::kernels
