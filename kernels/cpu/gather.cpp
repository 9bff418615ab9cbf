// Rows of Gather, fastest first.
#include "kernels/gather.h"

#include "kernels/ref/reference.h"

namespace orrery::kernels {

std::span<const Row<Gather>> gather_rows() {
  static const Row<Gather> rows[] = {
      {.name = "cpu.reference", .supports = ref::legal, .run = ref::gather},
  };
  return rows;
}

}  // namespace orrery::kernels
