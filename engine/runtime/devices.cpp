#include "engine/runtime/devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "kernels/device_module.h"

namespace orrery::runtime {
namespace {

Error unavailable(int index, const std::string& reason) {
  return {ErrorCode::device, fmt::format("cuda:{} cannot be used", index), "", reason};
}

}  // namespace

int device_count(std::string& reason) {
  const kernels::DeviceModule* module = kernels::cuda_module(reason);
  const int count = module ? module->count(reason) : 0;
  if (count <= 0 && reason.empty()) reason = "no CUDA device was found";
  return std::max(count, 0);
}

Result<weights::DevicePtr> open_device(int index) {
  static std::mutex mutex;
  static std::map<int, std::weak_ptr<kernels::Device>> devices;
  const std::scoped_lock lock(mutex);
  if (weights::DevicePtr device = devices[index].lock()) return device;
  std::string reason;
  const int count = device_count(reason);
  if (count == 0) return unavailable(index, reason);
  if (index < 0 || index >= count)
    return unavailable(
        index, count == 1 ? "there is only cuda:0" : fmt::format("there are cuda:0 to cuda:{}", count - 1));
  try {
    weights::DevicePtr device = kernels::cuda_module(reason)->open(index);
    devices[index] = device;
    return device;
  } catch (const kernels::DeviceError& error) {
    return unavailable(index, error.what());
  }
}

std::shared_mutex& in_use(kernels::DeviceId card) {
  static std::mutex mutex;
  static std::map<kernels::DeviceId, std::shared_mutex> cards;
  const std::scoped_lock lock(mutex);
  return cards[card];
}

HeldCards hold(std::vector<weights::DevicePtr> cards) {
  std::ranges::sort(cards, {}, [](const weights::DevicePtr& card) { return card->id(); });
  HeldCards held;
  for (const weights::DevicePtr& card : cards) held.emplace_back(in_use(card->id()));
  return held;
}

}  // namespace orrery::runtime
