// Where the buffers of a plan lie in the arena of their device: two buffers share bytes when no step needs
// both.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/compile/plan.h"

namespace orrery::compile {

inline constexpr size_t kArenaAlignment = 256;  // what a device likes; a cache line divides it

/// A buffer that is written by step `first` and read last by step `last`; both included.
struct Lifetime {
  size_t bytes = 0;
  int first = 0, last = 0;
};

struct ArenaLayout {
  std::vector<size_t> offsets;  // multiples of kArenaAlignment, one a lifetime
  size_t bytes = 0;
};

/// Best fit over the free blocks, in the order of first use. Lifetimes may come in any order.
ArenaLayout lay_out(std::span<const Lifetime> lifetimes);

/// The same with an arena on each device.
struct DeviceArenas {
  std::vector<size_t> offsets;  // one a lifetime, in the arena of its device
  std::map<kernels::DeviceId, size_t> bytes;

  size_t bytes_on(kernels::DeviceId device) const {
    const auto it = bytes.find(device);
    return it == bytes.end() ? 0 : it->second;
  }
};
DeviceArenas lay_out(std::span<const Lifetime> lifetimes, std::span<const kernels::DeviceId> devices);

/// The activations that the live nodes of a graph make, and when they live; `values[i]` belongs to
/// `lifetimes[i]`. Fails with the node and value whose shape the bucket does not bind or whose bytes do not
/// fit.
struct Liveness {
  std::vector<NodeId> steps;  // live nodes that are no sources, in order
  std::vector<ValueId> values;
  std::vector<Lifetime> lifetimes;
  /// Values that lie where another lies, which is one of `values` (OpSchema::view).
  std::vector<std::pair<ValueId, ValueId>> views = {};
};
Result<Liveness> liveness(const graph::Graph& graph, const Bucket& bucket);

}  // namespace orrery::compile
