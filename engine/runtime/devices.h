// The CUDA devices of this machine, and what of them a model uses.
#pragma once

#include <algorithm>
#include <optional>
#include <shared_mutex>
#include <vector>

#include "engine/weights/weight_store.h"

namespace orrery::runtime {

/// How many can be opened; 0 with the reason and what to do: no module, no driver, no card.
int device_count(std::string& reason);

/// The device, shared by all that use it at the same time; the reason of device_count(), or that there is no
/// such index, or why it cannot be opened.
Result<weights::DevicePtr> open_device(int index);

/// Held shared during a step by who runs it on the card, and by who compiles a plan for it; alone by who
/// starts the card anew: its memory and the program's page-locked memory go with that (Device::renew), which
/// others read and write at any time.
std::shared_mutex& in_use(kernels::DeviceId card);
/// Holds them shared, taken in the order of their ids, so that nobody waits in a circle. No thread may hold a
/// card twice.
using HeldCards = std::vector<std::shared_lock<std::shared_mutex>>;
HeldCards hold(std::vector<weights::DevicePtr> cards);

/// What the nodes of one model run on: the CPU and any number of cards.
struct ModelDevices {
  kernels::DeviceId home;                 // of what names no device
  std::vector<weights::DevicePtr> cards;  // home's among them

  /// Where what is placed on `device` (none: at home) has its memory; null: the program's.
  weights::DevicePtr memory_of(std::optional<kernels::DeviceId> device) const {
    return weights::find_card(cards, device.value_or(home));
  }
  bool use(const weights::DevicePtr& card) const {
    return std::find(cards.begin(), cards.end(), card) != cards.end();
  }
};

}  // namespace orrery::runtime
