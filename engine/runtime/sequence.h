// A text that a model works on: its tokens so far and the pages that hold their keys and values.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "engine/runtime/kv_cache.h"

namespace orrery::runtime {

/// Changed by the scheduler's thread only, under Model::kv_mutex. A sequence serves one request at a time.
struct Sequence {
  std::vector<int32_t> tokens;  // the last ones may not be in the cache yet
  KvPages kv;
  std::atomic<int64_t> length{0};  // tokens.size(), for other threads
  bool kept = true;                // when it ends, for others that begin alike; set before its first request
};

}  // namespace orrery::runtime
