// The two kinds of steps that views tell apart.
#pragma once

#include <cstdint>

namespace orrery::runtime {

enum class Phase : uint8_t { prefill, decode };  // labels: StepBatch::phase tells them apart

}  // namespace orrery::runtime
