// The arithmetic of memory: what fits where, and what would instead.
#include <fmt/format.h>

#include <algorithm>

#include "engine/api/memory_estimate.h"

namespace orrery::api {
namespace {

constexpr double kTight = 0.9;          // share of the free memory from which on little is left
constexpr int64_t kLeastContext = 256;  // a shorter one is of no use to anybody

/// A number that a person would choose.
int64_t round_context(int64_t tokens) {
  const int64_t unit = tokens >= 4096 ? 1024 : 128;
  return tokens / unit * unit;
}

Fit fit_of(uint64_t sum, uint64_t free) {
  if (sum > free) return Fit::too_large;
  return static_cast<double>(sum) > kTight * static_cast<double>(free) ? Fit::tight : Fit::fits;
}

}  // namespace

std::string_view name_of(Fit fit) {
  switch (fit) {
    case Fit::fits:
      return "fits";
    case Fit::tight:
      return "tight";
    case Fit::too_large:
      return "too large";
  }
  return "";
}

int64_t own_context(int64_t model_context) { return model_context > 0 ? model_context : kDefaultContext; }

int64_t context_of(const MemoryDemand& demand, int64_t wanted) {
  const int64_t own = own_context(demand.model_context);
  return wanted > 0 ? std::min(wanted, own) : std::min(own, kDefaultContext);
}

DeviceMemory estimate_memory(const MemoryDemand& demand, const DeviceEntry& device, int64_t context,
                             const std::string& kv_type) {
  const MemoryDemand::Place& place = device.device == "cpu" ? demand.cpu : demand.cuda;
  DeviceMemory memory;
  memory.device = device.device;
  memory.name = device.name;
  memory.refusal = device.refusal.empty() ? place.refusal : device.refusal;
  memory.free = device.free_bytes;
  memory.total = device.memory_bytes;
  if (!memory.refusal.empty()) return memory;
  const auto per_page = static_cast<int64_t>(demand.page_bytes_as(kv_type));
  const int64_t tokens = context_of(demand, context);
  const int64_t pages = (tokens + demand.page_tokens - 1) / demand.page_tokens;
  memory.weights = place.weights;
  memory.scratch = place.scratch;
  memory.kv_cache = static_cast<uint64_t>(pages * per_page);
  memory.fit = fit_of(memory.sum(), memory.free);
  const int64_t room =
      static_cast<int64_t>(memory.free) - static_cast<int64_t>(place.weights + place.scratch);
  const int64_t most = context_of(demand, std::max<int64_t>(demand.model_context, 1));
  if (room >= 0)
    memory.largest_context = per_page == 0 ? most : std::min(room / per_page * demand.page_tokens, most);
  return memory;
}

std::vector<Offer> memory_offers(const MemoryDemand& demand, const OpenOptions& options,
                                 const std::vector<DeviceEntry>& devices) {
  std::vector<Offer> offers;
  const auto own = std::find_if(devices.begin(), devices.end(),
                                [&](const DeviceEntry& device) { return device.device == options.device; });
  if (own != devices.end()) {
    const DeviceMemory asked = estimate_memory(demand, *own, options.context, options.kv_type);
    const int64_t smaller = round_context(asked.largest_context);
    if (smaller >= kLeastContext && smaller < context_of(demand, options.context))
      offers.push_back({"context", fmt::format("{}", smaller)});
    if (options.kv_type == "f32" && !is_exact(options) &&
        estimate_memory(demand, *own, options.context, "f16").fit != Fit::too_large)
      offers.push_back({"kv-type", "f16"});
  }
  for (const DeviceEntry& device : devices) {
    if (device.device == options.device) continue;
    const DeviceMemory there = estimate_memory(demand, device, options.context, options.kv_type);
    if (there.refusal.empty() && there.fit != Fit::too_large) offers.push_back({"device", device.device});
  }
  return offers;
}

std::string words_of(const std::vector<Offer>& offers) {
  std::string words;
  for (const Offer& offer : offers)
    words += fmt::format("{} --{} {}", words.empty() ? "use" : ", or", offer.option, offer.value);
  return words;
}

}  // namespace orrery::api
