// Rows of Sample, fastest first.
#include "kernels/sample.h"

#include "kernels/ref/reference.h"

namespace orrery::kernels {

std::span<const Row<Sample>> sample_rows() {
  static const Row<Sample> rows[] = {
      {.name = "cpu.reference", .supports = ref::legal, .run = ref::sample},
  };
  return rows;
}

}  // namespace orrery::kernels
