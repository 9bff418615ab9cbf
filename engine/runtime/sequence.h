// A text that a model works on: its tokens so far and the pages that hold their keys and values.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "engine/runtime/kv_cache.h"

namespace orrery::runtime {

class Job;

/// Changed by the scheduler's thread only, under Model::kv_mutex. A sequence serves one request at a time;
/// others wait for it.
struct Sequence {
  std::vector<int32_t> tokens;  // the last ones may not be in the cache yet
  KvPages kv;
  const Job* job = nullptr;        // that is admitted and works on it; scheduler's thread
  uint64_t last_step = 0;          // of the model, in which it took part; scheduler's thread
  std::atomic<int64_t> length{0};  // tokens.size(), for other threads
  bool kept = true;                // what is read of it can be shared; set before its first request
};

}  // namespace orrery::runtime
