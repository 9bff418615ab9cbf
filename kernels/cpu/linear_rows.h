// The rows of Linear, one declaration per source file, put in order by cpu/linear.cpp.
#pragma once

#include "kernels/linear.h"

namespace orrery::kernels {

namespace ref {
std::string linear_supports(const Linear::Problem& problem);
size_t linear_workspace(const Linear::Problem& problem, int threads);
void linear(const Linear::Args& args, const Launch& launch);
}  // namespace ref

/// Empty when the problem is one that Linear defines (extents, segments, block sizes), else what is wrong
/// with it.
std::string linear_refusal(const Linear::Problem& problem);

constexpr bool is_gated(Epilogue epilogue) {
  return epilogue == Epilogue::silu_mul || epilogue == Epilogue::gelu_tanh_mul;
}

}  // namespace orrery::kernels
