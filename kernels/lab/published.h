// What others have published of the same work, to be shown beside what was measured here. They ran on other
// machines, so they are no bar to pass: each names its card, its source and when it was read.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace orrery::kernels::lab {

struct Published {
  std::string_view op, problem;  // as a problem of that op is told; the problem's own numbers are theirs
  std::string_view name;         // "FlashAttention-3"
  std::string_view machine;      // "H100 SXM, f16"
  double gflops = 0;             // by the flops that the source counts; 0: it gives the time
  double us = 0;
  std::string_view source;
};

/// Of an op, whatever the problem.
std::span<const Published> published_of(std::string_view op);

}  // namespace orrery::kernels::lab
