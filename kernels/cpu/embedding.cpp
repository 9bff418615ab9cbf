// Rows of Embedding, fastest first.
#include "kernels/embedding.h"

#include "kernels/ref/reference.h"

namespace orrery::kernels {

std::span<const Row<Embedding>> embedding_rows() {
  static const Row<Embedding> rows[] = {
      {.name = "cpu.reference", .supports = ref::legal, .run = ref::embedding},
  };
  return rows;
}

}  // namespace orrery::kernels
