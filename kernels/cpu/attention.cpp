// Rows of Attention, fastest first.
#include "kernels/attention.h"

#include "kernels/ref/reference.h"

namespace orrery::kernels {

std::span<const Row<Attention>> attention_rows() {
  static const Row<Attention> rows[] = {
      {.name = "cpu.reference", .supports = ref::legal, .run = ref::attention},
  };
  return rows;
}

}  // namespace orrery::kernels
