// How long calls take: warm-up, samples of many calls, their median and spread.
#pragma once

#include <cmath>
#include <cstddef>
#include <functional>
#include <stop_token>

#include "kernels/device.h"

namespace orrery::kernels::lab {

/// Whether a call finds its operands in a cache. model: as a model would, which the problem says; memory: the
/// calls take turns on as many copies as no cache holds; cache: all on the same.
enum class Caches : uint8_t { model, memory, cache };

struct Timing {
  Caches caches = Caches::model;
  int samples = 15;  // 0: a row is held against the reference, and not timed
  double warm_up_seconds = 0.02, sample_seconds = 0.002;
  /// Times rows that refuse the problem too, as far as they can run it: to find out what they should refuse.
  bool refused_too = false;
  /// Fewer samples of slow calls: no further one after so long.
  double most_seconds = INFINITY;
  /// Ends it between calls: a person does not want to wait for samples that nobody reads.
  std::stop_token stop = {};
};

/// Microseconds of a call.
struct Times {
  double median = 0, p10 = 0, p90 = 0;
  /// On a device: of a call that is launched alone, host included; the others are of calls in a graph.
  double launched = 0;
  int samples = 0;
  bool memory = false;          // whether the calls found their operands in memory
  bool processor_time = false;  // of the one thread, which holds on a busy machine too; else of a clock
};

/// call(i) is the i-th. processor_time: of this thread.
Times time_calls(const std::function<void(size_t)>& call, const Timing& timing, bool processor_time);

/// Samples are launches of a graph that has captured enough calls to pass over `copies` of the operands; each
/// call asks the device for the stream, which is another one while it is captured.
Times time_calls(Device& device, const std::function<void(size_t)>& call, const Timing& timing,
                 size_t copies);

/// More than the caches hold of what passes through them: of this machine, or of the device.
size_t bytes_beyond_caches(const Device* device);

}  // namespace orrery::kernels::lab
