// The header for ops of one's own and the example that a new op begins as, as this program was built with
// them.
#pragma once

#include <string_view>

namespace orrery::custom {

extern const std::string_view kOpHeader;     // resources/sdk/orrery_op.h
extern const std::string_view kExampleCpp;   // resources/sdk/examples/add_one.cpp
extern const std::string_view kExampleCuda;  // resources/sdk/examples/add_one.cu

}  // namespace orrery::custom
