// The two kinds of steps that views tell apart.
#pragma once

#include <cstdint>

namespace orrery::runtime {

enum class Phase : uint8_t { prefill, decode };  // labels: a step with one token a sequence is decode

}  // namespace orrery::runtime
