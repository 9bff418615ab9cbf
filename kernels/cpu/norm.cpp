// Rows of Norm, fastest first.
#include "kernels/norm.h"

#include "kernels/ref/reference.h"

namespace orrery::kernels {

std::span<const Row<Norm>> norm_rows() {
  static const Row<Norm> rows[] = {
      {.name = "cpu.reference", .supports = ref::legal, .run = ref::norm},
  };
  return rows;
}

}  // namespace orrery::kernels
