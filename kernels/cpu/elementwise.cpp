// Rows of Elementwise, fastest first.
#include "kernels/elementwise.h"

#include "kernels/ref/reference.h"

namespace orrery::kernels {

std::span<const Row<Elementwise>> elementwise_rows() {
  static const Row<Elementwise> rows[] = {
      {.name = "cpu.reference", .supports = ref::legal, .run = ref::elementwise},
  };
  return rows;
}

}  // namespace orrery::kernels
