// The rows of Linear in order of preference.
#include "kernels/cpu/linear_rows.h"

namespace orrery::kernels {

std::span<const Row<Linear>> linear_rows() {
  static constexpr Row<Linear> rows[] = {
      {.name = "cpu.reference",
       .device = DeviceKind::cpu,
       .supports = ref::linear_supports,
       .run = ref::linear,
       .workspace = ref::linear_workspace},
  };
  return rows;
}

}  // namespace orrery::kernels
