// How much memory there is and is free, here and on a device; and the error that says so.
#pragma once

#include "engine/weights/weight_store.h"

namespace orrery::weights {

struct MemoryState {
  uint64_t total = 0, free = 0;  // bytes; 0: not known
};
/// Of the device, or for null of this machine: what the system can hand out without paging.
MemoryState memory_of(const DevicePtr& device);

/// Bytes of memory that this whole program holds now, files that it has mapped included; 0: not known.
uint64_t program_bytes();

/// Bytes of a mapped range that are in memory now.
uint64_t resident_bytes(std::span<const std::byte> mapped);

/// "64 MB for the KV cache do not fit: NVIDIA H200 has 12 MB of 143 GB free". `purpose` is what the bytes
/// were for.
Error no_memory(std::string_view purpose, uint64_t bytes, const DevicePtr& device, std::string where = {});

/// Bytes for a person: "12 MB", "1.43 GB".
std::string readable_memory(uint64_t bytes);

}  // namespace orrery::weights
