// Rows of Rope, fastest first.
#include "kernels/rope.h"

#include "kernels/ref/reference.h"

namespace orrery::kernels {

std::span<const Row<Rope>> rope_rows() {
  static const Row<Rope> rows[] = {
      {.name = "cpu.reference", .supports = ref::legal, .run = ref::rope},
  };
  return rows;
}

}  // namespace orrery::kernels
