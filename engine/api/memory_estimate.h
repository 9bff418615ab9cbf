// What a model will take in memory on each device, told before it is loaded: its headers are read and its
// graph is built once, then every context length and every device is arithmetic, quick enough for a slider.
//
// Weights are counted in the forms that the chosen kernels read (packed, merged, uploaded), the KV cache in
// its pages, scratch as the arena and workspace of the largest step. What a device's driver and libraries
// take for themselves is part of what is no longer free there.
#pragma once

#include <map>
#include <vector>

#include "engine/api/types.h"
#include "kernels/precision.h"

namespace orrery::api {

/// Whether the KV cache is kept in float32 whatever kv_type says.
inline bool is_exact(const OpenOptions& options) {
  return options.precision == name_of(kernels::Precision::exact);
}

inline constexpr int64_t kDefaultContext = 8192;  // tokens, of a model that was made for as many

/// Of one model as it would be opened.
struct MemoryDemand {
  struct Place {
    uint64_t weights = 0, scratch = 0;  // bytes
    std::string refusal;                // why the model cannot run there; empty: it can
  };
  std::string name;
  Place cpu, cuda;
  int64_t model_context = 0;                   // tokens that the model was made for
  int64_t page_tokens = 1;                     // tokens of one page of the KV cache
  std::map<std::string, uint64_t> page_bytes;  // of a page, by the KV types there are; 0: no KV cache

  uint64_t page_bytes_as(const std::string& kv_type) const {
    const auto it = page_bytes.find(kv_type);
    return it == page_bytes.end() ? 0 : it->second;
  }
};

enum class Fit : uint8_t { fits, tight, too_large };  // tight: little is left for anything else
std::string_view name_of(Fit fit);                    // "fits", "tight", "too large"

/// Of one model on one device at one context length.
struct DeviceMemory {
  std::string device, name;
  std::string refusal;                              // why it cannot run there; the rest is zero then
  uint64_t weights = 0, kv_cache = 0, scratch = 0;  // bytes
  uint64_t free = 0, total = 0;                     // of the device now
  Fit fit = Fit::fits;
  int64_t largest_context = 0;  // tokens that fit beside weights and scratch; 0: not even these fit

  uint64_t sum() const { return weights + kv_cache + scratch; }
};

/// Reads headers, no weights. Device, context and kv_type of the options are not looked at.
Result<MemoryDemand> memory_demand(const OpenOptions& options);

/// The longest context of a model that was made for so many tokens; 0: its file does not say.
int64_t own_context(int64_t model_context);
/// The context that a model is opened with when `wanted` tokens are asked for; 0: the default.
int64_t context_of(const MemoryDemand& demand, int64_t wanted);

/// `context` 0: the default; kv_type as OpenOptions has it.
DeviceMemory estimate_memory(const MemoryDemand& demand, const DeviceEntry& device, int64_t context,
                             const std::string& kv_type);

/// What would fit instead of `options`, best first: a smaller context, smaller elements of the KV cache,
/// another one of `devices`. Empty when nothing does.
std::vector<Offer> memory_offers(const MemoryDemand& demand, const OpenOptions& options,
                                 const std::vector<DeviceEntry>& devices);

/// "use --context 4096, or --device cpu"; empty without offers.
std::string words_of(const std::vector<Offer>& offers);

}  // namespace orrery::api
