// Rows of KvAppend, fastest first.
#include "kernels/attention.h"

#include "kernels/ref/reference.h"

namespace orrery::kernels {

std::span<const Row<KvAppend>> kv_append_rows() {
  static const Row<KvAppend> rows[] = {
      {.name = "cpu.reference", .supports = ref::legal, .run = ref::kv_append},
  };
  return rows;
}

}  // namespace orrery::kernels
